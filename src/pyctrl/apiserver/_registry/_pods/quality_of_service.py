"""Quality of service of pods (upstream pkg/apis/core/helper/qos)."""

from __future__ import annotations

from collections.abc import Mapping

from pyctrl.apiserver._schema.schema import JSON

__all__ = ["quality_of_service"]

_NAMES = ("cpu", "memory")


def quality_of_service(spec: Mapping[str, JSON]) -> str:
    """Return the QoS class of a pod.

    BestEffort: no requests or limits. Guaranteed: every container has limits for CPU and memory, equal to its requests.
    Burstable: all others. The resources of the pod itself take precedence over those of its containers.
    """
    own = spec.get("resources") or {}
    if any(own.get(part) for part in ("requests", "limits")):
        resources = [own]
    else:
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        resources = [each.get("resources") or {} for each in containers]
    amounts = [
        {key: value for key in _NAMES if (value := (each.get(part) or {}).get(key)) not in (None, "0")}
        for each in resources
        for part in ("requests", "limits")
    ]
    if not any(amounts):
        return "BestEffort"
    pairs = zip(amounts[::2], amounts[1::2], strict=True)
    return "Guaranteed" if all(len(limits) == 2 and requests == limits for requests, limits in pairs) else "Burstable"
