"""Services: their defaults, what follows from their type, and the addresses and ports that the server hands out."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import msgspec

from pyctrl.apiserver._errors import FieldError, internal_error, invalid, invalid_value
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.defaulting import set_defaults
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._storage.storage import WatchCacheEvent

NODE_PORTS = range(30000, 32768)
_STICKY_SECONDS = 10800  # a client stays with its pod for three hours
_FAMILY = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")


def default_service(obj: Object) -> None:
    """Cluster-internal, no affinity; a port targets its own number."""
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
        set_defaults(spec, internalTrafficPolicy="Cluster")
    for entry in obj["status"]["loadBalancer"].get("ingress") or ():
        if entry.get("ip"):
            set_defaults(entry, ipMode="VIP")


def has_address(spec: Mapping[str, JSON]) -> bool:
    """Say whether services of this type have an address in the cluster."""
    return spec["type"] in ("ClusterIP", "NodePort", "LoadBalancer")


def is_reached_from_outside(spec: Mapping[str, JSON]) -> bool:
    """Say whether traffic comes from outside the cluster."""
    return spec["type"] in ("NodePort", "LoadBalancer") or (
        spec["type"] == "ClusterIP" and bool(spec.get("externalIPs"))
    )


def has_node_ports(spec: Mapping[str, JSON]) -> bool:
    """Say whether services of this type may have ports on nodes."""
    return spec["type"] in ("NodePort", "LoadBalancer")


def has_health_port(spec: Mapping[str, JSON]) -> bool:
    """Say whether a load balancer asks nodes if they have pods of this service."""
    return spec["type"] == "LoadBalancer" and spec.get("externalTrafficPolicy") == "Local"


def is_headless(spec: Mapping[str, JSON]) -> bool:
    """Say whether the service has no address on purpose."""
    return spec.get("clusterIP") == "None" or (spec.get("clusterIPs") or [""]) == ["None"]


# -- before validation -----------------------------------------------------------------------------------------


def prepare_service(new: Object, old: Object | None) -> None:
    """Bring the two forms of the address into step; keep what was handed out, drop what the type has no use for."""
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
        new["status"] = {"loadBalancer": {}}


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
            if not spec.get(key) and before.get(key):
                spec[key] = before[key]
    if has_node_ports(before) and has_node_ports(spec):
        _keep_node_ports(spec, before)
    if has_health_port(before) and has_health_port(spec) and not spec.get("healthCheckNodePort"):
        spec["healthCheckNodePort"] = before.get("healthCheckNodePort")


def _keep_node_ports(spec: Object, before: Mapping[str, JSON]) -> None:
    used = _node_ports(before) & _node_ports(spec)
    by_name = {each.get("name", ""): each.get("nodePort", 0) for each in before.get("ports") or ()}
    for port in spec.get("ports") or ():
        earlier = by_name.get(port.get("name", ""), 0)
        if not port.get("nodePort") and earlier and earlier not in used:
            port["nodePort"] = earlier
            used.add(earlier)


def _node_ports(spec: Mapping[str, JSON]) -> set[int]:
    return {each["nodePort"] for each in spec.get("ports") or () if each.get("nodePort")}


def _drop_unused(spec: Object, before: Mapping[str, JSON]) -> None:
    """Drop what was of use to the type before, is of none to this one, and was not changed."""
    if has_address(before) and not has_address(spec):
        if all(spec.get(key) == before.get(key) for key in ("clusterIP", "clusterIPs")):
            for key in _FAMILY:
                spec.pop(key, None)
        _drop_same(spec, before, "internalTrafficPolicy")
    if has_node_ports(before) and not has_node_ports(spec) and _node_ports(spec) == _node_ports(before):
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


# -- after validation ------------------------------------------------------------------------------------------


class ServiceAllocator:
    """Hands out cluster addresses and node ports, each once until the range is used up.

    Addresses go up from the bottom of the range and are not given again before all others were: what a deleted service
    had stays unused as long as possible, as with kube-apiserver's random choice.
    """

    def __init__(self, addresses: str = "10.0.0.0/24", ports: range = NODE_PORTS) -> None:
        self._network = ipaddress.ip_network(addresses)
        self._ports = ports
        self._next_address = 10  # the first ones are kept for well-known services: kubernetes, DNS
        self._next_port = 0
        self._taken: set[str | int] = set()

    def changed(self, event: WatchCacheEvent) -> None:
        """Take note of a service that was stored or removed."""
        if event.previous is not None:
            self._taken -= set(_allocated(event.previous.data))
        if event.current is not None:
            self._taken |= set(_allocated(event.current.data))

    def __call__(self, new: Object, old: Object | None) -> None:
        """Give a service what it lacks.

        Raises:
            Refused: 422, what it asks for is not to be had.
        """
        spec = new["spec"]
        if not has_address(spec):
            return
        causes = list(self._families(spec))
        if not causes:
            mine = {} if old is None else old["spec"]
            causes = [*self._address(spec, mine), *self._ports_of(spec, mine)]
        if causes:
            raise invalid("Service", new["metadata"]["name"], causes)

    @staticmethod
    def _families(spec: Object) -> Iterator[FieldError]:
        """One family of addresses is all that there is, but for services that bring their own."""
        if is_headless(spec) and not spec.get("selector"):
            set_defaults(spec, ipFamilies=["IPv4", "IPv6"], ipFamilyPolicy="RequireDualStack")
            return
        for index, family in enumerate(spec.get("ipFamilies") or ()):
            if family != "IPv4":
                yield invalid_value(f"spec.ipFamilies[{index}]", family, "not configured on this cluster")
                return
        if spec.get("ipFamilyPolicy") == "RequireDualStack":
            why = "this cluster is not configured for dual-stack services"
            yield invalid_value("spec.ipFamilyPolicy", "RequireDualStack", why)
        if not spec.get("ipFamilies"):
            spec["ipFamilies"] = ["IPv4"]
        set_defaults(spec, ipFamilyPolicy="SingleStack")

    def _address(self, spec: Object, before: Mapping[str, JSON]) -> Iterator[FieldError]:
        wanted = spec.get("clusterIP")
        if not wanted:
            spec["clusterIP"] = self._take_address()
            spec["clusterIPs"] = [spec["clusterIP"]]
        elif wanted not in ("None", before.get("clusterIP")):
            if ipaddress.ip_address(wanted) not in self._network:
                why = f"failed to allocate IP {wanted}: the provided network does not match the current range"
                yield invalid_value("spec.clusterIPs", spec["clusterIPs"], why)
            elif wanted in self._taken:
                why = f"failed to allocate IP {wanted}: provided IP is already allocated"
                yield invalid_value("spec.clusterIPs", spec["clusterIPs"], why)

    def _take_address(self) -> str:
        usable = self._network.num_addresses - 2
        for _ in range(usable):
            address = str(self._network[1 + self._next_address % usable])
            self._next_address += 1
            if address not in self._taken:
                return address
        raise internal_error("failed to allocate a serviceIP: range is full")

    def _ports_of(self, spec: Object, before: Mapping[str, JSON]) -> Iterator[FieldError]:
        mine, asked = _node_ports(before), set[int]()
        wants = has_node_ports(spec) and spec.get("allocateLoadBalancerNodePorts") is not False
        for index, port in enumerate(spec.get("ports") or ()):
            number = port.get("nodePort")
            if number:
                is_free = number not in asked and (number in mine or number not in self._taken)
                yield from self._asked(number, f"spec.ports[{index}].nodePort", is_free=is_free)
                asked.add(number)
            elif wants:
                same = (each.get("nodePort") for each in spec["ports"] if each["port"] == port["port"])
                port["nodePort"] = next((each for each in same if each), None) or self._take_port()
        if has_health_port(spec) and not spec.get("healthCheckNodePort"):
            spec["healthCheckNodePort"] = self._take_port()

    def _asked(self, number: int, path: str, *, is_free: bool) -> Iterator[FieldError]:
        if number not in self._ports:
            limits = f"{self._ports.start}-{self._ports.stop - 1}"
            why = f"provided port is not in the valid range. The range of valid ports is {limits}"
            yield invalid_value(path, number, why)
        elif not is_free:
            yield invalid_value(path, number, "provided port is already allocated")

    def _take_port(self) -> int:
        while True:
            port = self._ports[self._next_port % len(self._ports)]
            self._next_port += 1
            if port not in self._taken or self._next_port > 2 * len(self._ports):
                return port


def _allocated(data: bytes) -> Iterator[str | int]:
    spec = msgspec.json.decode(data)["spec"]
    yield from (each for each in spec.get("clusterIPs") or () if each != "None")
    yield from _node_ports(spec)
    if spec.get("healthCheckNodePort"):
        yield spec["healthCheckNodePort"]
