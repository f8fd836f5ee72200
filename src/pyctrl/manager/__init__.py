"""The manager: starts and stops controllers, caches, servers and other runnables in order.

Leader election, metrics, fleets, fingerprints and access reviews are imported on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl._http_server import ServerLimits
from pyctrl._lazy_imports import lazy_names
from pyctrl.manager._blockage import Blockage
from pyctrl.manager._clusters.connected_cluster import Clusters, ConnectedCluster
from pyctrl.manager._manager import Manager
from pyctrl.manager._permissions.preflight import Preflight
from pyctrl.manager._runnables.lifecycle import Lifecycle
from pyctrl.manager._runnables.runnable import (
    CheckedRunnable,
    GroupRunnable,
    LeaderElectionRunnable,
    NeedsPermissions,
    ReadyRunnable,
    Runnable,
    RunnableLike,
    StoppableRunnable,
)
from pyctrl.manager._runnables.runnable_group import Group
from pyctrl.manager._runnables.signals import signals_handled
from pyctrl.manager._servers.checks import Check, Checks, HealthAnswer
from pyctrl.manager._servers.health import Health, Liveness
from pyctrl.manager._servers.http_server import HttpServer
from pyctrl.manager._watchdog import LoopWatchdog

if TYPE_CHECKING:
    from pyctrl.manager._clusters.connected_cluster import NoServer
    from pyctrl.manager._clusters.fleet import ClusterProvider, Fleet
    from pyctrl.manager._clusters.providers import InMemoryProvider, KubeconfigProvider
    from pyctrl.manager._election.leader_elector import ElectionStatistics, LeaderElector
    from pyctrl.manager._election.options import LeaderElection, OnLoss
    from pyctrl.manager._fingerprints.config_maps import ConfigMapFingerprints
    from pyctrl.manager._fingerprints.file import FileFingerprints
    from pyctrl.manager._fingerprints.store import Fingerprints, MemoryFingerprints
    from pyctrl.manager._permissions.access_review import AccessReview, AccessReviewStatus, review_accesses, whoami
    from pyctrl.manager._permissions.missing import MissingPermission, missing_permissions
    from pyctrl.manager._runnables.restart import Restart, RestartPolicy
    from pyctrl.manager._servers.metrics import Metrics
    from pyctrl.manager._sharding.member_state import RING_LABEL
    from pyctrl.manager._sharding.options import Sharding
    from pyctrl.manager._sharding.ring import MemberPhase, Ring, RingMember
    from pyctrl.manager._sharding.shard_member import ShardMember
    from pyctrl.manager._sharding.shard_webhooks import add_shard_webhooks
    from pyctrl.manager._sharding.statistics import ShardingStatistics

__all__ = [
    "RING_LABEL",
    "AccessReview",
    "AccessReviewStatus",
    "Blockage",
    "Check",
    "CheckedRunnable",
    "Checks",
    "ClusterProvider",
    "Clusters",
    "ConfigMapFingerprints",
    "ConnectedCluster",
    "ElectionStatistics",
    "FileFingerprints",
    "Fingerprints",
    "Fleet",
    "Group",
    "GroupRunnable",
    "Health",
    "HealthAnswer",
    "HttpServer",
    "InMemoryProvider",
    "KubeconfigProvider",
    "LeaderElection",
    "LeaderElectionRunnable",
    "LeaderElector",
    "Lifecycle",
    "Liveness",
    "LoopWatchdog",
    "Manager",
    "MemberPhase",
    "MemoryFingerprints",
    "Metrics",
    "MissingPermission",
    "NeedsPermissions",
    "NoServer",
    "OnLoss",
    "Preflight",
    "ReadyRunnable",
    "Restart",
    "RestartPolicy",
    "Ring",
    "RingMember",
    "Runnable",
    "RunnableLike",
    "ServerLimits",
    "ShardMember",
    "Sharding",
    "ShardingStatistics",
    "StoppableRunnable",
    "add_shard_webhooks",
    "missing_permissions",
    "review_accesses",
    "signals_handled",
    "whoami",
]

_FILES = {
    "ClusterProvider": "_clusters.fleet",
    "ElectionStatistics": "_election.leader_elector",
    "LeaderElector": "_election.leader_elector",
    "ConfigMapFingerprints": "_fingerprints.config_maps",
    "FileFingerprints": "_fingerprints.file",
    "Fingerprints": "_fingerprints.store",
    "MemoryFingerprints": "_fingerprints.store",
    "Fleet": "_clusters.fleet",
    "MissingPermission": "_permissions.missing",
    "InMemoryProvider": "_clusters.providers",
    "KubeconfigProvider": "_clusters.providers",
    "LeaderElection": "_election.options",
    "Metrics": "_servers.metrics",
    "NoServer": "_clusters.connected_cluster",
    "OnLoss": "_election.options",
    "MemberPhase": "_sharding.ring",
    "RING_LABEL": "_sharding.member_state",
    "Ring": "_sharding.ring",
    "RingMember": "_sharding.ring",
    "ShardMember": "_sharding.shard_member",
    "Sharding": "_sharding.options",
    "add_shard_webhooks": "_sharding.shard_webhooks",
    "ShardingStatistics": "_sharding.statistics",
    "Restart": "_runnables.restart",
    "RestartPolicy": "_runnables.restart",
    "AccessReview": "_permissions.access_review",
    "AccessReviewStatus": "_permissions.access_review",
    "missing_permissions": "_permissions.missing",
    "review_accesses": "_permissions.access_review",
    "whoami": "_permissions.access_review",
}

if not TYPE_CHECKING:  # to a type checker, __getattr__ would mean that every name exists
    __getattr__, __dir__ = lazy_names(__name__, _FILES)
