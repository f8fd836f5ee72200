"""ResourceQuotas and LimitRanges."""

from __future__ import annotations

from typing import Final

from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells, status_of

__all__ = ["RESOURCES"]


def _quota_cells(obj: Object) -> Cells:
    hard, used = status_of(obj).get("hard") or {}, status_of(obj).get("used") or {}
    shown = [(name, f"{name}: {used.get(name, '0')}/{hard[name]}") for name in sorted(hard)]
    return {
        "Request": ", ".join(text for name, text in shown if not name.startswith("limits")),
        "Limit": ", ".join(text for name, text in shown if name.startswith("limits")),
    }


def _default_limit_range(obj: Object) -> None:
    """Default to limits of the maximum, and to requests of the limits or else of the minimum."""
    for limit in (obj.get("spec") or {}).get("limits") or ():
        if limit.get("type") != "Container":
            continue
        default = {**(limit.get("max") or {}), **(limit.get("default") or {})}
        request = {**(limit.get("min") or {}), **default, **(limit.get("defaultRequest") or {})}
        if default:
            limit["default"] = default
        if request:
            limit["defaultRequest"] = request


RESOURCES: Final = (
    BuiltinResource(group="", kind="ResourceQuota", strategy=Strategy(returns_deleted_object=True), cells=_quota_cells),
    BuiltinResource(
        group="",
        kind="LimitRange",
        strategy=Strategy(
            on_update=(MetadataCheck.WHOLE,), allows_create_on_update=True, defaults=(_default_limit_range,)
        ),
    ),
)
