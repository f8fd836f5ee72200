"""Validation of the resources of containers and pods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

import msgspec

from pyctrl._go.text import shown_value
from pyctrl._validation import names
from pyctrl.api import Quantity
from pyctrl.apiserver._errors import (
    FieldError,
    duplicate,
    field_forbidden,
    invalid_value,
    not_supported,
    required,
)
from pyctrl.apiserver._registry.field_validation import NEGATIVE, invalid_name, text_of
from pyctrl.apiserver._schema.schema import JSON

__all__ = [
    "container_resource_name",
    "is_extended",
    "is_native",
    "resource_name",
    "resource_quantity",
    "validate_container_resources",
    "validate_pod_resources",
]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]
_NameCheck: TypeAlias = Callable[[str, str], list[FieldError]]
_OF_CONTAINERS = ("cpu", "ephemeral-storage", "memory")
_COUNTED = frozenset(
    (
        *("pods", "resourcequotas", "services", "replicationcontrollers", "secrets", "configmaps"),
        *("persistentvolumeclaims", "services.nodeports", "services.loadbalancers"),
    )
)
_STANDARD = (
    _COUNTED
    | {"storage", "requests.storage", *_OF_CONTAINERS}
    | {f"{part}.{name}" for part in ("limits", "requests") for name in _OF_CONTAINERS}
)
_OF_PODS = ("cpu", "hugepages-", "memory")
_ZERO = Quantity("0")
_REMEMBERED = 256  # resources of containers, as most have those of another


def is_native(name: str) -> bool:
    """Return whether a resource is Kubernetes' own."""
    return "/" not in name or "kubernetes.io/" in name


def is_extended(name: str) -> bool:
    """Return whether a resource is an extended one, whose quantities are integers."""
    return not is_native(name) and not name.startswith("requests.") and not names.qualified_name(f"requests.{name}")


def resource_name(name: str, path: str) -> list[FieldError]:
    """Return the errors in the name of a resource."""
    found = list(invalid_name(names.qualified_name, name, path))
    is_standard = name in _STANDARD or name.startswith(("hugepages-", "requests.hugepages-"))
    if not found and "/" not in name and not is_standard:
        found.append(invalid_value(path, name, "must be a standard resource type or fully qualified"))
    return found


def container_resource_name(name: str, path: str) -> list[FieldError]:
    """Return the errors in the name of a resource of a container."""
    found = resource_name(name, path)
    if "/" not in name:
        if name not in _OF_CONTAINERS and not name.startswith("hugepages-"):
            found.append(invalid_value(path, name, "must be a standard resource for containers"))
    elif not is_native(name) and not is_extended(name):
        found.append(invalid_value(path, name, "doesn't follow extended resource name standard"))
    return found


def _pod_resource_name(name: str, path: str) -> list[FieldError]:
    found = resource_name(name, path)
    if not found and name not in _OF_PODS and not name.startswith("hugepages-"):
        found.append(not_supported(path, name, _OF_PODS))
    return found


def resource_quantity(name: str, quantity: str, path: str) -> _Errors:
    """Check the quantity of a resource."""
    amount = Quantity(quantity)
    if amount < _ZERO:
        yield invalid_value(path, quantity, NEGATIVE)
    if (name in _COUNTED or is_extended(name)) and amount.value % 1:
        yield invalid_value(path, quantity, "must be an integer")


def validate_container_resources(resources: _Part, path: str, claims: Sequence[str]) -> _Errors:
    """Check the resources of a container.

    Args:
        claims: The names of the pod's resource claims.
    """
    if resources and not _is_valid(msgspec.json.encode(resources)):
        yield from _requirements(resources, path, container_resource_name)
    yield from _claims(resources.get("claims") or (), f"{path}.claims", claims)


@lru_cache(maxsize=_REMEMBERED)
def _is_valid(resources: bytes) -> bool:
    return not any(_requirements(msgspec.json.decode(resources), "", container_resource_name))


