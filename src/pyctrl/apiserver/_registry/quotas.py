"""ResourceQuotas and LimitRanges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from pyctrl._lazy_imports import lazy_function
from pyctrl._validation import names
from pyctrl.api import Quantity
from pyctrl.apiserver._errors import FieldError, duplicate, field_forbidden, invalid_value, required
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.field_validation import invalid_name, text_of
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells, status_of
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._registry._pods.resources import (
        container_resource_name,
        is_native,
        resource_name,
        resource_quantity,
    )
else:  # imported with the first object
    container_resource_name = lazy_function("pyctrl.apiserver._registry._pods.resources", "container_resource_name")
    is_native = lazy_function("pyctrl.apiserver._registry._pods.resources", "is_native")
    resource_name = lazy_function("pyctrl.apiserver._registry._pods.resources", "resource_name")
    resource_quantity = lazy_function("pyctrl.apiserver._registry._pods.resources", "resource_quantity")

__all__ = ["RESOURCES"]

_COMPUTE: Final = tuple(f"{part}{name}" for part in ("", "limits.", "requests.") for name in ("cpu", "memory"))
_QUOTA_RESOURCES: Final = frozenset(
    (
        *(*_COMPUTE, "ephemeral-storage", "limits.ephemeral-storage", "requests.ephemeral-storage", "requests.storage"),
        *("pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "persistentvolumeclaims"),
        *("configmaps", "services.nodeports", "services.loadbalancers"),
    )
)
_ONLY_EXISTS: Final = ("BestEffort", "NotBestEffort", "Terminating", "NotTerminating", "CrossNamespacePodAffinity")
_SCOPES: Final = (*_ONLY_EXISTS, "PriorityClass", "VolumeAttributesClass")
_CONFLICTS: Final = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
_NOT_EXISTS: Final = (
    "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
    "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
)


def _quota_cells(obj: Object) -> Cells:
    hard, used = status_of(obj).get("hard") or {}, status_of(obj).get("used") or {}
    shown = [(name, f"{name}: {used.get(name, '0')}/{hard[name]}") for name in sorted(hard)]
    return {
        "Request": ", ".join(text for name, text in shown if not name.startswith("limits")),
        "Limit": ", ".join(text for name, text in shown if name.startswith("limits")),
    }


def _validate_quota(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a quota; its scopes do not change."""
    spec = new["spec"]
    hard = spec.get("hard") or {}
    yield from _quantities(hard, "spec.hard")
    yield from _scopes(spec.get("scopes") or [], hard)
    if spec.get("scopeSelector") is not None:
        yield from _scope_selector(spec, hard)
    if old is not None and set(spec.get("scopes") or ()) != set(old["spec"].get("scopes") or ()):
        yield invalid_value("spec.scopes", spec.get("scopes"), "field is immutable")


