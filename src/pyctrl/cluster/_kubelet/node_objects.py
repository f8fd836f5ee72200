"""Node objects as a kubelet registers them, from a number or from templates."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import NAMESPACE_DNS, uuid5

from pyctrl import _clock
from pyctrl.api import ObjectMeta, Quantity, format_time, owner_reference
from pyctrl.cluster._well_known import NODE_LEASE_NAMESPACE
from pyctrl.kinds.coordination.v1 import Lease, LeaseSpec
from pyctrl.kinds.core.v1 import Node, NodeAddress, NodeCondition, NodeSystemInfo

__all__ = ["CONDITION_TYPES", "LEASE_SECONDS", "STATE", "complete_nodes", "node_conditions", "node_lease"]

STATE = "pyctrl.dev/node"  # the annotation that fails a node: `lost` sends no heartbeats, `not-ready` reports NotReady

#: The default capacity of a node.
CAPACITY = {"cpu": "16", "memory": "64Gi", "ephemeral-storage": "200Gi", "pods": "110"}

LEASE_SECONDS = 40  # nodeLeaseDurationSeconds of the kubelet

KUBELET_VERSION = "v1.36.2"  # the version that is simulated
KUBELET_PORT = 10250
#: The features of a node that API server and scheduler want to know of; those that are enabled by default in 1.36.
DECLARED_FEATURES = (
    "ExtendWebSocketsToKubelet",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScalingInitContainers",
    "RestartAllContainersOnContainerExits",
)
NODE_NETWORK = ipaddress.IPv4Network("192.168.96.0/20")
POD_NETWORK = ipaddress.IPv4Network("10.244.0.0/14")  # a /24 for each of a thousand nodes

_HEALTHY = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
)
_READY = ("Ready", "True", "KubeletReady", "kubelet is posting ready status")
_NOT_READY = ("Ready", "False", "KubeletNotReady", "container runtime network not ready: NetworkReady=false")

#: The conditions that a node reports.
CONDITION_TYPES = tuple(kind for kind, *_ in (*_HEALTHY, _READY))


def complete_nodes(nodes: int | Sequence[Node]) -> list[Node]:
    """Return complete nodes: a number of nodes named node-1 and so on, or templates with defaults filled in.

    Raises:
        ValueError: a number is negative, a template has no name, or two have the same.
    """
    if isinstance(nodes, int):
        if nodes < 0:
            raise ValueError(f"nodes must be a number of nodes or a list of Node objects, got {nodes}")
        nodes = [Node.from_wire({"metadata": {"name": f"node-{number}"}}) for number in range(1, nodes + 1)]
    names = [node.metadata.name for node in nodes]
    if "" in names:
        raise ValueError("a Node template needs a name: Node(metadata=ObjectMeta(name=...))")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"Node templates need different names; more than one is called {', '.join(twice)}")
    return [_complete(node, number) for number, node in enumerate(nodes)]


def _complete(template: Node, number: int) -> Node:
    node = template.deep_copy()
    name = node.metadata.name
    known = {"kubernetes.io/hostname": name}
    for key, value in (("arch", "amd64"), ("os", "linux")):
        known |= {f"kubernetes.io/{key}": value, f"beta.kubernetes.io/{key}": value}
    node.metadata.labels = {**known, **node.metadata.labels}
    node.metadata.annotations = {
        "node.alpha.kubernetes.io/ttl": "0",
        "volumes.kubernetes.io/controller-managed-attach-detach": "true",
        **node.metadata.annotations,
    }
    if not node.spec.pod_cidr:
        node.spec.pod_cidr = f"{POD_NETWORK[256 * number]}/24"
    node.spec.pod_cidrs = node.spec.pod_cidrs or [node.spec.pod_cidr]
    _complete_status(node, number)
    return node


def _complete_status(node: Node, number: int) -> None:
    status, name = node.status, node.metadata.name
    status.capacity = {**{key: Quantity(value) for key, value in CAPACITY.items()}, **status.capacity}
    status.allocatable = {**status.capacity, **status.allocatable}
    if not status.addresses:
        address = str(NODE_NETWORK[2 + number])
        status.addresses = [NodeAddress(type="InternalIP", address=address), NodeAddress(type="Hostname", address=name)]
    status.daemon_endpoints.kubelet_endpoint.port = KUBELET_PORT
    status.conditions = [NodeCondition.from_wire(condition) for condition in node_conditions(is_ready=True)]
    status.declared_features = status.declared_features or list(DECLARED_FEATURES)
    if not status.node_info.kubelet_version:
        status.node_info = _system(name)


def _system(name: str) -> NodeSystemInfo:
    return NodeSystemInfo(
        architecture="amd64",
        boot_id=str(uuid5(NAMESPACE_DNS, f"boot.{name}")),
        container_runtime_version="containerd://2.2.0",
        kernel_version="6.12.0-pretend",
        kube_proxy_version="",
        kubelet_version=KUBELET_VERSION,
        machine_id=uuid5(NAMESPACE_DNS, f"machine.{name}").hex,
        operating_system="linux",
        os_image="Pretend Linux",
        system_uuid=str(uuid5(NAMESPACE_DNS, f"system.{name}")),
    )


def node_conditions(*, is_ready: bool) -> list[dict[str, Any]]:
    """Return the conditions of a ready or a not ready node."""
    now = format_time(_clock.now())
    return [
        {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message,
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
        for kind, status, reason, message in (*_HEALTHY, _READY if is_ready else _NOT_READY)
    ]


def node_lease(node: Node, renewed: datetime) -> Lease:
    """Return the lease of a node, which belongs to the node."""
    name = node.metadata.name
    return Lease(
        metadata=ObjectMeta(name=name, namespace=NODE_LEASE_NAMESPACE, owner_references=[owner_reference(node)]),
        spec=LeaseSpec(holder_identity=name, lease_duration_seconds=LEASE_SECONDS, renew_time=renewed),
    )