def _requirements(resources: _Part, path: str, check_name: _NameCheck) -> _Errors:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, quantity in limits.items():
        yield from _amount(name, quantity, f"{path}.limits[{name}]", check_name)
    for name, quantity in requests.items():
        where = f"{path}.requests[{name}]"
        yield from check_name(name, where)
        yield from resource_quantity(name, quantity, where)
        yield from _within_limit(name, quantity, limits.get(name), path)
        yield from _huge_pages(name, quantity, where)
    used = {*limits, *requests}
    if any(name.startswith("hugepages-") for name in used) and not used & {"cpu", "memory"}:
        yield field_forbidden(path, "HugePages require cpu or memory")


def _amount(name: str, quantity: str, path: str, check_name: _NameCheck) -> _Errors:
    yield from check_name(name, path)
    yield from resource_quantity(name, quantity, path)
    yield from _huge_pages(name, quantity, path)


def _within_limit(name: str, quantity: str, limit: str | None, path: str) -> _Errors:
    is_overcommitable = is_native(name) and not name.startswith("hugepages-")
    if limit is None:
        if not is_overcommitable:
            yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")
    elif not is_overcommitable and Quantity(quantity) != Quantity(limit):
        yield invalid_value(f"{path}.requests", quantity, f"must be equal to {name} limit of {limit}")
    elif Quantity(quantity) > Quantity(limit):
        yield invalid_value(f"{path}.requests", quantity, f"must be less than or equal to {name} limit of {limit}")


def _huge_pages(name: str, quantity: str, path: str) -> _Errors:
    if not name.startswith("hugepages-"):
        return
    try:
        size = Quantity(name.removeprefix("hugepages-")).value
    except ValueError:
        size = _ZERO.value
    amount = Quantity(quantity).value
    if size <= 0 or amount <= 0 or amount % size:
        yield invalid_value(path, quantity, f"{quantity} is not positive integer multiple of {name}")


def _claims(claims: Sequence[_Part], path: str, known: Sequence[str]) -> _Errors:
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        name, request, where = text_of(claim, "name"), text_of(claim, "request"), f"{path}[{index}]"
        if not name:
            yield required(where)
        elif name in seen:
            yield duplicate(where, name)
        else:
            key = f"{name}/{request}" if request else name
            if request:
                yield from invalid_name(names.label, request, f"{where}.request")
            if key in seen:
                yield duplicate(where, key)
            elif not request and any(each.partition("/")[0] == name for each in seen):
                yield duplicate(where, name)
            seen.add(key)
        if name and name not in known:
            listed = f": {', '.join(sorted(set(known)))}" if known else " which is empty"
            why = f"Not found: {shown_value(name)}: must be one of the names in pod.spec.resourceClaims{listed}"
            yield FieldError("FieldValueNotFound", why, where)


def validate_pod_resources(spec: _Part, path: str) -> _Errors:
    """Check the resources of a whole pod."""
    resources, where = spec.get("resources"), f"{path}.resources"
    if resources is None:
        return
    if (spec.get("os") or {}).get("name") == "windows":
        yield field_forbidden(where, "may not be set for a windows pod")
        return
    if resources.get("claims") is not None:
        yield field_forbidden(f"{where}.claims", "claims may not be set for Resources at pod-level")
    yield from _requirements(resources, where, _pod_resource_name)
    claims = [text_of(each, "name") for each in spec.get("resourceClaims") or ()]
    yield from _claims(resources.get("claims") or (), f"{where}.claims", claims)
    yield from _containers_fit(spec, resources, where)


def _containers_fit(spec: _Part, resources: _Part, path: str) -> _Errors:
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    containers = spec.get("containers") or ()
    for name, quantity in requests.items():
        amounts = [((each.get("resources") or {}).get("requests") or {}).get(name) for each in containers]
        if all(each is None for each in amounts):
            continue
        total = sum((Quantity(each).value for each in amounts if each is not None), start=_ZERO.value)
        if total > Quantity(quantity).value:
            shown = next((each for each in amounts if each is not None and Quantity(each).value == total), str(total))
            why = f"must be greater than or equal to aggregate container requests of {shown}"
            yield invalid_value(f"{path}.requests[{name}]", quantity, why)
    for index, container in enumerate(containers):
        for name, quantity in ((container.get("resources") or {}).get("limits") or {}).items():
            if name in limits and Quantity(quantity) > Quantity(limits[name]):
                why = f"must be less than or equal to pod limits of {limits[name]}"
                yield invalid_value(f"{path}.containers[{index}][{name}].limits", quantity, why)
