"""The order in which surplus pods are deleted.

The order is that of ActivePodsWithRanks (pkg/controller/controller_utils.go). Times are compared on a logarithmic
scale, and ties are ordered by uid, so that the youngest pods are not always the ones that are deleted (KEP-2185).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from pyctrl import _clock
from pyctrl.cluster._controllers.pod_control import is_active, is_ready, ready_since
from pyctrl.kinds.core.v1 import Pod

__all__ = ["DELETION_COST", "pods_to_delete"]

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"

_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}

#: The criteria of the order, most important first; the pod with the smallest rank is deleted first.
_Rank = tuple[bool, int, bool, int, int, int, int, int, str]


def pods_to_delete(pods: Sequence[Pod], related: Iterable[Pod], number: int) -> list[Pod]:
    """Return the pods to delete.

    Args:
        pods: the candidates.
        related: the candidates and the pods of sibling controllers. Nodes with more related pods lose pods first.
        number: how many pods to delete.
    """
    if number >= len(pods):
        return list(pods)
    pods_per_node = Counter(pod.spec.node_name for pod in related if is_active(pod))
    now = _clock.now()
    return sorted(pods, key=lambda pod: _rank(pod, pods_per_node[pod.spec.node_name], now))[:number]


def _rank(pod: Pod, node_pods: int, now: datetime) -> _Rank:
    return (
        bool(pod.spec.node_name),
        _PHASES.get(pod.status.phase or "", 0),
        is_ready(pod),
        _cost(pod),
        -node_pods,
        _log_age(ready_since(pod), now) if is_ready(pod) else 0,
        -max((status.restart_count or 0 for status in pod.status.container_statuses), default=0),
        _log_age(pod.metadata.creation_timestamp, now),
        pod.metadata.uid,
    )


def _cost(pod: Pod) -> int:
    """Return the pod-deletion-cost annotation; 0 if it is no 32-bit integer."""
    try:
        cost = int(pod.metadata.annotations.get(DELETION_COST, "0"))
    except ValueError:
        return 0
    return cost if -(2**31) <= cost < 2**31 else 0


def _log_age(since: datetime | None, now: datetime) -> int:
    """Return the binary logarithm of an age in nanoseconds; an unknown age ranks below every other."""
    if since is None:
        return -2
    age = (now - since) // timedelta(microseconds=1) * 1000
    return int(math.log2(age)) if age > 0 else -1
