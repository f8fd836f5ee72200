"""Built-in kinds served in two forms of one stored object: events of both groups, autoscalers of two versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from pyctrl.apiserver._schema.schema import JSON

Object: TypeAlias = dict[str, JSON]
_EVENT_FIELDS = {  # the core group's name -> that of events.k8s.io
    "involvedObject": "regarding",
    "message": "note",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
    "reportingComponent": "reportingController",
}
_CORE_FIELDS = {new: old for old, new in _EVENT_FIELDS.items()}


def convert(obj: Object, api_version: str) -> Object:
    """Give the object in another version of its kind; one that has the same form only changes its name."""
    change = _CONVERSIONS.get((obj.get("kind", ""), obj.get("apiVersion", ""), api_version))
    converted = change(obj) if change is not None else obj
    converted["apiVersion"] = api_version
    return converted


def _renamed(fields: Mapping[str, str]) -> Callable[[Object], Object]:
    return lambda obj: {fields.get(key, key): value for key, value in obj.items() if value not in ("", None)}


def _autoscaler_v2(obj: Object) -> Object:
    """One target of CPU becomes the one metric."""
    spec = dict(obj["spec"])
    target = spec.pop("targetCPUUtilizationPercentage", None)
    if target is not None:
        spec["metrics"] = [_cpu({"target": {"type": "Utilization", "averageUtilization": target}})]
    status = dict(obj.get("status") or {})
    current = status.pop("currentCPUUtilizationPercentage", None)
    if current is not None:
        status["currentMetrics"] = [_cpu({"current": {"averageUtilization": current}})]
    return {**obj, "spec": spec, "status": status}


def _cpu(values: Object) -> Object:
    return {"type": "Resource", "resource": {"name": "cpu", **values}}


def _autoscaler_v1(obj: Object) -> Object:
    """The metric of CPU becomes the one target; other metrics have no place in v1."""
    spec, status = dict(obj["spec"]), dict(obj.get("status") or {})
    target = _utilization(spec.pop("metrics", None), "target")
    if target is not None:
        spec["targetCPUUtilizationPercentage"] = target
    current = _utilization(status.pop("currentMetrics", None), "current")
    if current is not None:
        status["currentCPUUtilizationPercentage"] = current
    spec.pop("behavior", None)
    status.pop("conditions", None)
    return {**obj, "spec": spec, "status": status}


def _utilization(metrics: JSON, part: str) -> JSON:
    for metric in metrics or ():
        resource = metric.get("resource") or {}
        if resource.get("name") == "cpu":
            return (resource.get(part) or {}).get("averageUtilization")
    return None


_EVENTS, _SCALE = "events.k8s.io/v1", "HorizontalPodAutoscaler"
_CONVERSIONS: dict[tuple[str, str, str], Callable[[Object], Object]] = {
    ("Event", "v1", _EVENTS): _renamed(_EVENT_FIELDS),
    ("Event", _EVENTS, "v1"): _renamed(_CORE_FIELDS),
    (_SCALE, "autoscaling/v1", "autoscaling/v2"): _autoscaler_v2,
    (_SCALE, "autoscaling/v2", "autoscaling/v1"): _autoscaler_v1,
}
