"""The built-in kinds beside workloads and volumes: services, configuration, networking, scaling."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping

from . import _names as names
from ._answers import Cause, duplicate, field_forbidden, invalid_value, required, unsupported
from ._builtins_strategy import Object, fill
from ._schema import JSON

_ACCOUNT = "kubernetes.io/service-account.name"
_SECRET_KEYS = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}
_DATA_LIMIT = 1024 * 1024  # bytes of a ConfigMap's or Secret's values together


# -- namespaces ------------------------------------------------------------------------------------------------


def complete_namespace(new: Object, old: Object | None) -> None:
    """A namespace is held by the `kubernetes` finalizer of its spec, and carries its name as a label."""
    if old is None:
        finalizers = new["spec"].setdefault("finalizers", [])
        if "kubernetes" not in finalizers:
            finalizers.append("kubernetes")
        new["status"] = {"phase": "Active"}
    new["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = new["metadata"].get("name", "")


# -- services --------------------------------------------------------------------------------------------------


def default_service(obj: Object) -> None:
    """Cluster-internal, no affinity; a port targets its own number."""
    spec = obj["spec"]
    fill(spec, sessionAffinity="None", type="ClusterIP")
    if spec["sessionAffinity"] == "ClientIP":
        fill(spec, sessionAffinityConfig={"clientIP": {"timeoutSeconds": 10800}})
    for port in spec.get("ports") or ():
        fill(port, protocol="TCP")
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port["port"]
    if spec["type"] in ("NodePort", "LoadBalancer"):
        fill(spec, externalTrafficPolicy="Cluster")
    if spec["type"] == "LoadBalancer":
        fill(spec, allocateLoadBalancerNodePorts=True)
    if spec["type"] != "ExternalName":
        fill(spec, internalTrafficPolicy="Cluster")


class ServiceAllocator:
    """Hands out cluster addresses and node ports, each once until the range is used up.

    Addresses go up from the bottom of the range and are not given again before all others were: what a deleted service
    had stays unused as long as possible, as with kube-apiserver's random choice.
    """

    def __init__(self, network: str = "10.0.0.0/24", ports: range = range(30000, 32768)) -> None:
        self._network = ipaddress.ip_network(network)
        self._ports = ports
        self._next_address = 10  # the first ones are kept for well-known services: kubernetes, DNS
        self._next_port = 0

    def __call__(self, new: Object, old: Object | None) -> None:
        """Complete a service: keep what it has, give what it lacks."""
        spec = new["spec"]
        before = old["spec"] if old is not None else {}
        if spec["type"] == "ExternalName":
            for key in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
                spec.pop(key, None)
            return
        self._address(spec, before)
        if spec["type"] in ("NodePort", "LoadBalancer"):
            self._node_ports(spec, before)

    def _address(self, spec: Object, before: Mapping[str, JSON]) -> None:
        for key in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"):
            if spec.get(key) is None and before.get(key) is not None:
                spec[key] = before[key]
        fill(spec, clusterIP=(spec.get("clusterIPs") or [""])[0] or self._take_address())
        fill(spec, clusterIPs=[spec["clusterIP"]])
        if spec["clusterIP"] == "None" and not spec.get("selector"):
            fill(spec, ipFamilies=["IPv4", "IPv6"], ipFamilyPolicy="RequireDualStack")
        fill(spec, ipFamilies=["IPv4"], ipFamilyPolicy="SingleStack")

    def _take_address(self) -> str:
        usable = self._network.num_addresses - 2
        offset = 1 + self._next_address % usable
        self._next_address += 1
        return str(self._network[offset])

    def _node_ports(self, spec: Object, before: Mapping[str, JSON]) -> None:
        known = {(each.get("name", ""), each["port"], each["protocol"]): each for each in before.get("ports") or ()}
        for port in spec.get("ports") or ():
            if not port.get("nodePort"):
                earlier = known.get((port.get("name", ""), port["port"], port["protocol"])) or {}
                port["nodePort"] = earlier.get("nodePort") or self._take_port()

    def _take_port(self) -> int:
        port = self._ports[self._next_port % len(self._ports)]
        self._next_port += 1
        return port


def validate_service(new: Object, old: Object | None) -> Iterator[Cause]:
    """Check a service's ports and that its address stays."""
    spec = new["spec"]
    ports = spec.get("ports") or []
    is_headless = spec.get("clusterIP") == "None"
    if not ports and not is_headless and spec["type"] != "ExternalName":
        yield required("spec.ports")
    seen: set[str] = set()
    for index, port in enumerate(ports):
        path = f"spec.ports[{index}]"
        name = port.get("name", "")
        if not name and len(ports) > 1:
            yield required(f"{path}.name")
        elif name:
            yield from (invalid_value(f"{path}.name", name, why) for why in names.label(name))
            if name in seen:
                yield duplicate(f"{path}.name", name)
            seen.add(name)
        if not 1 <= port.get("port", 0) <= 65535:
            yield invalid_value(f"{path}.port", port.get("port", 0), "must be between 1 and 65535, inclusive")
    kinds = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
    if spec["type"] not in kinds:
        yield unsupported("spec.type", spec["type"], kinds)
    before = old["spec"].get("clusterIP") if old is not None and spec["type"] != "ExternalName" else None
    if before and spec.get("clusterIP") != before:
        yield invalid_value("spec.clusterIPs[0]", spec.get("clusterIPs"), "may not change once set")


