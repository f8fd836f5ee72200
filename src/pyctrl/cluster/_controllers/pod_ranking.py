"""Which pods go first when there are too many: the least loss first.

The order is that of kube-controller-manager's ActivePodsWithRanks (pkg/controller/controller_utils.go). Times are
compared by their magnitude only, and what is alike is ordered by uid, so that the youngest are not always the ones
that go (KEP-2185).
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

#: What decides, most important first; the smallest goes first.
_Rank = tuple[bool, int, bool, int, int, int, int, int, str]


def pods_to_delete(pods: Sequence[Pod], related: Iterable[Pod], number: int) -> list[Pod]:
    """Return the pods to delete.

    Args:
        pods: what there is to choose from.
        related: those pods and the others of the same purpose: a node that has many of them loses one first.
        number: how many to delete.
    """
    if number >= len(pods):
        return list(pods)
    crowds = Counter(pod.spec.node_name for pod in related if is_active(pod))
    now = _clock.now()
    return sorted(pods, key=lambda pod: _rank(pod, crowds[pod.spec.node_name], now))[:number]


def _rank(pod: Pod, crowd: int, now: datetime) -> _Rank:
    return (
        bool(pod.spec.node_name),
        _PHASES.get(pod.status.phase or "", 0),
        is_ready(pod),
        _cost(pod),
        -crowd,
        _log_age(ready_since(pod), now) if is_ready(pod) else 0,
        -max((status.restart_count or 0 for status in pod.status.container_statuses), default=0),
        _log_age(pod.metadata.creation_timestamp, now),
        pod.metadata.uid,
    )


def _cost(pod: Pod) -> int:
    """Return what its deletion costs by its own word; a word that is no 32 bit number says nothing."""
    try:
        cost = int(pod.metadata.annotations.get(DELETION_COST, "0"))
    except ValueError:
        return 0
    return cost if -(2**31) <= cost < 2**31 else 0


def _log_age(since: datetime | None, now: datetime) -> int:
    """Return the magnitude of an age: the logarithm of its nanoseconds; the unknown is younger than anything."""
    if since is None:
        return -2
    age = (now - since) // timedelta(microseconds=1) * 1000
    return int(math.log2(age)) if age > 0 else -1
