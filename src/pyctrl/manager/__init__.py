"""Start and stop everything in order: groups of runnables, signals, one grace period, the first failure wins.

What only some programs use is imported when they do: the election of a leader, metrics, programs named as text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl._door import opened_by_name
from pyctrl._serving import ServerLimits
from pyctrl.manager._blockage import Blockage
from pyctrl.manager._checks import Check, Checks, HealthAnswer
from pyctrl.manager._clusters import Clusters
from pyctrl.manager._connected_cluster import ConnectedCluster
from pyctrl.manager._groups import Group
from pyctrl.manager._health import Health, Liveness
from pyctrl.manager._http_server import HttpServer
from pyctrl.manager._lifecycle import Lifecycle
from pyctrl.manager._manager import Manager
from pyctrl.manager._preflight import Preflight
from pyctrl.manager._runnables import (
    Checkable,
    Entitled,
    Placed,
    Preparable,
    Replicable,
    Runnable,
    RunnableLike,
    Stoppable,
)
from pyctrl.manager._signals import signals_handled
from pyctrl.manager._watchdog import LoopWatchdog

if TYPE_CHECKING:
    from pyctrl.manager._connected_cluster import NoServer
    from pyctrl.manager._declared import modules_of, wire_package
    from pyctrl.manager._elector import ElectionStatistics, Elector
    from pyctrl.manager._fleet import ClusterProvider, Fleet
    from pyctrl.manager._gaps import Gap, gaps
    from pyctrl.manager._in_memory_provider import InMemoryProvider
    from pyctrl.manager._kubeconfig_provider import KubeconfigProvider
    from pyctrl.manager._leader_election import LeaderElection, OnLoss
    from pyctrl.manager._metrics import Metrics
    from pyctrl.manager._modules import Place
    from pyctrl.manager._restart import Restart, RestartPolicy
    from pyctrl.manager._reviews import Review, Verdict, review_accesses, whoami
    from pyctrl.manager._target import Target, Wire, wired

__all__ = [
    "Blockage",
    "Check",
    "Checkable",
    "Checks",
    "ClusterProvider",
    "Clusters",
    "ConnectedCluster",
    "ElectionStatistics",
    "Elector",
    "Entitled",
    "Fleet",
    "Gap",
    "Group",
    "Health",
    "HealthAnswer",
    "HttpServer",
    "InMemoryProvider",
    "KubeconfigProvider",
    "LeaderElection",
    "Lifecycle",
    "Liveness",
    "LoopWatchdog",
    "Manager",
    "Metrics",
    "NoServer",
    "OnLoss",
    "Place",
    "Placed",
    "Preflight",
    "Preparable",
    "Replicable",
    "Restart",
    "RestartPolicy",
    "Review",
    "Runnable",
    "RunnableLike",
    "ServerLimits",
    "Stoppable",
    "Target",
    "Verdict",
    "Wire",
    "gaps",
    "modules_of",
    "review_accesses",
    "signals_handled",
    "whoami",
    "wire_package",
    "wired",
]

_FILES = {
    "ClusterProvider": "_fleet",
    "ElectionStatistics": "_elector",
    "Elector": "_elector",
    "Fleet": "_fleet",
    "Gap": "_gaps",
    "InMemoryProvider": "_in_memory_provider",
    "KubeconfigProvider": "_kubeconfig_provider",
    "LeaderElection": "_leader_election",
    "Metrics": "_metrics",
    "NoServer": "_connected_cluster",
    "OnLoss": "_leader_election",
    "Place": "_modules",
    "Restart": "_restart",
    "RestartPolicy": "_restart",
    "Review": "_reviews",
    "Target": "_target",
    "Verdict": "_reviews",
    "Wire": "_target",
    "gaps": "_gaps",
    "modules_of": "_declared",
    "review_accesses": "_reviews",
    "whoami": "_reviews",
    "wire_package": "_declared",
    "wired": "_target",
}

if not TYPE_CHECKING:  # type checkers would take it as a promise of any name
    __getattr__, __dir__ = opened_by_name(__name__, _FILES)
