"""Validation of the specs of HorizontalPodAutoscalers, in the form of autoscaling/v2."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from pyctrl._validation import names
from pyctrl.api import Quantity
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._registry._pods.resources import container_resource_name
from pyctrl.apiserver._registry._pods.volume_sources import is_negative
from pyctrl.apiserver._registry.field_validation import NEGATIVE, invalid_name, text_of
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_autoscaler_spec"]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]
_LONGEST_WINDOW, _LONGEST_PERIOD = 3600, 1800  # seconds
_SELECT_POLICIES = ("Disabled", "Max", "Min")
_TARGETS = ("Utilization", "Value", "AverageValue")


def validate_autoscaler_spec(spec: _Part, path: str, old_target: _Part | None = None) -> _Errors:
    """Check the range of replicas, the scale target, the metrics and the behavior."""
    least, most = spec.get("minReplicas"), spec.get("maxReplicas") or 0
    if least is not None and least < 1:
        yield invalid_value(f"{path}.minReplicas", least, "must be greater than or equal to 1")
    if not most:
        yield required(f"{path}.maxReplicas", "must be set and greater than 0")
    elif most < 1:
        yield invalid_value(f"{path}.maxReplicas", most, "must be greater than or equal to 1")
    if least is not None and most < least:
        yield invalid_value(f"{path}.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    target = spec.get("scaleTargetRef") or {}
    yield from _reference(target, f"{path}.scaleTargetRef")
    if old_target is None or any(text_of(target, key) != text_of(old_target, key) for key in ("apiVersion", "kind")):
        needs_group = text_of(target, "kind") != "ReplicationController"  # the only one of the core group with a scale
        yield from _api_version(target, f"{path}.scaleTargetRef.apiVersion", needs_group=needs_group)
    metrics = spec.get("metrics") or ()
    for index, metric in enumerate(metrics):
        yield from _metric(metric, f"{path}.metrics[{index}]")
    if least == 0 and not any(each.get("type") in ("Object", "External") for each in metrics):
        why = "must specify at least one Object or External metric to support scaling to zero replicas"
        yield field_forbidden(f"{path}.metrics", why)
    for key in ("scaleUp", "scaleDown"):
        rules = (spec.get("behavior") or {}).get(key)
        if rules is not None:
            yield from _rules(rules, f"{path}.behavior.{key}")


def _reference(reference: _Part, path: str) -> _Errors:
    for key in ("kind", "name"):
        if text := text_of(reference, key):
            yield from invalid_name(names.path_segment, text, f"{path}.{key}")
        else:
            yield required(f"{path}.{key}")


def _api_version(reference: _Part, path: str, *, needs_group: bool) -> _Errors:
    version = text_of(reference, "apiVersion")
    if version.count("/") > 1:
        yield invalid_value(path, version, f"unexpected GroupVersion string: {version}")
    elif needs_group and ("/" not in version or version.startswith("/")):
        yield invalid_value(path, version, "apiVersion must specify API group")


# -- metrics -----------------------------------------------------------------------------------------------------


def _metric(metric: _Part, path: str) -> _Errors:
    kind = text_of(metric, "type")
    if not kind:
        yield required(f"{path}.type", "must specify a metric source type")
    if kind not in _TYPES:
        yield not_supported(f"{path}.type", kind, sorted(_TYPES))
    present = [key for key in _SOURCES if metric.get(key) is not None]
    for key in present[:1]:
        yield from _SOURCES[key](metric[key], f"{path}.{key}")
    expected = _TYPES.get(kind)
    if expected is None:
        yield not_supported(f"{path}.type", kind, sorted(_TYPES))
    elif metric.get(expected) is None:
        yield required(f"{path}.{expected}", "must populate information for the given metric source")
    if len(present) != 1:
        for key in present:
            if key != expected:
                yield field_forbidden(f"{path}.{key}", "must populate the given metric source only")


def _object(source: _Part, path: str) -> _Errors:
    described = source.get("describedObject") or {}
    yield from _reference(described, f"{path}.describedObject")
    yield from _api_version(described, f"{path}.describedObject.apiVersion", needs_group=False)
    yield from _identifier(source, path)
    target = source.get("target") or {}
    yield from _target(target, f"{path}.target")
    if target.get("value") is None and target.get("averageValue") is None:
        yield required(f"{path}.target.averageValue", "must set either a target value or averageValue")


def _external(source: _Part, path: str) -> _Errors:
    yield from _identifier(source, path)
    target, where = source.get("target") or {}, f"{path}.target"
    yield from _target(target, where)
    value, average = target.get("value"), target.get("averageValue")
    if value is None and average is None:
        yield required(f"{where}.averageValue", "must set either a target value for metric or a per-pod target")
    if value is not None and average is not None:
        yield field_forbidden(f"{where}.value", "may not set both a target value for metric and a per-pod target")


def _pods(source: _Part, path: str) -> _Errors:
    yield from _identifier(source, path)
    target = source.get("target") or {}
    yield from _target(target, f"{path}.target")
    if target.get("averageValue") is None:
        yield required(f"{path}.target.averageValue", "must specify a positive target averageValue")


def _resource(source: _Part, path: str) -> _Errors:
    if not source.get("name"):
        yield required(f"{path}.name", "must specify a resource name")
    yield from _resource_target(source.get("target") or {}, f"{path}.target")


def _container_resource(source: _Part, path: str) -> _Errors:
    if name := text_of(source, "name"):
        yield from container_resource_name(name, f"{path}.name")
    else:
        yield required(f"{path}.name", "must specify a resource name")
    if container := text_of(source, "container"):
        yield from invalid_name(names.label, container, f"{path}.container")
    else:
        yield required(f"{path}.container", "must specify a container")
    yield from _resource_target(source.get("target") or {}, f"{path}.target")


def _resource_target(target: _Part, path: str) -> _Errors:
    yield from _target(target, path)
    utilization, average = target.get("averageUtilization"), target.get("averageValue")
    if utilization is None and average is None:
        why = "must set either a target raw value or a target utilization"
        yield required(f"{path}.averageUtilization", why)
    if utilization is not None and average is not None:
        why = "may not set both a target raw value and a target utilization"
        yield field_forbidden(f"{path}.averageValue", why)


def _target(target: _Part, path: str) -> _Errors:
    kind = text_of(target, "type")
    if not kind:
        yield required(f"{path}.type", "must specify a metric target type")
    if kind not in _TARGETS:
        yield invalid_value(f"{path}.type", kind, "must be either Utilization, Value, or AverageValue")
    for key in ("value", "averageValue"):
        if target.get(key) is not None and Quantity(target[key]) <= 0:
            yield invalid_value(f"{path}.{key}", target[key], "must be positive")
    if target.get("averageUtilization") is not None and target["averageUtilization"] < 1:
        yield invalid_value(f"{path}.averageUtilization", target["averageUtilization"], "must be greater than 0")


def _identifier(source: _Part, path: str) -> _Errors:
    if name := text_of(source.get("metric") or {}, "name"):
        yield from invalid_name(names.path_segment, name, f"{path}.metric.name")
    else:
        yield required(f"{path}.metric.name", "must specify a metric name")


_TYPES: Final = {
    "Object": "object",
    "Pods": "pods",
    "Resource": "resource",
    "External": "external",
    "ContainerResource": "containerResource",
}
_SOURCES: Final[Mapping[str, Callable[[_Part, str], _Errors]]] = {  # in the order of kube-apiserver's checks
    "object": _object,
    "external": _external,
    "pods": _pods,
    "resource": _resource,
    "containerResource": _container_resource,
}


# -- behavior ----------------------------------------------------------------------------------------------------


def _rules(rules: _Part, path: str) -> _Errors:
    window, where = rules.get("stabilizationWindowSeconds"), f"{path}.stabilizationWindowSeconds"
    if window is not None and window < 0:
        yield invalid_value(where, window, "must be greater than or equal to zero")
    if window is not None and window > _LONGEST_WINDOW:
        yield invalid_value(where, window, f"must be less than or equal to {_LONGEST_WINDOW}")
    select = rules.get("selectPolicy")
    if select is not None and select not in _SELECT_POLICIES:
        yield not_supported(f"{path}.selectPolicy", select, _SELECT_POLICIES)
    if not rules.get("policies"):
        yield required(f"{path}.policies", "must specify at least one Policy")
    for index, policy in enumerate(rules.get("policies") or ()):
        yield from _policy(policy, f"{path}.policies[{index}]")
    if is_negative(rules.get("tolerance")):
        yield invalid_value(f"{path}.tolerance", rules["tolerance"], NEGATIVE)


def _policy(policy: _Part, path: str) -> _Errors:
    if text_of(policy, "type") not in ("Percent", "Pods"):
        yield not_supported(f"{path}.type", text_of(policy, "type"), ("Percent", "Pods"))
    for key in ("value", "periodSeconds"):
        if (policy.get(key) or 0) <= 0:
            yield invalid_value(f"{path}.{key}", policy.get(key) or 0, "must be greater than zero")
    if (policy.get("periodSeconds") or 0) > _LONGEST_PERIOD:
        why = f"must be less than or equal to {_LONGEST_PERIOD}"
        yield invalid_value(f"{path}.periodSeconds", policy["periodSeconds"], why)
