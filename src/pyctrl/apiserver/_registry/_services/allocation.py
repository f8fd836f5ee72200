"""Allocation of cluster IPs and node ports."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from typing import TYPE_CHECKING, Final

import msgspec

from pyctrl._validation import names
from pyctrl.apiserver._errors import FieldError, internal_error, invalid, invalid_value, unknown_error
from pyctrl.apiserver._registry._services.types import has_address, has_health_port, has_node_ports, is_headless
from pyctrl.apiserver._registry._services.validation import validate_addresses
from pyctrl.apiserver._registry.field_validation import required_name
from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.defaulting import set_defaults
from pyctrl.apiserver._schema.schema import JSON

if TYPE_CHECKING:
    from pyctrl.apiserver._storage.storage import WatchCacheEvent

__all__ = ["SERVICE_CLUSTER_IP_RANGE", "SERVICE_NODE_PORT_RANGE", "ServiceAllocator", "node_ports"]


SERVICE_CLUSTER_IP_RANGE: Final = "10.0.0.0/24"  # kube-apiserver's defaults
SERVICE_NODE_PORT_RANGE: Final = range(30000, 32768)
_INT32: Final = 1 << 31  # one more than the largest int32
_BEFORE_FIRST_DRY_PORT: Final = 32768  # as in kube-apiserver, whatever the range is
_POLICY: Final = "spec.ipFamilyPolicy"
DEFAULT_RANGE: Final = "kubernetes"  # the ServiceCIDR of the range that the server was started with


class ServiceAllocator:
    """Allocates cluster IPs and node ports of one server.

    Both are allocated in ascending order, and a freed one only after the rest of the range. kube-apiserver, which
    chooses at random, rarely reuses one soon either.
    """

    def __init__(self, addresses: str = SERVICE_CLUSTER_IP_RANGE, ports: range = SERVICE_NODE_PORT_RANGE) -> None:
        self.use_ranges(addresses, ports)
        self._next_address = 10  # lower ones are reserved for well-known services: kubernetes, DNS
        self._next_port = 0
        self._allocated: set[str | int] = set()
        self._more: dict[str, list[ipaddress.IPv4Network]] = {}  # of other ServiceCIDRs that are ready

    def use_ranges(self, addresses: str, ports: range) -> None:
        """Allocate from these ranges from now on.

        Raises:
            ValueError: The addresses are not an IPv4 network.
        """
        self._network = ipaddress.IPv4Network(addresses)
        self._ports = ports

    def observe(self, event: WatchCacheEvent) -> None:
        """Mark what a stored service uses as allocated, and what a removed one used as free."""
        if event.previous is not None:
            self._allocated -= set(_used(event.previous.data))
        if event.current is not None:
            self._allocated |= set(_used(event.current.data))

    def observe_address(self, event: WatchCacheEvent) -> None:
        """Mark the address of a stored IPAddress as allocated, and that of a removed one as free."""
        if event.current is not None:
            self._allocated.add(event.current.name)
        elif event.previous is not None:
            self._allocated.discard(event.previous.name)

    def observe_range(self, event: WatchCacheEvent) -> None:
        """Allocate from the IPv4 networks of a ServiceCIDR while it is ready."""
        state = event.current or event.previous
        if state is None or state.name == DEFAULT_RANGE:
            return
        self._more.pop(state.name, None)
        if event.current is not None:
            obj = event.current.decode()
            conditions = (obj.get("status") or {}).get("conditions") or ()
            is_ready = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
            if is_ready and "deletionTimestamp" not in obj["metadata"]:
                texts = (text for text in obj["spec"].get("cidrs") or () if ":" not in text)
                self._more[state.name] = [ipaddress.IPv4Network(text) for text in texts]

    def _networks(self) -> Iterator[ipaddress.IPv4Network]:
        yield self._network
        for networks in self._more.values():
            yield from networks

    def __call__(self, new: Object, old: Object | None, *, is_dry_run: bool = False) -> None:
        """Allocate the cluster IP and the ports that a service lacks; as in kube-apiserver, before it is validated.

        Args:
            is_dry_run: Do not look whether an address is free, and set values that are never allocated.

        Raises:
            StatusError: 422, the service requests an IP or port that is not available.
        """
        spec = new["spec"]
        if spec["type"] == "ExternalName":
            return
        before = {} if old is None else old["spec"]
        steps: tuple[partial[Iterator[FieldError]], ...] = (
            partial(validate_addresses, spec),
            partial(self._set_families, spec),
            partial(self._try_address, spec, before)
            if is_dry_run
            else partial(self._allocate_address, spec, before, new["metadata"].get("name", "")),
            partial(self._try_ports if is_dry_run else self._allocate_ports, spec, before),
        )
        for step in steps:
            if causes := list(step()):
                raise invalid("Service", new["metadata"].get("name", ""), causes)

    @staticmethod
    def _set_families(spec: Object) -> Iterator[FieldError]:
        """Set the IP families. The cluster has IPv4 only; headless services without a selector get both."""
        is_free = is_headless(spec) and not spec.get("selector")
        set_defaults(spec, ipFamilyPolicy="RequireDualStack" if is_free else "SingleStack")
        policy = spec["ipFamilyPolicy"]
        if found := [*_too_many_for_one_family(spec), *_unknown_families(spec)]:
            yield from found
            return
        if is_free:
            families = spec.get("ipFamilies") or ["IPv4"]
            others = [each for each in ("IPv4", "IPv6") if each not in families]
            spec["ipFamilies"] = families if policy == "SingleStack" else [*families, *others]
            return
        if policy == "RequireDualStack":
            yield invalid_value(_POLICY, policy, "this cluster is not configured for dual-stack services")
        for index, family in enumerate(spec.get("ipFamilies") or ()):
            if family != "IPv4":
                yield invalid_value(f"spec.ipFamilies[{index}]", family, "not configured on this cluster")
        if not spec.get("ipFamilies"):
            spec["ipFamilies"] = ["IPv4"]

    def _allocate_address(self, spec: Object, before: Mapping[str, JSON], name: str) -> Iterator[FieldError]:
        if before and has_address(before):
            return  # validation refuses another address
        requested = spec.get("clusterIP")
        if not requested:
            address = self._next_free_address()
            if problem := _ip_address_problem(address, name):
                yield invalid_value("spec.clusterIPs", [""], f"failed to allocate IP: {problem}")
            spec["clusterIP"], spec["clusterIPs"] = address, [address]
        elif requested != "None":
            if not any(_has_host(each, requested) for each in self._networks()):
                why = f"failed to allocate IP {requested}: the provided network does not match the current range"
                yield invalid_value("spec.clusterIPs", spec["clusterIPs"], why)
            elif requested in self._allocated:
                why = f"failed to allocate IP {requested}: provided IP is already allocated"
                yield invalid_value("spec.clusterIPs", spec["clusterIPs"], why)
            elif problem := _ip_address_problem(requested, name):
                why = f"failed to allocate IP {requested}: {problem}"
                yield invalid_value("spec.clusterIPs", spec["clusterIPs"], why)

    def _try_address(self, spec: Object, before: Mapping[str, JSON]) -> Iterator[FieldError]:
        """Set the address of a dry run: that of the network, which no service gets."""
        if before and has_address(before):
            return
        requested = spec.get("clusterIP")
        if not requested:
            spec["clusterIP"] = str(self._network.network_address)
            spec["clusterIPs"] = [spec["clusterIP"]]
        elif requested != "None" and not _has_host(self._network, requested):
            limits = (
                f"the provided IP ({requested}) is not in the valid range. The range of valid IPs is {self._network}"
            )
            yield invalid_value("spec.clusterIPs", spec["clusterIPs"], f"failed to allocate IP {requested}: {limits}")

    def _next_free_address(self) -> str:
        usable = self._network.num_addresses - 2
        for _ in range(usable):
            address = str(self._network[1 + self._next_address % usable])
            self._next_address += 1
            if address not in self._allocated:
                return address
        for network in self._networks():
            for each in network.hosts():
                if str(each) not in self._allocated:
                    return str(each)
        raise internal_error("failed to allocate a serviceIP: range is full")

    def _allocate_ports(self, spec: Object, before: Mapping[str, JSON]) -> Iterator[FieldError]:
        allocate = self._update_ports if before else self._init_ports
        wants = has_node_ports(spec) and spec.get("allocateLoadBalancerNodePorts") is not False
        errors = list(allocate(spec, node_ports(before), wants=wants))
        yield from errors
        if not errors and has_health_port(spec) and not (before and has_health_port(before)):
            self._allocate_health_port(spec)

    def _allocate_health_port(self, spec: Object) -> None:
        number = spec.get("healthCheckNodePort")
        if not number:
            spec["healthCheckNodePort"] = self._next_free_port(node_ports(spec))
            return
        is_free = number not in self._allocated and number not in node_ports(spec)
        for why in self._port_problems(number, is_free=is_free):
            raise internal_error(f"failed to allocate requested HealthCheck NodePort {number}: {why}")

    def _init_ports(self, spec: Object, own: set[int], *, wants: bool) -> Iterator[FieldError]:
        """Allocate the node ports of a new service: ports with one number, such as TCP and UDP, share a node port."""
        taken, shared = set(own), dict[int, int]()
        for index, port in enumerate(spec.get("ports") or ()):
            same = (each.get("nodePort") for each in spec["ports"] if each["port"] == port["port"])
            number = port.get("nodePort") or next((each for each in same if each), None)
            if number:
                if number != shared.get(port["port"]):
                    is_free = number not in taken and number not in self._allocated
                    yield from self._check_port(number, f"spec.ports[{index}].nodePort", is_free=is_free)
            elif wants:
                number = self._next_free_port(taken)
            if number and (port.get("nodePort") or wants):
                port["nodePort"] = number
                taken.add(number)
                shared.setdefault(port["port"], number)

    def _update_ports(self, spec: Object, own: set[int], *, wants: bool) -> Iterator[FieldError]:
        """Allocate the node ports of a changed service: each port has one, with another protocol they may be equal."""
        seen = set[tuple[str, int]]()
        for index, port in enumerate(spec.get("ports") or ()):
            number = port.get("nodePort")
            if number:
                is_free = number in own or number not in self._allocated
                yield from self._check_port(number, f"spec.ports[{index}].nodePort", is_free=is_free)
            elif wants:
                number = port["nodePort"] = self._next_free_port({number for _, number in seen})
            if number and (port["protocol"], number) in seen:
                raise unknown_error(f"duplicate nodePort: {{{port['protocol']} {number}}}")
            seen.add((port["protocol"], number))

    def _try_ports(self, spec: Object, before: Mapping[str, JSON]) -> Iterator[FieldError]:
        """Set the ports of a dry run: those after the requested ones, or after a number above the default range.

        After the largest int32 comes the smallest one, which validation refuses, as in Go.
        """
        own, tried = node_ports(before), set[int]()

        def next_port() -> int:
            tried.add(port := max(tried, default=_BEFORE_FIRST_DRY_PORT) + 1)
            return port if port < _INT32 else port - 2 * _INT32

        wants = has_node_ports(spec) and spec.get("allocateLoadBalancerNodePorts") is not False
        for index, port in enumerate(spec.get("ports") or ()):
            number = port.get("nodePort")
            if number and number not in own:
                if number in tried or number in self._allocated:
                    yield invalid_value(f"spec.ports[{index}].nodePort", number, "provided port is already allocated")
                tried.add(number)
            elif not number and wants:
                same = (each.get("nodePort") for each in spec["ports"] if each["port"] == port["port"])
                port["nodePort"] = next((each for each in same if each), None) or next_port()
        if has_health_port(spec) and not spec.get("healthCheckNodePort"):
            spec["healthCheckNodePort"] = next_port()

    def _check_port(self, number: int, path: str, *, is_free: bool) -> Iterator[FieldError]:
        for why in self._port_problems(number, is_free=is_free):
            yield invalid_value(path, number, why)

    def _port_problems(self, number: int, *, is_free: bool) -> Iterator[str]:
        if number not in self._ports:
            limits = f"{self._ports.start}-{self._ports.stop - 1}"
            yield f"provided port is not in the valid range. The range of valid ports is {limits}"
        elif not is_free:
            yield "provided port is already allocated"

    def _next_free_port(self, taken: AbstractSet[int] = frozenset()) -> int:
        while True:
            port = self._ports[self._next_port % len(self._ports)]
            self._next_port += 1
            if (port not in self._allocated and port not in taken) or self._next_port > 2 * len(self._ports):
                return port


def _has_host(network: ipaddress.IPv4Network, address: str) -> bool:
    """Return whether a service can have an address of a network: not the first and the last one."""
    parsed = ipaddress.ip_address(address)
    return parsed in network and parsed not in (network.network_address, network.broadcast_address)


def _too_many_for_one_family(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    """Check that a service of one family does not name two addresses or families."""
    if spec["ipFamilyPolicy"] == "SingleStack":
        for key, what in (("clusterIPs", "cluster IPs"), ("ipFamilies", "IP families")):
            if len(spec.get(key) or ()) == 2:
                why = f"must be 'RequireDualStack' or 'PreferDualStack' when multiple {what} are specified"
                yield invalid_value(_POLICY, "SingleStack", why)


def _unknown_families(spec: Mapping[str, JSON]) -> Iterator[FieldError]:
    """Check that the cluster has the families of the addresses that have no entry in `ipFamilies`."""
    addresses, families = spec.get("clusterIPs") or [], spec.get("ipFamilies") or []
    for index, address in enumerate(addresses):
        if index >= len(families) and address != "None" and ipaddress.ip_address(address).version == 6:
            yield invalid_value(f"spec.clusterIPs[{index}]", addresses, "IPv6 is not configured on this cluster")


def _used(data: bytes) -> Iterator[str | int]:
    spec = msgspec.json.decode(data)["spec"]
    yield from (each for each in spec.get("clusterIPs") or () if each != "None")
    yield from node_ports(spec)
    if spec.get("healthCheckNodePort"):
        yield spec["healthCheckNodePort"]


def _ip_address_problem(address: str, service: str) -> str:
    """Return why upstream cannot create the IPAddress of a service, which it does before it validates the service."""
    causes = [*required_name(names.path_segment, service, "spec.parentRef.name")]
    return str(invalid("IPAddress", address, causes, "networking.k8s.io")) if causes else ""


def node_ports(spec: Mapping[str, JSON]) -> set[int]:
    """Return the node ports of a service's ports."""
    return {each["nodePort"] for each in spec.get("ports") or () if each.get("nodePort")}
