"""What network policies, ingresses, disruption budgets, autoscalers and leases are checked for."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._registry.field_validation import (
    NEGATIVE,
    is_address,
    label_selector,
    network,
    not_negative,
    port,
    port_number,
)
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.schema import JSON

Part = Mapping[str, JSON]

_TYPES = ("Ingress", "Egress")
_PROTOCOLS = ("TCP", "UDP", "SCTP")
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_EVICTION = ("AlwaysAllow", "IfHealthyBudget")
_BAD_IN_PATH = ("//", "/./", "/../", "%2f", "%2F")
_BAD_AT_END = ("/..", "/.")
_WILDCARD = r"\*\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_NO_WILDCARD = (
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of "
    "lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', "
    f"regex used for validation is '{_WILDCARD}')"
)
_NO_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
    "regex used for validation is '[0-9]+%')"
)

# -- network policies ------------------------------------------------------------------------------------------


def validate_network_policy(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check whom a policy selects, and whom it lets in and out."""
    spec = new["spec"]
    yield from label_selector(spec.get("podSelector"), "spec.podSelector")
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


def _policy_port(each: Part, path: str) -> Iterator[FieldError]:
    number, end = each.get("port"), each.get("endPort")
    if each.get("protocol") and each["protocol"] not in _PROTOCOLS:
        yield not_supported(f"{path}.protocol", each["protocol"], _PROTOCOLS)
    if number is not None:
        yield from port(number, f"{path}.port")
    if end is None:
        return
    if number is None:
        yield invalid_value(f"{path}.endPort", end, "may not be specified when `port` is not specified")
    elif isinstance(number, str):
        yield invalid_value(f"{path}.endPort", end, "may not be specified when `port` is non-numeric")
    elif end < number:
        yield invalid_value(f"{path}.endPort", number, "must be greater than or equal to `port`")
    else:
        yield from port_number(end, f"{path}.endPort")


def _peer(peer: Part, path: str) -> Iterator[FieldError]:
    selectors = [key for key in ("podSelector", "namespaceSelector") if peer.get(key) is not None]
    for key in selectors:
        yield from label_selector(peer[key], f"{path}.{key}")
    block = peer.get("ipBlock")
    if block is not None:
        yield from _block(block, f"{path}.ipBlock")
    if not selectors and block is None:
        yield required(path, "must specify a peer")
    elif selectors and block is not None:
        yield field_forbidden(path, "may not specify both ipBlock and another peer")


def _block(block: Part, path: str) -> Iterator[FieldError]:
    whole = block.get("cidr") or ""
    if not whole:
        yield required(f"{path}.cidr")
        return
    complaints = list(network(whole, f"{path}.cidr"))
    yield from complaints
    for index, each in enumerate(block.get("except") or ()) if not complaints else ():
        where = f"{path}.except[{index}]"
        wrong = list(network(each, where))
        yield from wrong
        if not wrong and not _is_inside(each, whole):
            yield invalid_value(where, each, "must be a strict subset of `cidr`")


def _is_inside(inner: str, outer: str) -> bool:
    small, large = (ipaddress.ip_network(each, strict=False) for each in (inner, outer))
    if isinstance(small, ipaddress.IPv4Network) and isinstance(large, ipaddress.IPv4Network):
        return small != large and small.subnet_of(large)
    if isinstance(small, ipaddress.IPv6Network) and isinstance(large, ipaddress.IPv6Network):
        return small != large and small.subnet_of(large)
    return False


# -- ingresses -------------------------------------------------------------------------------------------------


