"""ServiceCIDRs and IPAddresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from ipaddress import ip_network
from typing import Final

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, invalid_value, required
from pyctrl.apiserver._meta.generation import STATUS_RESET_FIELDS
from pyctrl.apiserver._meta.validation import MetadataCheck
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.field_validation import (
    invalid_name,
    is_network,
    required_name,
    strict_address_errors,
    strict_network_errors,
    text_of,
)
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells, spec_of
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["RESOURCES"]


def _service_cidr_cells(obj: Object) -> Cells:
    return {"CIDRs": ",".join(spec_of(obj).get("cidrs") or ())}


def _ip_address_cells(obj: Object) -> Cells:
    parent = spec_of(obj).get("parentRef") or {}
    kind = ".".join(part for part in (parent.get("resource"), parent.get("group")) if part)
    return {"ParentRef": "/".join(part for part in (kind, parent.get("namespace"), parent.get("name")) if part)}


def _validate_service_cidr(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a ServiceCIDR; a second family may be added."""
    cidrs, was = (new.get("spec") or {}).get("cidrs") or [], ((old or {}).get("spec") or {}).get("cidrs") or []
    if old is None or (len(was), len(cidrs)) == (1, 2):
        if old is not None and cidrs[0] != was[0]:
            yield invalid_value("spec.cidrs[0]", cidrs[0], "field is immutable")
        yield from _cidrs(cidrs, "spec.cidrs")
    elif len(was) == len(cidrs):
        for index, (before, after) in enumerate(zip(was, cidrs, strict=True)):
            if before != after:
                yield invalid_value(f"spec.cidrs[{index}]", after, "field is immutable")
    else:
        yield invalid_value("spec.cidrs", cidrs or None, "field is immutable")


def _cidrs(cidrs: Sequence[str], path: str) -> Iterator[FieldError]:
    if not cidrs:
        yield required(path, "at least one CIDR required")
        return
    if len(cidrs) > 2:
        yield invalid_value(path, {"CIDRs": cidrs}, "may only hold up to 2 values")
        return
    families: list[int] = []
    for index, each in enumerate(cidrs):
        yield from (invalid_value(f"{path}[{index}]", each, why) for why in strict_network_errors(each))
        if is_network(each):
            families.append(ip_network(each, strict=False).version)
    if len(families) == 2 and families[0] == families[1]:
        why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
        yield invalid_value(path, cidrs, why)


def _validate_ip_address(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check the object that an IP address belongs to, which does not change."""
    parent, path = (new.get("spec") or {}).get("parentRef"), "spec.parentRef"
    if parent is None:
        yield required(path)
    else:
        yield from _parent(parent, path)
    if old is not None and parent != (old.get("spec") or {}).get("parentRef"):
        yield invalid_value(path, _shown_parent(parent), "field is immutable")


def _parent(parent: Mapping[str, JSON], path: str) -> Iterator[FieldError]:
    if group := text_of(parent, "group"):
        yield from invalid_name(names.subdomain, group, f"{path}.group")
    for key in ("resource", "name"):
        yield from required_name(names.path_segment, text_of(parent, key), f"{path}.{key}")
    if namespace := text_of(parent, "namespace"):
        yield from invalid_name(names.path_segment, namespace, f"{path}.namespace")


def _shown_parent(parent: Mapping[str, JSON] | None) -> JSON:
    keys = ("group", "resource", "namespace", "name")
    return None if parent is None else {key.capitalize(): text_of(parent, key) for key in keys}


def _address_name(name: str) -> list[str]:
    """Check the name of an IPAddress: an IP address in canonical form."""
    return strict_address_errors(name)


RESOURCES: Final = (
    BuiltinResource(
        group="networking.k8s.io",
        kind="ServiceCIDR",
        strategy=Strategy(
            status_reset_fields=STATUS_RESET_FIELDS, validates=(_validate_service_cidr,), validates_status=()
        ),
        cells=_service_cidr_cells,
    ),
    BuiltinResource(
        group="networking.k8s.io",
        kind="IPAddress",
        strategy=Strategy(
            name_rule=_address_name,
            appends_suffix=False,
            on_update=(MetadataCheck.WHOLE, MetadataCheck.CHANGE),
            validates=(_validate_ip_address,),
        ),
        cells=_ip_address_cells,
        extra_cells=("Age",),
    ),
)
