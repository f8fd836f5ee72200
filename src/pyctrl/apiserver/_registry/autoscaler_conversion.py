"""Conversion of HorizontalPodAutoscalers between autoscaling/v1 and v2.

The first version has a target of CPU utilization only. What else an object has is in annotations there, in the form of
Kubernetes' older types, so that an object that is read and written in this version loses nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from pyctrl._go.text import shown_value
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["drop_annotations", "to_v1", "to_v2"]

_Part: TypeAlias = Mapping[str, JSON]
_PREFIX: Final = "autoscaling.alpha.kubernetes.io/"
_METRICS, _CURRENT, _CONDITIONS, _BEHAVIOR = (
    f"{_PREFIX}{name}" for name in ("metrics", "current-metrics", "conditions", "behavior")
)
_ANNOTATIONS: Final = (
    *(_METRICS, _CURRENT, _CONDITIONS, _BEHAVIOR),
    *(f"{_PREFIX}scale-down-tolerance", f"{_PREFIX}scale-up-tolerance"),
)
_UTILIZATION: Final = 80  # of the requested CPU, the target of an object without metrics
_SOURCES: Final = ("object", "pods", "resource", "containerResource", "external")


def drop_annotations(obj: Object) -> None:
    """Remove the annotations that only conversions write."""
    annotations = obj["metadata"].get("annotations")
    if not annotations or not any(each in annotations for each in _ANNOTATIONS):
        return
    if kept := {key: value for key, value in annotations.items() if key not in _ANNOTATIONS}:
        obj["metadata"]["annotations"] = kept
    else:
        del obj["metadata"]["annotations"]


def to_v2(obj: Object) -> Object:
    """Convert to v2: the target CPU utilization and the annotations become metrics, behavior and conditions."""
    spec, status = dict(obj["spec"]), dict(obj.get("status") or {})
    metadata = dict(obj["metadata"])
    annotations = metadata.get("annotations") or {}
    target = spec.pop("targetCPUUtilizationPercentage", None)
    metrics = [_cpu({"target": {"type": "Utilization", "averageUtilization": target}})] if target is not None else []
    spec["metrics"] = [*map(_metric_to_v2, _read(annotations, _METRICS, list) or ()), *metrics] or [
        _cpu({"target": {"type": "Utilization", "averageUtilization": _UTILIZATION}})
    ]
    if behavior := _read(annotations, _BEHAVIOR, dict):
        spec["behavior"] = _lowered(behavior)
    current = status.pop("currentCPUUtilizationPercentage", None)
    if (found := _read(annotations, _CURRENT, list)) is not None:
        status["currentMetrics"] = [_status_to_v2(each) for each in found]
    elif current is not None:
        status["currentMetrics"] = [_cpu({"current": {"averageUtilization": current}})]
    if (conditions := _read(annotations, _CONDITIONS, list)) is not None:
        status["conditions"] = conditions
    converted = {**obj, "metadata": metadata, "spec": spec, "status": status}
    drop_annotations(converted)
    return converted


def to_v1(obj: Object) -> Object:
    """Convert to v1: what it does not have becomes annotations."""
    spec, status = dict(obj["spec"]), dict(obj.get("status") or {})
    converted = {**obj, "metadata": dict(obj["metadata"]), "spec": spec, "status": status}
    drop_annotations(converted)
    metrics, current = spec.pop("metrics", None) or (), status.pop("currentMetrics", None) or ()
    written: dict[str, JSON] = {}
    if others := [_metric_to_v1(each) for each in metrics if _utilization(each, "target") is None]:
        written[_METRICS] = others
    if current:
        written[_CURRENT] = [_status_to_v1(each) for each in current]
    if (behavior := spec.pop("behavior", None)) is not None:
        written[_BEHAVIOR] = _raised(behavior)
    if conditions := status.pop("conditions", None):
        written[_CONDITIONS] = [_condition(each) for each in conditions]
    for target in [found for each in metrics if (found := _utilization(each, "target")) is not None][:1]:
        spec["targetCPUUtilizationPercentage"] = target
    for now in [found for each in current if (found := _utilization(each, "current")) is not None][-1:]:
        status["currentCPUUtilizationPercentage"] = now
    if written:
        annotations = {**(converted["metadata"].get("annotations") or {})}
        annotations |= {key: shown_value(value) for key, value in written.items()}
        converted["metadata"]["annotations"] = dict(sorted(annotations.items()))
    return converted


def _utilization(metric: _Part, part: str) -> JSON:
    """Return the CPU utilization of a metric of the whole pod."""
    resource = metric.get("resource") or {}
    if metric.get("type") == "Resource" and resource.get("name") == "cpu":
        return (resource.get(part) or {}).get("averageUtilization")
    return None


def _cpu(values: _Part) -> Object:
    return {"type": "Resource", "resource": {"name": "cpu", **values}}


def _read(annotations: _Part, key: str, kind: type) -> JSON:
    """Return the value of an annotation; None when it is absent or of another form."""
    try:
        found = json.loads(annotations[key])
    except (KeyError, ValueError):
        return None
    return found if isinstance(found, kind) else None


def _condition(condition: _Part) -> Object:
    keys = ("type", "status", "lastTransitionTime", "reason", "message")
    found = {"lastTransitionTime": None, **condition}
    return {key: found[key] for key in keys if found.get(key) not in (None, "") or key == "lastTransitionTime"}


# -- the internal type of a behavior -----------------------------------------------------------------------------


def _raised(behavior: _Part) -> Object:
    """Return a behavior by the names of Go's fields, with all of them."""

    def rules(found: _Part | None) -> JSON:
        if found is None:
            return None
        policies = found.get("policies")
        keys = ("type", "value", "periodSeconds")
        return {
            "StabilizationWindowSeconds": found.get("stabilizationWindowSeconds"),
            "SelectPolicy": found.get("selectPolicy"),
            "Policies": policies and [{_upper(key): each.get(key) for key in keys} for each in policies],
            "Tolerance": found.get("tolerance"),
        }

    return {"ScaleUp": rules(behavior.get("scaleUp")), "ScaleDown": rules(behavior.get("scaleDown"))}


