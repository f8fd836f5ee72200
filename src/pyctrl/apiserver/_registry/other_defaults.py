"""The built-in kinds beside workloads, volumes, services and configuration: namespaces, networking, scaling."""

from __future__ import annotations

from pyctrl.apiserver._registry.strategy import Object
from pyctrl.apiserver._schema.defaulting import set_defaults

# -- namespaces ------------------------------------------------------------------------------------------------


def prepare_namespace(new: Object, old: Object | None) -> None:
    """A namespace is held by the `kubernetes` finalizer of its spec, and carries its name as a label."""
    if old is None:
        finalizers = new["spec"].setdefault("finalizers", [])
        if "kubernetes" not in finalizers:
            finalizers.append("kubernetes")
        new["status"] = {"phase": "Active"}
    new["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = new["metadata"].get("name", "")


# -- networking, scaling, disruption ---------------------------------------------------------------------------


def default_network_policy(obj: Object) -> None:
    """Ports are TCP; a policy is about incoming traffic, and about outgoing when it has rules for it."""
    spec = obj["spec"]
    for rule in (*(spec.get("ingress") or ()), *(spec.get("egress") or ())):
        for port in rule.get("ports") or ():
            set_defaults(port, protocol="TCP")
    set_defaults(spec, policyTypes=["Ingress", "Egress"] if spec.get("egress") else ["Ingress"])


def default_autoscaler(obj: Object) -> None:
    """At least one replica, and in v2 at 80 % of the requested CPU."""
    spec = obj["spec"]
    set_defaults(spec, minReplicas=1)
    if obj["apiVersion"] == "autoscaling/v1":
        return
    target = {"type": "Utilization", "averageUtilization": 80}
    set_defaults(spec, metrics=[{"type": "Resource", "resource": {"name": "cpu", "target": target}}])


def default_priority_class(obj: Object) -> None:
    """A class preempts lower ones."""
    set_defaults(obj, preemptionPolicy="PreemptLowerPriority")


def default_endpoints(obj: Object) -> None:
    """Ports are TCP."""
    for subset in obj.get("subsets") or ():
        for port in subset.get("ports") or ():
            set_defaults(port, protocol="TCP")


def default_endpoint_slice(obj: Object) -> None:
    """Ports have a name, maybe empty, and are TCP."""
    for port in obj.get("ports") or ():
        port.setdefault("name", "")
        set_defaults(port, protocol="TCP")
