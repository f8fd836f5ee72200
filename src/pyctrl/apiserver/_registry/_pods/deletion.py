"""Graceful deletion of pods."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from pyctrl._clock import now
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._resources.deletion_strategy import DeletionOutcome, DeletionStrategy, mark_deleted

__all__ = ["GRACEFUL_DELETION"]

_GRACE_SECONDS = 30  # default of spec.terminationGracePeriodSeconds


def _begin(pod: Object, seconds: int | None) -> DeletionOutcome:
    """Mark a pod. It has a grace period while a node runs it; without one it is removed when it has no finalizers."""
    metadata = pod["metadata"]
    grace = _grace_period(pod, seconds)
    running = metadata.get("deletionGracePeriodSeconds")
    if "deletionTimestamp" in metadata:
        if running is not None and grace >= running and not (running == 0 and not metadata.get("finalizers")):
            return DeletionOutcome.UNCHANGED
        metadata["deletionGracePeriodSeconds"] = grace
        if grace:
            metadata["deletionTimestamp"] = timestamp(now() + timedelta(seconds=grace))
    else:
        mark_deleted(metadata, grace)
    return DeletionOutcome.MARKED if grace or metadata.get("finalizers") else DeletionOutcome.MARKED_AND_GONE


def _grace_period(pod: Object, seconds: int | None) -> int:
    if not pod.get("spec", {}).get("nodeName"):
        return 0  # no kubelet will report it as stopped
    if (pod.get("status") or {}).get("phase") in ("Failed", "Succeeded"):
        return 0
    if seconds is None:
        seconds = pod["spec"].get("terminationGracePeriodSeconds", _GRACE_SECONDS)
    return 1 if seconds < 0 else int(seconds)  # upstream: a negative period means the shortest one


GRACEFUL_DELETION: Final = DeletionStrategy(begin=_begin, grace_period=_grace_period)
