"""NetworkPolicies."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from typing import Final

from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._meta.validation import validate_selector
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.field_validation import is_network, network, port, port_number, without_leading_zeros
from pyctrl.apiserver._registry.strategy import Object, Strategy
from pyctrl.apiserver._registry.table_cells import Cells, selector_of, spec_of
from pyctrl.apiserver._schema.defaulting import set_defaults
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["RESOURCES"]

_Part = Mapping[str, JSON]
_TYPES = ("Ingress", "Egress")
_PROTOCOLS = ("TCP", "UDP", "SCTP")


def _default_network_policy(obj: Object) -> None:
    """Default ports to TCP, and the policy types to Ingress, with Egress where the policy has egress rules."""
    spec = obj["spec"]
    for rule in (*(spec.get("ingress") or ()), *(spec.get("egress") or ())):
        for each in rule.get("ports") or ():
            each.setdefault("protocol", "TCP")
    set_defaults(spec, policyTypes=["Ingress", "Egress"] if spec.get("egress") else ["Ingress"])


def _validate_network_policy(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check the pod selector and the rules."""
    spec = new["spec"]
    yield from validate_selector(spec.get("podSelector") or {}, "spec.podSelector")
    for direction, side in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or ()):
            where = f"spec.{direction}[{index}]"
            for number, each in enumerate(rule.get("ports") or ()):
                yield from _policy_port(each, f"{where}.ports[{number}]")
            for number, peer in enumerate(rule.get(side) or ()):
                yield from _peer(peer, f"{where}.{side}[{number}]")
    types = spec.get("policyTypes") or []
    if len(types) > len(_TYPES):
        yield invalid_value("spec.policyTypes", types, "may not specify more than two policyTypes")
        return
    for index, each in enumerate(types):
        if each not in _TYPES:
            yield not_supported(f"spec.policyTypes[{index}]", each, _TYPES)


def _policy_port(each: _Part, path: str) -> Iterator[FieldError]:
    number, end = each.get("port"), each.get("endPort")
    if each["protocol"] not in _PROTOCOLS:
        yield not_supported(f"{path}.protocol", each["protocol"], _PROTOCOLS)
    if isinstance(number, str) and end is not None:
        yield invalid_value(f"{path}.endPort", end, "may not be specified when `port` is non-numeric")
    if number is not None:
        yield from port(number, f"{path}.port")
    if end is None or isinstance(number, str):
        return
    if number is None:
        yield invalid_value(f"{path}.endPort", end, "may not be specified when `port` is not specified")
        return
    if end < number:
        yield invalid_value(f"{path}.endPort", number, "must be greater than or equal to `port`")
    yield from port_number(end, f"{path}.endPort")


def _peer(peer: _Part, path: str) -> Iterator[FieldError]:
    selectors = [key for key in ("podSelector", "namespaceSelector") if peer.get(key) is not None]
    for key in selectors:
        yield from validate_selector(peer[key], f"{path}.{key}")
    block = peer.get("ipBlock")
    if block is not None:
        yield from _block(block, f"{path}.ipBlock")
    if not selectors and block is None:
        yield required(path, "must specify a peer")
    elif selectors and block is not None:
        yield field_forbidden(path, "may not specify both ipBlock and another peer")


def _block(block: _Part, path: str) -> Iterator[FieldError]:
    whole = block.get("cidr") or ""
    if not whole:
        yield required(f"{path}.cidr")
        return
    yield from network(whole, f"{path}.cidr")
    plain = without_leading_zeros(whole)
    for index, each in enumerate(block.get("except") or ()) if is_network(plain) else ():
        where, inner = f"{path}.except[{index}]", without_leading_zeros(each)
        yield from network(each, where)
        if is_network(inner) and not _is_inside(inner, plain):
            yield invalid_value(where, each, "must be a strict subset of `cidr`")


def _is_inside(inner: str, outer: str) -> bool:
    small, large = (ipaddress.ip_network(each, strict=False) for each in (inner, outer))
    if isinstance(small, ipaddress.IPv4Network) and isinstance(large, ipaddress.IPv4Network):
        return small != large and small.subnet_of(large)
    if isinstance(small, ipaddress.IPv6Network) and isinstance(large, ipaddress.IPv6Network):
        return small != large and small.subnet_of(large)
    return False


def _network_policy_cells(obj: Object) -> Cells:
    return {"Pod-Selector": selector_of(spec_of(obj).get("podSelector"))}


RESOURCES: Final = (
    BuiltinResource(
        group="networking.k8s.io",
        kind="NetworkPolicy",
        strategy=Strategy(
            has_generation=True, defaults=(_default_network_policy,), validates=(_validate_network_policy,)
        ),
        cells=_network_policy_cells,
    ),
)
