"""Validation and warnings of services, in kube-apiserver's order."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, duplicate, field_forbidden, invalid_value, not_supported, required
from pyctrl.apiserver._meta.validation import validate_labels
from pyctrl.apiserver._registry import field_validation as rules
from pyctrl.apiserver._registry._services.types import (
    has_address,
    has_health_port,
    is_headless,
    is_reached_from_outside,
)
from pyctrl.apiserver._registry.status_validation import validate_load_balancer
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.schema import JSON

__all__ = ["service_warnings", "validate_addresses", "validate_service", "validate_service_status"]

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_FAMILIES = ("IPv4", "IPv6")
_POLICIES = ("PreferDualStack", "RequireDualStack", "SingleStack")
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_STICKY_LIMIT = 86400  # seconds: one day
_BALANCED = "may only be used when `type` is 'LoadBalancer'"
_EXTERNAL = "may not be set for ExternalName services"


def validate_service(new: Object, old: Object | None) -> Iterator[FieldError]:
    """Check a service; its cluster IP does not change."""
    spec = new["spec"]
    if old is not None:
        yield from _same_address(spec, old["spec"])
        yield from _same_balancer(spec, old["spec"])
    if not spec.get("ports") and not is_headless(spec) and spec["type"] != "ExternalName":
        yield required("spec.ports")
    yield from _type_rules(spec)
    yield from _ports(spec)
    yield from validate_labels(spec.get("selector") or {}, "spec.selector")
    yield from _affinity(spec)
    yield from validate_addresses(spec)
    for index, address in enumerate(spec.get("externalIPs") or ()):
        path = f"spec.externalIPs[{index}]"
        wrong = list(rules.address(address, path))
        yield from wrong or rules.non_special_ip(address, path)
    yield from rules.one_of(spec["type"], _TYPES, "spec.type")
    if spec["type"] == "ClusterIP":
        for index, port in enumerate(spec.get("ports") or ()):
            if port.get("nodePort"):
                why = "may not be used when `type` is 'ClusterIP'"
                yield field_forbidden(f"spec.ports[{index}].nodePort", why)
    yield from _repeated_ports(spec)
    yield from _balancer(spec)
    yield from _traffic(spec)


def _same_address(spec: Mapping[str, JSON], before: Mapping[str, JSON]) -> Iterator[FieldError]:
    addresses, earlier = spec.get("clusterIPs") or [], before.get("clusterIPs") or []
    primary = [spec.get("clusterIP")]
    if not (has_address(spec) and has_address(before) and earlier) or addresses[:1] != primary[: len(addresses)]:
        return
    if not addresses:
        yield invalid_value("spec.clusterIPs[0]", addresses, "primary clusterIP can not be unset")
    elif addresses[0] != earlier[0] and (addresses[0] == "None" or rules.is_address(addresses[0])):
        yield invalid_value("spec.clusterIPs[0]", addresses, "may not change once set")


def _same_balancer(spec: Mapping[str, JSON], before: Mapping[str, JSON]) -> Iterator[FieldError]:
    name = spec.get("loadBalancerClass")
    if spec["type"] == before["type"] == "LoadBalancer" and name != before.get("loadBalancerClass"):
        yield invalid_value("spec.loadBalancerClass", name, "may not change once set")
    yield from _balancer_class(spec)
    key = "healthCheckNodePort"
    if has_health_port(before) and has_health_port(spec) and spec.get(key) != before.get(key):
        yield field_forbidden(f"spec.{key}", "field is immutable")


def _balancer_class(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    if (name := spec.get("loadBalancerClass")) is None:
        return
    if spec["type"] == "LoadBalancer":
        yield from (invalid_value("spec.loadBalancerClass", name, why) for why in names.qualified_name(name))
    else:
        yield field_forbidden("spec.loadBalancerClass", _BALANCED)


def _type_rules(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    kind = spec["type"]
    if kind in ("LoadBalancer", "NodePort") and is_headless(spec):
        yield invalid_value("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")
    if kind != "ExternalName":
        return
    for key in ("clusterIPs", "ipFamilies", "ipFamilyPolicy"):
        if spec.get(key) not in (None, []):
            yield field_forbidden(f"spec.{key}", _EXTERNAL)
    name = spec.get("externalName", "").removesuffix(".")
    if not name:
        yield required("spec.externalName")
    yield from (invalid_value("spec.externalName", name, why) for why in (names.subdomain(name) if name else ()))


def _ports(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    ports, seen = spec.get("ports") or [], set[str]()
    for index, port in enumerate(ports):
        path, name = f"spec.ports[{index}]", port.get("name", "")
        if name:
            yield from (invalid_value(f"{path}.name", name, why) for why in names.label(name))
            if name in seen:
                yield duplicate(f"{path}.name", name)
            seen.add(name)
        elif len(ports) > 1:
            yield required(f"{path}.name")
        yield from rules.port_number(port.get("port", 0), f"{path}.port")
        yield from rules.one_of(port.get("protocol"), _PROTOCOLS, f"{path}.protocol")
        yield from rules.port(port.get("targetPort"), f"{path}.targetPort")
        for why in names.qualified_name(port["appProtocol"]) if port.get("appProtocol") is not None else ():
            yield invalid_value(f"{path}.appProtocol", port["appProtocol"], why)


def _repeated_ports(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    seen: set[tuple[str, int]] = set()
    for index, port in enumerate(spec.get("ports") or ()):
        key = port["protocol"], port.get("port", 0)
        if key in seen:
            internal = {
                "Name": "",
                "Protocol": key[0],
                "AppProtocol": None,
                "Port": key[1],
                "TargetPort": 0,
                "NodePort": 0,
            }
            yield duplicate(f"spec.ports[{index}]", internal)
        seen.add(key)


def _affinity(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    affinity = spec["sessionAffinity"]
    yield from rules.one_of(affinity, ("ClientIP", "None"), "spec.sessionAffinity")
    if affinity == "ClientIP":
        seconds = spec["sessionAffinityConfig"]["clientIP"]["timeoutSeconds"]
        if not 0 < seconds <= _STICKY_LIMIT:
            why = f"must be greater than 0 and less than {_STICKY_LIMIT}"
            yield invalid_value("spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds, why)


def validate_addresses(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    """Check the cluster IPs of a service and their families."""
    if spec["type"] == "ExternalName":
        return
    address, addresses, families = spec.get("clusterIP"), spec.get("clusterIPs") or [], spec.get("ipFamilies") or []
    if address and addresses and addresses[0] != address:
        yield invalid_value("spec.clusterIPs", addresses, "first value must match `clusterIP`")
    elif addresses and not address:
        yield invalid_value("spec.clusterIPs", addresses, "must be empty when `clusterIP` is not specified")
    for index, family in enumerate(families):
        if family not in _FAMILIES:
            yield not_supported(f"spec.ipFamilies[{index}]", family, _FAMILIES)
        if family in families[:index]:
            yield duplicate(f"spec.ipFamilies[{index}]", family)
    policy = spec.get("ipFamilyPolicy")
    if policy is not None and policy not in _POLICIES:
        yield not_supported("spec.ipFamilyPolicy", policy, _POLICIES)
    wrong = list(_each_address(addresses))
    yield from wrong
    if wrong or address == "None" or addresses == ["None"]:
        return
    yield from _same_families(addresses)
    for index, (each, family) in enumerate(zip(addresses, families, strict=False)):
        if family in _FAMILIES and f"IPv{ipaddress.ip_address(each).version}" != family:
            why = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            yield invalid_value(f"spec.clusterIPs[{index}]", each, why)


def _each_address(addresses: list[str]) -> Iterator[FieldError]:
    for index, each in enumerate(addresses):
        if index or each != "None":
            yield from rules.address(each, f"spec.clusterIPs[{index}]")
        elif len(addresses) > 1:
            yield invalid_value("spec.clusterIPs", addresses, "'None' must be the first and only value")
    if len(addresses) > len(_FAMILIES):
        yield invalid_value("spec.clusterIPs", addresses, "may only hold up to 2 values")


def _same_families(addresses: list[str]) -> Iterator[FieldError]:
    families = [ipaddress.ip_address(each).version for each in addresses]
    if len(families) > 1 and len(set(families)) == 1:
        yield invalid_value("spec.clusterIPs", addresses, "may specify no more than one IP for each IP family")


def _balancer(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    is_balanced = spec["type"] == "LoadBalancer"
    ranges = spec.get("loadBalancerSourceRanges") or []
    if ranges and not is_balanced:
        yield field_forbidden("spec.LoadBalancerSourceRanges", _BALANCED)
    for index, each in enumerate(ranges):
        yield from rules.network(each.strip(), f"spec.LoadBalancerSourceRanges[{index}]")
    if spec.get("allocateLoadBalancerNodePorts") is not None and not is_balanced:
        yield field_forbidden("spec.allocateLoadBalancerNodePorts", _BALANCED)
    yield from _balancer_class(spec)


def _traffic(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    outside, inside = spec.get("externalTrafficPolicy"), spec.get("internalTrafficPolicy")
    where = "spec.externalTrafficPolicy"
    if is_reached_from_outside(spec):
        yield from rules.one_of(outside, ("Cluster", "Local"), where)
    elif outside:
        yield invalid_value(where, outside, "may only be set for externally-accessible services")
    health = spec.get("healthCheckNodePort")
    if health and not has_health_port(spec):
        why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"
        yield invalid_value("spec.healthCheckNodePort", health, why)
    elif health:
        yield from rules.port_number(health, "spec.healthCheckNodePort")
    if inside not in (None, "Cluster", "Local"):
        yield not_supported("spec.internalTrafficPolicy", inside, ("Cluster", "Local"))
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in _DISTRIBUTIONS:
        yield not_supported("spec.trafficDistribution", distribution, _DISTRIBUTIONS)


def validate_service_status(new: Object, _old: Object | None) -> Iterator[FieldError]:
    """Check the status of a load balancer."""
    ingress = new["status"]["loadBalancer"].get("ingress") or []
    path = "status.loadBalancer.ingress"
    if ingress and new["spec"]["type"] != "LoadBalancer":
        yield field_forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")
        return
    yield from validate_load_balancer(ingress, path, needs_modes=True)


def service_warnings(new: Object) -> Iterator[str]:
    """Warn about fields that are ignored or deprecated."""
    spec = new["spec"]
    if spec.get("externalIPs"):
        yield "spec.externalIPs is deprecated and may no longer be implemented in some clusters"
    if spec.get("externalName") and spec["type"] != "ExternalName":
        yield 'spec.externalName is ignored when spec.type is not "ExternalName"'
    if spec.get("trafficDistribution") == "PreferClose":
        yield 'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'
    if is_headless(spec):
        if spec.get("loadBalancerIP"):
            yield "spec.loadBalancerIP is ignored for headless services"
        if spec.get("externalIPs"):
            yield "spec.externalIPs is ignored for headless services"
        if spec["sessionAffinity"] != "None":
            yield "spec.SessionAffinity is ignored for headless services"
