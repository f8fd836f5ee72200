"""Validation of Endpoints and EndpointSlices."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, duplicate, invalid_value, not_supported, required, too_many
from pyctrl.apiserver._meta.validation import validate_labels
from pyctrl.apiserver._registry.field_validation import (
    address,
    invalid_name,
    is_address,
    non_special_ip,
    port_number,
    strict_address_errors,
    text_of,
    without_leading_zeros,
)
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["validate_endpoint_slice", "validate_endpoints"]

_Part: TypeAlias = Mapping[str, JSON]
_Errors: TypeAlias = Iterator[FieldError]
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
_MOST_ADDRESSES, _MOST_PORTS, _MOST_ENDPOINTS, _MOST_LABELS, _MOST_HINTS = 100, 20_000, 1_000, 16, 8
_LABEL = re.compile("[a-z0-9]([-a-z0-9]*[a-z0-9])?")


def validate_endpoints(new: Object, old: Object | None) -> _Errors:
    """Check Endpoints; subsets that do not change are not checked again."""
    subsets = new.get("subsets") or ()
    if old is not None and subsets == (old.get("subsets") or ()):
        return
    for index, subset in enumerate(subsets):
        path, ports = f"subsets[{index}]", subset.get("ports") or ()
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            yield required(path, "must specify `addresses` or `notReadyAddresses`")
        for key in ("addresses", "notReadyAddresses"):
            for number, each in enumerate(subset.get(key) or ()):
                yield from _address(each, f"{path}.{key}[{number}]")
        for number, each in enumerate(ports):
            yield from _port(each, f"{path}.ports[{number}]", needs_name=len(ports) > 1)


def _address(endpoint: _Part, path: str) -> _Errors:
    ip = text_of(endpoint, "ip")
    yield from address(ip, f"{path}.ip")
    if hostname := text_of(endpoint, "hostname"):
        yield from invalid_name(names.label, hostname, f"{path}.hostname")
    if endpoint.get("nodeName") is not None:
        yield from invalid_name(names.subdomain, endpoint["nodeName"], f"{path}.nodeName")
    if is_address(plain := without_leading_zeros(ip)):
        yield from non_special_ip(plain, f"{path}.ip")
    else:
        yield invalid_value(f"{path}.ip", ip, "must be a valid IP address")


def _port(port: _Part, path: str, *, needs_name: bool) -> _Errors:
    name = text_of(port, "name")
    if needs_name and not name:
        yield required(f"{path}.name")
    elif name:
        yield from invalid_name(names.label, name, f"{path}.name")
    yield from port_number(port.get("port") or 0, f"{path}.port")
    if text_of(port, "protocol") not in _PROTOCOLS:
        yield not_supported(f"{path}.protocol", text_of(port, "protocol"), _PROTOCOLS)
    if port.get("appProtocol") is not None:
        yield from invalid_name(names.qualified_name, port["appProtocol"], f"{path}.appProtocol")


# -- EndpointSlice -----------------------------------------------------------------------------------------------


def validate_endpoint_slice(new: Object, old: Object | None) -> _Errors:
    """Check an EndpointSlice; its address type does not change."""
    kind = text_of(new, "addressType")
    if not kind:
        yield required("addressType")
    elif kind not in _ADDRESS_TYPES:
        yield not_supported("addressType", kind, _ADDRESS_TYPES)
    yield from _slice_ports(new.get("ports") or ())
    endpoints = new.get("endpoints") or ()
    if old is None or endpoints != (old.get("endpoints") or ()):
        yield from _slice_endpoints(endpoints, kind)
    if old is not None and kind != text_of(old, "addressType"):
        yield invalid_value("addressType", kind, "field is immutable")


def _slice_ports(ports: Sequence[_Part]) -> _Errors:
    if len(ports) > _MOST_PORTS:
        yield too_many("ports", len(ports), _MOST_PORTS)
        return
    seen: set[str] = set()
    for index, each in enumerate(ports):
        name, path = text_of(each, "name"), f"ports[{index}]"
        if name:
            yield from invalid_name(names.label, name, f"{path}.name")
        if name in seen:
            yield duplicate(f"{path}.name", name)
        seen.add(name)
        if each.get("protocol") not in _PROTOCOLS:
            yield not_supported(f"{path}.protocol", each.get("protocol"), _PROTOCOLS)
        if each.get("appProtocol") is not None:
            yield from invalid_name(names.qualified_name, each["appProtocol"], f"{path}.appProtocol")


def _slice_endpoints(endpoints: Sequence[_Part], kind: str) -> _Errors:
    if len(endpoints) > _MOST_ENDPOINTS:
        yield too_many("endpoints", len(endpoints), _MOST_ENDPOINTS)
        return
    for index, endpoint in enumerate(endpoints):
        path, addresses = f"endpoints[{index}]", endpoint.get("addresses") or ()
        if not addresses:
            yield required(f"{path}.addresses", "must contain at least 1 address")
        elif len(addresses) > _MOST_ADDRESSES:
            yield too_many(f"{path}.addresses", len(addresses), _MOST_ADDRESSES)
        for number, each in enumerate(addresses):
            yield from _slice_address(each, kind, f"{path}.addresses", number)
        if endpoint.get("nodeName") is not None:
            yield from invalid_name(names.subdomain, endpoint["nodeName"], f"{path}.nodeName")
        labels = endpoint.get("deprecatedTopology") or {}
        if len(labels) > _MOST_LABELS:
            yield too_many(f"{path}.deprecatedTopology", len(labels), _MOST_LABELS)
        yield from validate_labels(labels, f"{path}.deprecatedTopology")
        if endpoint.get("hostname") is not None:
            yield from invalid_name(names.label, endpoint["hostname"], f"{path}.hostname")
        yield from _hints(endpoint.get("hints") or {}, f"{path}.hints")


def _slice_address(text: str, kind: str, path: str, index: int) -> _Errors:
    where = f"{path}[{index}]"
    if kind == "FQDN":
        yield from _domain(text, where)
    elif kind in ("IPv4", "IPv6"):
        wrong = list(address(text, where))
        if kind == "IPv6":  # in its canonical form
            wrong = [invalid_value(where, text, why) for why in strict_address_errors(text)]
        yield from wrong
        if wrong:
            return
        if f"IPv{ipaddress.ip_address(text).version}" != kind:
            yield invalid_value(path, text, f"must be an {kind} address")
        yield from non_special_ip(text, where)


def _domain(text: str, path: str) -> _Errors:
    if not text:
        yield required(path)
        return
    name = text.removesuffix(".")
    if found := names.subdomain(name):
        yield from (invalid_value(path, name, why) for why in found)
        return
    if "." not in name:
        yield invalid_value(path, name, "should be a domain with at least two segments separated by dots")
        return
    yield from (each for part in name.split(".") for each in invalid_name(names.label, part, path))


def _hints(hints: _Part, path: str) -> _Errors:
    for key, rule in (("forZones", names.label_value), ("forNodes", names.subdomain)):
        items = hints.get(key) or ()
        if len(items) > _MOST_HINTS:
            yield too_many(f"{path}.{key}", len(items), _MOST_HINTS)
            return
        seen: set[str] = set()
        for index, each in enumerate(items):
            name, where = text_of(each, "name"), f"{path}.{key}[{index}].name"
            if name in seen:
                yield duplicate(where, name)
            seen.add(name)
            yield from invalid_name(rule, name, where)