# -- configuration ---------------------------------------------------------------------------------------------


def default_secret(obj: Object) -> None:
    """Opaque; `stringData` is only another way to write `data`, and is never read back."""
    import base64

    fill(obj, type="Opaque")
    for key, text in (obj.pop("stringData", None) or {}).items():
        data = obj.get("data") or {}
        obj["data"] = {**data, key: base64.b64encode(text.encode()).decode()}


def validate_config(new: Object, old: Object | None) -> Iterator[Cause]:
    """Check the keys and size of a ConfigMap or Secret, and that an immutable one stays as it is."""
    size = 0
    for part in ("data", "binaryData"):
        for key, value in (new.get(part) or {}).items():
            yield from (invalid_value(f"{part}[{key}]", key, why) for why in names.config_key(key))
            size += len(value)
    for key in sorted((new.get("data") or {}).keys() & (new.get("binaryData") or {}).keys()):
        yield invalid_value(f"data[{key}]", key, "duplicate of key present in binaryData")
    if size > _DATA_LIMIT:
        yield Cause("FieldValueTooLong", f"Too long: may not be more than {_DATA_LIMIT} bytes", "[]")
    if old is not None and old.get("immutable"):
        if not new.get("immutable"):
            yield field_forbidden("immutable", "field is immutable when `immutable` is set")
        for part in ("data", "binaryData"):
            if new.get(part) != old.get(part):
                yield field_forbidden(part, "field is immutable when `immutable` is set")


def validate_secret(new: Object, old: Object | None) -> Iterator[Cause]:
    """A secret has what its type asks for, and keeps its type."""
    yield from validate_config(new, old)
    data, annotations = new.get("data") or {}, new["metadata"].get("annotations") or {}
    if new.get("type") == "kubernetes.io/service-account-token" and not annotations.get(_ACCOUNT):
        yield required(f"metadata.annotations[{_ACCOUNT}]")
    yield from (required(f"data[{key}]") for key in _SECRET_KEYS.get(new.get("type", ""), ()) if key not in data)
    if new.get("type") == "kubernetes.io/basic-auth" and not data.keys() & {"username", "password"}:
        yield from (required("data[username]"), required("data[password]"))
    if old is not None and new.get("type") != old.get("type"):
        yield invalid_value("type", new.get("type"), "field is immutable")


# -- networking, scaling, disruption ---------------------------------------------------------------------------


def default_network_policy(obj: Object) -> None:
    """Ports are TCP; a policy is about incoming traffic, and about outgoing when it has rules for it."""
    spec = obj["spec"]
    for rule in (*(spec.get("ingress") or ()), *(spec.get("egress") or ())):
        for port in rule.get("ports") or ():
            fill(port, protocol="TCP")
    fill(spec, policyTypes=["Ingress", "Egress"] if spec.get("egress") else ["Ingress"])


def default_autoscaler(obj: Object) -> None:
    """At least one replica, and in v2 at 80 % of the requested CPU."""
    spec = obj["spec"]
    fill(spec, minReplicas=1)
    if obj["apiVersion"] == "autoscaling/v1":
        return
    target = {"type": "Utilization", "averageUtilization": 80}
    fill(spec, metrics=[{"type": "Resource", "resource": {"name": "cpu", "target": target}}])


def default_priority_class(obj: Object) -> None:
    """A class preempts lower ones."""
    fill(obj, preemptionPolicy="PreemptLowerPriority")


def default_endpoints(obj: Object) -> None:
    """Ports are TCP."""
    for subset in obj.get("subsets") or ():
        for port in subset.get("ports") or ():
            fill(port, protocol="TCP")


def default_endpoint_slice(obj: Object) -> None:
    """Ports have a name, maybe empty, and are TCP."""
    for port in obj.get("ports") or ():
        port.setdefault("name", "")
        fill(port, protocol="TCP")
