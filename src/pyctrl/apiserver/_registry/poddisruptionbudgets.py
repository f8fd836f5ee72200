"""PodDisruptionBudgets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from pyctrl.apiserver._errors import FieldError, invalid_value, not_supported
from pyctrl.apiserver._meta.validation import validate_selector
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.field_validation import NEGATIVE, NO_PERCENT
from pyctrl.apiserver._registry.status_validation import validate_budget_status
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells, spec_of, status_of

__all__ = ["RESOURCES"]

_EVICTION_POLICIES = ("AlwaysAllow", "IfHealthyBudget")


def _validate_budget(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check minAvailable, maxUnavailable, selector and unhealthyPodEvictionPolicy."""
    spec = new.get("spec") or {}
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        shown = {
            "MinAvailable": least,
            "Selector": spec.get("selector"),
            "MaxUnavailable": most,
            "UnhealthyPodEvictionPolicy": spec.get("unhealthyPodEvictionPolicy"),
        }
        yield invalid_value("spec", shown, "minAvailable and maxUnavailable cannot be both set")
    for key in ("minAvailable", "maxUnavailable"):
        if spec.get(key) is not None:
            yield from _validate_count_or_percentage(spec[key], f"spec.{key}")
    yield from validate_selector(spec.get("selector") or {}, "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _EVICTION_POLICIES:
        yield not_supported("spec.unhealthyPodEvictionPolicy", policy, _EVICTION_POLICIES)


def _validate_count_or_percentage(value: int | str, path: str) -> Iterator[FieldError]:
    if isinstance(value, int):
        if value < 0:
            yield invalid_value(path, value, NEGATIVE)
    elif not re.fullmatch("[0-9]+%", value):
        yield invalid_value(path, value, NO_PERCENT)
    elif int(value[:-1]) > 100:
        yield invalid_value(path, value, "must not be greater than 100%")


def _budget_cells(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    return {
        "Min Available": str(spec.get("minAvailable", "N/A")),
        "Max Unavailable": str(spec.get("maxUnavailable", "N/A")),
        "Allowed Disruptions": status.get("disruptionsAllowed", 0),
    }


RESOURCES: Final = (
    BuiltinResource(
        group="policy",
        kind="PodDisruptionBudget",
        strategy=Strategy(
            has_generation=True,
            on_create=None,
            on_update=(),
            allows_unconditional_update=False,
            validates=(_validate_budget,),
            validates_status=(validate_budget_status,),
        ),
        cells=_budget_cells,
    ),
)