def _lowered(value: JSON) -> JSON:
    """Return an internal value by the names on the wire, without nulls."""
    if isinstance(value, list):
        return [_lowered(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {key[:1].lower() + key[1:]: _lowered(each) for key, each in value.items() if each is not None}


def _upper(key: str) -> str:
    return key[:1].upper() + key[1:]


# -- metrics in the form of v1 -----------------------------------------------------------------------------------


def _present(**members: JSON) -> Object:
    return {key: value for key, value in members.items() if value is not None}


def _source(metric: _Part) -> tuple[str, _Part]:
    return next(((each, metric[each]) for each in _SOURCES if metric.get(each) is not None), ("", {}))


def _converted(metric: _Part, convert: Callable[[str, _Part], Object]) -> Object:
    """Return a metric with its source in another form."""
    name, source = _source(metric)
    return {"type": metric.get("type", ""), **({name: convert(name, source)} if name else {})}


def _reference(reference: _Part) -> Object:
    return _present(
        kind=reference.get("kind", ""), name=reference.get("name", ""), apiVersion=reference.get("apiVersion")
    )


def _metric_to_v1(metric: _Part) -> Object:
    return _converted(metric, _source_to_v1)


def _source_to_v1(name: str, source: _Part) -> Object:
    target, metric = source.get("target") or {}, source.get("metric") or {}
    value, average = target.get("value"), target.get("averageValue")
    if name == "object":
        described = _reference(source.get("describedObject") or {})
        return _present(
            target=described,
            metricName=metric.get("name", ""),
            targetValue=value or "0",
            selector=metric.get("selector"),
            averageValue=average,
        )
    if name == "pods":
        return _present(
            metricName=metric.get("name", ""), targetAverageValue=average or "0", selector=metric.get("selector")
        )
    if name == "external":
        return _present(
            metricName=metric.get("name", ""),
            metricSelector=metric.get("selector"),
            targetValue=value,
            targetAverageValue=average,
        )
    return _present(
        name=source.get("name", ""),
        targetAverageUtilization=target.get("averageUtilization"),
        targetAverageValue=average,
        container=source.get("container"),
    )


def _status_to_v1(metric: _Part) -> Object:
    return _converted(metric, _current_to_v1)


def _current_to_v1(name: str, source: _Part) -> Object:
    current, metric = source.get("current") or {}, source.get("metric") or {}
    value, average = current.get("value") or "0", current.get("averageValue")
    if name == "object":
        described = _reference(source.get("describedObject") or {})
        return _present(
            target=described,
            metricName=metric.get("name", ""),
            currentValue=value,
            selector=metric.get("selector"),
            averageValue=average,
        )
    if name == "pods":
        return _present(
            metricName=metric.get("name", ""), currentAverageValue=average or "0", selector=metric.get("selector")
        )
    if name == "external":
        return _present(
            metricName=metric.get("name", ""),
            metricSelector=metric.get("selector"),
            currentValue=value,
            currentAverageValue=average,
        )
    return _present(
        name=source.get("name", ""),
        currentAverageUtilization=current.get("averageUtilization"),
        currentAverageValue=average or "0",
        container=source.get("container"),
    )


# -- metrics in the form of v2 -----------------------------------------------------------------------------------


def _metric_to_v2(metric: _Part) -> Object:
    return _converted(metric, _source_to_v2)


def _status_to_v2(metric: _Part) -> Object:
    return _converted(metric, _current_to_v2)


def _identifier(source: _Part) -> Object:
    selector = source.get("metricSelector", source.get("selector"))
    return _present(name=source.get("metricName", ""), selector=selector)


def _source_to_v2(name: str, source: _Part) -> Object:
    value, average = source.get("targetValue"), source.get("targetAverageValue")
    if name == "object":
        average = source.get("averageValue")
        value = None if average is not None and value == "0" else value
        target = _present(type="AverageValue" if average is not None else "Value", value=value, averageValue=average)
        return {"describedObject": source.get("target") or {}, "target": target, "metric": _identifier(source)}
    if name == "pods":
        return {"metric": _identifier(source), "target": _present(type="AverageValue", averageValue=average)}
    if name == "external":
        kind = "AverageValue" if value is None else "Value"
        target = _present(type=kind, value=value, averageValue=average)
        return {"metric": _identifier(source), "target": target}
    utilization = source.get("targetAverageUtilization")
    kind = "AverageValue" if utilization is None else "Utilization"
    target = _present(type=kind, averageValue=average, averageUtilization=utilization)
    return _present(name=source.get("name", ""), container=source.get("container"), target=target)


def _current_to_v2(name: str, source: _Part) -> Object:
    value, average = source.get("currentValue"), source.get("currentAverageValue")
    if name == "object":
        current = _present(value=value, averageValue=source.get("averageValue"))
        described = source.get("target") or {}
        return {"metric": _identifier(source), "current": current, "describedObject": described}
    if name in ("pods", "external"):
        return {"metric": _identifier(source), "current": _present(value=value, averageValue=average)}
    current = _present(averageValue=average, averageUtilization=source.get("currentAverageUtilization"))
    return _present(name=source.get("name", ""), container=source.get("container"), current=current)