def _validate_quota_status(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check the limits and what is used of them."""
    for key in ("hard", "used"):
        yield from _quantities(status_of(new).get(key) or {}, f"status.{key}")


def _quantities(quantities: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    for name, quantity in quantities.items():
        where = f"{path}[{name}]"
        found = resource_name(name, where)
        if "/" not in name and not _is_quota_resource(name):
            found.append(invalid_value(where, name, "must be a standard resource for quota"))
        yield from found
        yield from resource_quantity(name, quantity, where)


def _is_quota_resource(name: str) -> bool:
    return name in _QUOTA_RESOURCES or name.startswith(("hugepages-", "requests.hugepages-"))


def _scopes(scopes: Sequence[str], hard: Mapping[str, JSON]) -> Iterator[FieldError]:
    path = "spec.scopes"
    for scope in scopes:
        if scope not in _SCOPES:
            yield invalid_value(path, scopes, "unsupported scope")
        for name in sorted(hard):
            if _is_quota_resource(name) and not _applies(scope, name):
                yield invalid_value(path, scopes, "unsupported scope applied to resource")
    yield from (invalid_value(path, scopes, "conflicting scopes") for pair in _CONFLICTS if pair <= set(scopes))


def _applies(scope: str, name: str) -> bool:
    """Return whether a quota with a scope can limit a resource."""
    if scope == "BestEffort":
        return name == "pods"
    if scope == "VolumeAttributesClass":
        return name in ("persistentvolumeclaims", "requests.storage")
    return scope not in _SCOPES or name == "pods" or name in _COMPUTE


def _scope_selector(spec: Mapping[str, JSON], hard: Mapping[str, JSON]) -> Iterator[FieldError]:
    selector, path = spec["scopeSelector"], "spec.scopeSelector.matchExpressions"
    seen: set[str] = set()
    for each in selector.get("matchExpressions") or ():
        scope, operator, values = text_of(each, "scopeName"), text_of(each, "operator"), each.get("values") or []
        if scope not in _SCOPES:
            yield invalid_value(f"{path}.scopeName", scope, "unsupported scope")
        for name in sorted(hard):
            if _is_quota_resource(name) and not _applies(scope, name):
                yield invalid_value(path, _shown_scopes(selector), "unsupported scope applied to resource")
        if scope in _ONLY_EXISTS and operator != "Exists":
            yield invalid_value(f"{path}.operator", operator, _NOT_EXISTS)
        if operator in ("In", "NotIn"):
            if not values:
                why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
                yield required(f"{path}.values", why)
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
                yield invalid_value(f"{path}.values", values, why)
        else:
            yield invalid_value(f"{path}.operator", operator, "not a valid selector operator")
        seen.add(scope)
    yield from (invalid_value(path, spec.get("scopes"), "conflicting scopes") for pair in _CONFLICTS if pair <= seen)


def _shown_scopes(selector: Mapping[str, JSON] | None) -> JSON:
    if selector is None:
        return None
    shown = [
        {
            "ScopeName": text_of(each, "scopeName"),
            "Operator": text_of(each, "operator"),
            "Values": each.get("values") or None,
        }
        for each in selector.get("matchExpressions") or ()
    ]
    return {"MatchExpressions": shown or None}


# -- LimitRange --------------------------------------------------------------------------------------------------


def _prepare_limit_range(new: Object, old: Object | None) -> None:
    """Name a new LimitRange without a name."""
    if old is None and not new["metadata"].get("name"):
        new["metadata"]["name"] = str(uuid4())


def _validate_limit_range(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check the limits of each type."""
    seen: set[str] = set()
    for index, limit in enumerate((new.get("spec") or {}).get("limits") or ()):
        path, kind = f"spec.limits[{index}]", text_of(limit, "type")
        yield from _limit_type(kind, f"{path}.type")
        if kind in seen:
            yield duplicate(f"{path}.type", kind)
        seen.add(kind)
        yield from _limit(limit, kind, path)


def _limit_type(kind: str, path: str) -> Iterator[FieldError]:
    found = list(invalid_name(names.qualified_name, kind, path))
    if not found and "/" not in kind and kind not in ("Pod", "Container", "PersistentVolumeClaim"):
        found.append(invalid_value(path, kind, "must be a standard limit type or fully qualified"))
    yield from found


def _limit(limit: Mapping[str, JSON], kind: str, path: str) -> Iterator[FieldError]:
    check = container_resource_name if kind in ("Pod", "Container") else resource_name
    defaults = ("default", "defaultRequest")
    for part in ("max", "min", *defaults):
        if kind == "Pod" and part in defaults:
            if limit.get(part):
                yield field_forbidden(f"{path}.{part}", "may not be specified when `type` is 'Pod'")
            continue
        for name in limit.get(part) or ():
            yield from check(name, f"{path}.{part}[{name}]")
    if kind == "PersistentVolumeClaim" and not any("storage" in (limit.get(key) or {}) for key in ("min", "max")):
        why = "either minimum or maximum storage value is required, but neither was provided"
        yield required(f"{path}.limits", why)
    for name in limit.get("maxLimitRequestRatio") or ():
        yield from check(name, f"{path}.maxLimitRequestRatio[{name}]")
    parts = ("max", "min", *(() if kind == "Pod" else defaults), "maxLimitRequestRatio")
    for name in dict.fromkeys(name for part in parts for name in limit.get(part) or ()):
        amounts = {part: limit[part][name] for part in parts if name in (limit.get(part) or {})}
        yield from _amounts(name, amounts, path)


def _amounts(name: str, amounts: Mapping[str, str], path: str) -> Iterator[FieldError]:
    for low, high, at, shown, why in _ORDERS:
        if low in amounts and high in amounts and Quantity(amounts[low]) > Quantity(amounts[high]):
            text = why.format(low=amounts[low], high=amounts[high])
            yield invalid_value(f"{path}.{at}[{name}]", amounts[shown], text)
    ratio, where = amounts.get("maxLimitRequestRatio"), f"{path}.maxLimitRequestRatio[{name}]"
    if ratio is not None and Quantity(ratio) < 1:
        yield invalid_value(where, ratio, f"ratio {ratio} is less than 1")
    if ratio is not None and "min" in amounts and "max" in amounts:
        least, most = (float(Quantity(amounts[part]).value) for part in ("min", "max"))
        limit = most / least if least else float("inf")
        if float(Quantity(ratio).value) > limit:
            yield invalid_value(where, ratio, f"ratio {ratio} is greater than max/min = {limit:f}")
    default, request = amounts.get("default"), amounts.get("defaultRequest")
    is_overcommitable = is_native(name) and not name.startswith("hugepages-")
    if not is_overcommitable and default and request and Quantity(default) != Quantity(request):
        why = f"default value {default} must equal to defaultRequest value {request} in {name}"
        yield invalid_value(f"{path}.defaultRequest[{name}]", request, why)


#: The part that must not be greater than the other one; the part of the error and of its value; the message.
_ORDERS: Final = (
    ("min", "max", "min", "min", "min value {low} is greater than max value {high}"),
    (
        *("min", "defaultRequest", "defaultRequest", "defaultRequest"),
        "min value {low} is greater than default request value {high}",
    ),
    (
        *("defaultRequest", "max", "defaultRequest", "defaultRequest"),
        "default request value {low} is greater than max value {high}",
    ),
    (
        *("defaultRequest", "default", "defaultRequest", "defaultRequest"),
        "default request value {low} is greater than default limit value {high}",
    ),
    ("min", "default", "default", "min", "min value {low} is greater than default value {high}"),
    ("default", "max", "default", "max", "default value {low} is greater than max value {high}"),
)


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
    BuiltinResource(
        group="",
        kind="ResourceQuota",
        strategy=Strategy(
            returns_deleted_object=True, validates=(_validate_quota,), validates_status=(_validate_quota_status,)
        ),
        cells=_quota_cells,
    ),
    BuiltinResource(
        group="",
        kind="LimitRange",
        strategy=Strategy(
            on_update=(MetadataCheck.WHOLE,),
            allows_create_on_update=True,
            defaults=(_default_limit_range,),
            prepares=(_prepare_limit_range,),
            validates=(_validate_limit_range,),
        ),
    ),
)