def validate_ingress(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check hosts, paths and backends."""
    spec = new.get("spec") or {}
    if not spec.get("rules") and spec.get("defaultBackend") is None:
        yield invalid_value("spec", None, "either `defaultBackend` or `rules` must be specified")
    for index, each in enumerate(spec.get("tls") or ()):
        yield from _tls(each, f"spec.tls[{index}]")
    if spec.get("defaultBackend") is not None:
        yield from _backend(spec["defaultBackend"], "spec.defaultBackend")
    for index, rule in enumerate(spec.get("rules") or ()):
        yield from _rule(rule, f"spec.rules[{index}]")
    name = spec.get("ingressClassName") or ""
    for why in names.subdomain(name) if name else ():
        yield invalid_value("spec.ingressClassName", name, why)


def _tls(each: Part, path: str) -> Iterator[FieldError]:
    for index, host in enumerate(each.get("hosts") or ()):
        yield from _host(host, f"{path}.hosts[{index}]")
    name = each.get("secretName") or ""
    for why in names.subdomain(name) if name else ():
        yield invalid_value(f"{path}.secretName", name, why)


def _host(host: str, path: str) -> Iterator[FieldError]:
    if "*" in host:
        if not re.fullmatch(_WILDCARD, host):
            yield invalid_value(path, host, _NO_WILDCARD)
    else:
        yield from (invalid_value(path, host, why) for why in names.subdomain(host))


def _rule(rule: Part, path: str) -> Iterator[FieldError]:
    host = rule.get("host") or ""
    if host and is_address(host):
        yield invalid_value(f"{path}.host", host, "must be a DNS name, not an IP address")
    elif host:
        yield from _host(host, f"{path}.host")
    if rule.get("http") is None:
        return
    paths = rule["http"].get("paths") or []
    if not paths:
        yield required(f"{path}.http.paths")
    for index, each in enumerate(paths):
        where = f"{path}.http.paths[{index}]"
        yield from _path(each, where)
        yield from _backend(each.get("backend") or {}, f"{where}.backend")


def _path(each: Part, path: str) -> Iterator[FieldError]:
    kind, text = each.get("pathType"), each.get("path") or ""
    where = f"{path}.path"
    if not kind:
        yield required(f"{path}.pathType", "pathType must be specified")
    elif kind not in _PATH_TYPES:
        yield not_supported(f"{path}.pathType", kind, _PATH_TYPES)
    elif kind == "ImplementationSpecific":
        if text and not text.startswith("/"):
            yield invalid_value(where, text, "must be an absolute path")
    elif not text.startswith("/"):
        yield invalid_value(where, text, "must be an absolute path")
    elif text:
        yield from (invalid_value(where, text, f"must not contain '{bad}'") for bad in _BAD_IN_PATH if bad in text)
        for bad in _BAD_AT_END:
            if text.endswith(bad):
                yield invalid_value(where, text, f"cannot end with '{bad}'")


def _backend(backend: Part, path: str) -> Iterator[FieldError]:
    service, resource = backend.get("service"), backend.get("resource")
    if service is not None and resource is not None:
        yield invalid_value(path, "", "cannot set both resource and service backends")
    elif resource is not None:
        yield from (required(f"{path}.resource.{key}") for key in ("kind", "name") if not resource.get(key))
    elif service is not None:
        yield from _service(service, path)
    else:
        yield invalid_value(path, "", "resource or service backend is required")


def _service(service: Part, path: str) -> Iterator[FieldError]:
    name, where = service.get("name") or "", f"{path}.service.name"
    if not name:
        yield required(where)
    else:
        yield from (invalid_value(where, name, why) for why in names.label(name))
    at = service.get("port") or {}
    if at.get("name") and at.get("number"):
        yield invalid_value(path, "", "cannot set both port name & port number")
    elif at.get("name"):
        yield from port(at["name"], f"{path}.service.port.name")
    elif at.get("number"):
        yield from port_number(at["number"], f"{path}.service.port.number")
    else:
        yield required(path, "port name or number is required")


# -- budgets, autoscalers, leases ------------------------------------------------------------------------------


def validate_budget(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check how many pods may be missing."""
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
            yield from _share(spec[key], f"spec.{key}")
    yield from label_selector(spec.get("selector"), "spec.selector")
    policy = spec.get("unhealthyPodEvictionPolicy")
    if policy is not None and policy not in _EVICTION:
        yield not_supported("spec.unhealthyPodEvictionPolicy", policy, _EVICTION)


def _share(value: int | str, path: str) -> Iterator[FieldError]:
    if isinstance(value, int):
        if value < 0:
            yield invalid_value(path, value, NEGATIVE)
    elif not re.fullmatch("[0-9]+%", value):
        yield invalid_value(path, value, _NO_PERCENT)
    elif int(value[:-1]) > 100:
        yield invalid_value(path, value, "must not be greater than 100%")


def validate_autoscaler(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check what is scaled, and between which numbers."""
    spec = new["spec"]
    target, least, most = spec.get("scaleTargetRef") or {}, spec.get("minReplicas"), spec.get("maxReplicas") or 0
    if least is not None and least < 1:
        yield invalid_value("spec.minReplicas", least, "must be greater than or equal to 1")
    if not most:
        yield required("spec.maxReplicas", "must be set and greater than 0")
    elif most < 1:
        yield invalid_value("spec.maxReplicas", most, "must be greater than or equal to 1")
    if least is not None and most < least:
        yield invalid_value("spec.maxReplicas", most, "must be greater than or equal to `minReplicas`")
    for key in ("kind", "name"):
        if not target.get(key):
            yield required(f"spec.scaleTargetRef.{key}")
        else:
            yield from _segment(target[key], f"spec.scaleTargetRef.{key}")
    if not target.get("apiVersion"):
        yield invalid_value("spec.scaleTargetRef.apiVersion", "", "apiVersion must specify API group")


def _segment(text: str, path: str) -> Iterator[FieldError]:
    yield from (invalid_value(path, text, why) for why in names.path_segment(text))


def validate_lease(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check the numbers of a lease."""
    spec = new.get("spec") or {}
    seconds = spec.get("leaseDurationSeconds")
    if seconds is not None and seconds <= 0:
        yield invalid_value("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    yield from not_negative(spec, "spec", "leaseTransitions")
