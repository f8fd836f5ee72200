"""Services; `_services` has their validation and the allocation of cluster IPs and node ports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from pyctrl._validation import names
from pyctrl.apiserver._registry._proxy.handler import ServiceProxyREST
from pyctrl.apiserver._registry._services.allocation import ServiceAllocator, node_ports
from pyctrl.apiserver._registry._services.types import (
    has_address,
    has_health_port,
    has_node_ports,
    is_reached_from_outside,
)
from pyctrl.apiserver._registry._services.validation import service_warnings, validate_service, validate_service_status
from pyctrl.apiserver._registry.builtin_resource import BuiltinResource
from pyctrl.apiserver._registry.strategy import Object, Strategy, fields_at
from pyctrl.apiserver._registry.table_cells import (
    NONE,
    Cells,
    labels_of,
    load_balancer_addresses,
    spec_of,
    status_of,
)
from pyctrl.apiserver._schema.defaulting import set_defaults, set_missing
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    pass

__all__ = ["RESOURCES"]


_STICKY_SECONDS = 10800  # of session affinity: three hours
_ADDRESSES = ("clusterIP", "clusterIPs")


def _default_service(obj: Object) -> None:
    """Default to type ClusterIP without session affinity; a port's target is its own number."""
    spec = obj["spec"]
    set_defaults(spec, sessionAffinity="None", type="ClusterIP")
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        set_defaults(spec, sessionAffinityConfig={})
        set_defaults(spec["sessionAffinityConfig"], clientIP={})
        set_defaults(spec["sessionAffinityConfig"]["clientIP"], timeoutSeconds=_STICKY_SECONDS)
    for port in spec.get("ports") or ():
        set_defaults(port, protocol="TCP")
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port["port"]
    if is_reached_from_outside(spec):
        set_defaults(spec, externalTrafficPolicy="Cluster")
    if spec["type"] == "LoadBalancer":
        set_defaults(spec, allocateLoadBalancerNodePorts=True)
    if has_address(spec):
        set_missing(spec, internalTrafficPolicy="Cluster")
    for entry in obj["status"]["loadBalancer"].get("ingress") or ():
        if entry.get("ip") and spec["type"] == "LoadBalancer":
            set_missing(entry, ipMode="VIP")


def _prepare_service(new: Object, old: Object | None) -> None:
    """Keep clusterIP and clusterIPs consistent; keep what was allocated, and drop what the new type does not have."""
    spec = new["spec"]
    if old is None:
        if spec.get("clusterIP") and not spec.get("clusterIPs"):
            spec["clusterIPs"] = [spec["clusterIP"]]
        return
    before = old["spec"]
    _sync_addresses(spec, before)
    _keep_allocated(spec, before)
    _drop_unused(spec, before)
    if old["spec"]["type"] == "LoadBalancer" != spec["type"]:
        new["status"] = {**old["status"], "loadBalancer": {}}


def _sync_addresses(spec: Object, before: Mapping[str, JSON]) -> None:
    address, addresses = spec.get("clusterIP"), spec.get("clusterIPs")
    if address == before.get("clusterIP"):
        if not addresses and address:
            spec["clusterIPs"] = before.get("clusterIPs") or [address]
    elif not address and addresses == before.get("clusterIPs"):
        spec.pop("clusterIPs", None)
    elif address and addresses == before.get("clusterIPs"):
        spec["clusterIPs"] = [address, *(addresses or [])[1:]]


def _keep_allocated(spec: Object, before: Mapping[str, JSON]) -> None:
    if has_address(before) and has_address(spec) and not spec.get("clusterIP") and not spec.get("clusterIPs"):
        for key in ("clusterIP", "clusterIPs"):
            if key in before:
                spec[key] = before[key]
    if has_address(before) and has_address(spec):
        for key in ("ipFamilies", "ipFamilyPolicy"):
            if spec.get(key) in (None, []) and before.get(key):
                spec[key] = before[key]
    if has_node_ports(before) and has_node_ports(spec):
        _keep_node_ports(spec, before)
    if has_health_port(before) and has_health_port(spec) and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = before.get("healthCheckNodePort")


def _keep_node_ports(spec: Object, before: Mapping[str, JSON]) -> None:
    used = node_ports(before) & node_ports(spec)
    by_name = {each.get("name", ""): each.get("nodePort", 0) for each in before.get("ports") or ()}
    for port in spec.get("ports") or ():
        earlier = by_name.get(port.get("name", ""), 0)
        if not port.get("nodePort") and earlier and earlier not in used:
            port["nodePort"] = earlier
            used.add(earlier)


def _drop_unused(spec: Object, before: Mapping[str, JSON]) -> None:
    """Drop unchanged fields that the old type has and the new type does not."""
    if has_address(before) and not has_address(spec):
        if all(spec.get(key) == before.get(key) for key in _ADDRESSES):
            for key in _ADDRESSES:
                spec.pop(key, None)
        _drop_same(spec, before, "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy")
    if has_node_ports(before) and not has_node_ports(spec) and node_ports(spec) <= node_ports(before):
        for port in spec.get("ports") or ():
            port.pop("nodePort", None)
    if has_health_port(before) and not has_health_port(spec):
        _drop_same(spec, before, "healthCheckNodePort")
    if before["type"] == "LoadBalancer" != spec["type"]:
        _drop_same(spec, before, "loadBalancerClass", "allocateLoadBalancerNodePorts")
    if is_reached_from_outside(before) and not is_reached_from_outside(spec):
        _drop_same(spec, before, "externalTrafficPolicy")


def _drop_same(spec: Object, before: Mapping[str, JSON], *keys: str) -> None:
    for key in keys:
        if spec.get(key) == before.get(key):
            spec.pop(key, None)


def _service_cells(obj: Object) -> Cells:
    spec, status = spec_of(obj), status_of(obj)
    ingress = load_balancer_addresses(status)
    kind = spec.get("type", "")
    external = list(spec.get("externalIPs") or ())
    if kind == "ExternalName":
        shown = spec.get("externalName", "")
    elif kind == "LoadBalancer":
        shown = ",".join([*ingress, *external]) or "<pending>"
    else:
        shown = ",".join(external) or NONE
    ports = ",".join(_service_port(each) for each in spec.get("ports") or ())
    return {
        "Type": kind,
        "Cluster-IP": spec.get("clusterIP") or NONE,
        "External-IP": shown,
        "Port(s)": ports or NONE,
        "Selector": labels_of(spec.get("selector")),
    }


def _service_port(port: Object) -> str:
    node = f":{port['nodePort']}" if port.get("nodePort") else ""
    return f"{port.get('port')}{node}/{port.get('protocol')}"


def _new_strategy() -> Strategy:
    """Return the strategy of one server: its allocator follows the services that this server stores."""
    allocator = ServiceAllocator()
    return Strategy(
        name_rule=names.label,
        allows_create_on_update=True,
        returns_deleted_object=True,
        fields=fields_at("spec.clusterIP", "spec.type"),
        defaults=(_default_service,),
        prepares=(_prepare_service,),
        allocator=allocator,
        validates=(validate_service,),
        validates_status=(validate_service_status,),
        warns=service_warnings,
        observes=allocator.observe,
    )


RESOURCES: Final = (
    BuiltinResource(
        group="",
        kind="Service",
        strategy=_new_strategy,
        cells=_service_cells,
        rest={"proxy": ServiceProxyREST},
        storage_prefix="services/specs",
    ),
)
