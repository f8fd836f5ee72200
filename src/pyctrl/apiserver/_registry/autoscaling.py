"""HorizontalPodAutoscalers, in autoscaling/v1 and v2."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import TYPE_CHECKING, Final

from pyctrl._lazy_imports import lazy_function
from pyctrl.apiserver._errors import FieldError
from pyctrl.apiserver._registry.autoscaler_conversion import drop_annotations, to_v1, to_v2
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.status_validation import validate_counters
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import NONE, UNSET, Cells, spec_of, status_of
from pyctrl.apiserver._schema.defaulting import copied, set_defaults

if TYPE_CHECKING:
    from pyctrl.apiserver._registry.autoscaler_validation import validate_autoscaler_spec
else:  # imported with the first object
    validate_autoscaler_spec = lazy_function(
        "pyctrl.apiserver._registry.autoscaler_validation", "validate_autoscaler_spec"
    )

__all__ = ["RESOURCES"]


_SCALE_UP: Final = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
_SCALE_DOWN: Final = {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}


def _default_autoscaler(obj: Object) -> None:
    """Default to at least one replica and to 80 % of the requested CPU; fill a behavior that is set."""
    spec = obj["spec"]
    set_defaults(spec, minReplicas=1)
    if obj["apiVersion"] == "autoscaling/v1":
        obj.update(to_v1(to_v2(obj)))
        return
    drop_annotations(obj)
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    behavior = spec.get("behavior")
    for key, rules in (("scaleUp", _SCALE_UP), ("scaleDown", _SCALE_DOWN)) if behavior is not None else ():
        behavior[key] = {**copied(rules), **(behavior.get(key) or {})}


def _validate_autoscaler(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check the spec, in the form of v2."""
    spec = to_v2(new)["spec"] if new["apiVersion"] == "autoscaling/v1" else new["spec"]
    yield from validate_autoscaler_spec(spec, "spec", None if old is None else old["spec"].get("scaleTargetRef"))


# -- table -----------------------------------------------------------------------------------------------------


_MOST_METRICS = 2  # shown in the table; the others are counted


def _autoscaler_cells(obj: Object) -> Cells:
    if obj.get("apiVersion") == "autoscaling/v1":
        obj = to_v2(deepcopy(obj))
    spec, status = spec_of(obj), status_of(obj)
    target = spec.get("scaleTargetRef") or {}
    return {
        "Reference": f"{target.get('kind', '')}/{target.get('name', '')}",
        "Targets": _targets(spec.get("metrics") or (), status.get("currentMetrics") or ()),
        "MinPods": str(spec["minReplicas"]) if spec.get("minReplicas") is not None else UNSET,
        "MaxPods": spec.get("maxReplicas", 0),
        "Replicas": status.get("currentReplicas", 0),
    }


def _targets(metrics: Iterable[Object], current: Iterable[Object]) -> str:
    now = list(current)
    shown = [_metric(each, now[index] if index < len(now) else {}) for index, each in enumerate(metrics)]
    if not shown:
        return NONE
    more = len(shown) - _MOST_METRICS
    return ", ".join(shown[:_MOST_METRICS]) + (f" + {more} more..." if more > 0 else "")


def _metric(metric: Object, current: Object) -> str:
    """Return the current and the target value of a metric."""
    kind = metric.get("type", "")
    source = kind[:1].lower() + kind[1:]
    described, status = metric.get(source) or {}, (current.get(source) or {}).get("current") or {}
    target = described.get("target") or {}
    average = target.get("averageValue")
    if kind in ("Resource", "ContainerResource"):
        name = f"{described.get('name', '')}: "
        if average is not None:
            return f"{name}{status.get('averageValue', '<unknown>')}/{average}"
        now, wanted = status.get("averageUtilization"), target.get("averageUtilization")
        return f"{name}{'<unknown>' if now is None else f'{now}%'}/{'<auto>' if wanted is None else f'{wanted}%'}"
    if kind not in ("External", "Object", "Pods"):
        return "<unknown type>"
    if average is not None:
        return f"{status.get('averageValue', '<unknown>')}/{average}{'' if kind == 'Pods' else ' (avg)'}"
    return f"{status.get('value', '<unknown>')}/{target.get('value', '0')}"


RESOURCES: Final = (
    BuiltinResource(
        group="autoscaling",
        kind="HorizontalPodAutoscaler",
        storage_version="v2",
        strategy=Strategy(
            defaults=(_default_autoscaler,),
            validates=(_validate_autoscaler,),
            validates_status=(validate_counters("currentReplicas", "desiredReplicas"),),
        ),
        cells=_autoscaler_cells,
        cells_are_of_written=True,  # autoscaling/v1 has no place for the order of the metrics
        conversions={"autoscaling/v1": to_v1, "autoscaling/v2": to_v2},
    ),
)
