"""The condition DisruptionTarget, which says that a pod is deleted because of a disruption, and which one."""

from __future__ import annotations

from pyctrl import _clock
from pyctrl.api import format_time
from pyctrl.client import StrategicMergePatch
from pyctrl.kinds.core.v1 import Pod

__all__ = ["disruption_target_patch"]


def disruption_target_patch(pod: Pod, reason: str, message: str) -> StrategicMergePatch:
    """Return the patch that sets the condition DisruptionTarget of a pod."""
    condition = {
        "type": "DisruptionTarget",
        "status": "True",
        "reason": reason,
        "message": message,
        "observedGeneration": pod.metadata.generation,
        "lastTransitionTime": format_time(_clock.now()),
    }
    return StrategicMergePatch({"status": {"conditions": [condition]}})
