"""Admission of pods by the kubelet of a simulated node. No I/O.

The rules are the kubelet's (pkg/kubelet/lifecycle/predicate.go). What the scheduler checks, too, is
not checked for pods that the scheduler of this process has bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import NamedTuple

from pyctrl.cluster._scheduler.pod_info import PodInfo, host_ports_conflict, new_pod_info, quantities
from pyctrl.cluster._taints_and_affinity import matches_node, untolerated_taints
from pyctrl.kinds.core.v1 import Node, Pod

__all__ = ["PodRejection", "find_rejection"]

#: The sysctls that a kubelet allows in pods with namespaces of their own (pkg/kubelet/sysctl/safe_sysctls.go).
_SAFE_SYSCTLS = frozenset(
    (
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ping_group_range",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.tcp_wmem",
    )
)
OS_LABEL = "kubernetes.io/os"
#: Resources in the order of the check, with the reason of a rejection and the scale of numbers in messages.
_RESOURCES = {
    "pods": ("OutOfpods", 1),
    "cpu": ("OutOfcpu", 1000),
    "memory": ("OutOfmemory", 1),
    "ephemeral-storage": ("OutOfephemeral-storage", 1),
}


class PodRejection(NamedTuple):
    """The reason and the message for which a node does not run a pod."""

    reason: str
    message: str


def find_rejection(pod: Pod, node: Node, others: Iterable[Pod] | None) -> PodRejection | None:
    """Return why a node rejects a pod, or None.

    Args:
        pod: the pod.
        node: its node.
        others: the other pods of the node that are not over; None for a pod whose scheduler has checked that it fits.
    """
    return next(_rejections(pod, node, others), None)


def _rejections(pod: Pod, node: Node, others: Iterable[Pod] | None) -> Iterator[PodRejection]:
    """Iterate over all reasons, in the kubelet's order."""
    system, name = node.status.node_info.operating_system, node.metadata.name
    if pod.metadata.labels.get(OS_LABEL, system) != system:
        message = "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label"
        yield PodRejection("PodOSSelectorNodeLabelDoesNotMatch", message)
    if pod.spec.os is not None and pod.spec.os.name != system:
        yield PodRejection("PodOSNotSupported", "Failed to admit pod as the OS field doesn't match node OS")
    yield from _forbidden_sysctls(pod)
    if others is not None:
        yield from _misfits(pod, node, new_pod_info(pod, name), [new_pod_info(each, name) for each in others])


def _forbidden_sysctls(pod: Pod) -> Iterator[PodRejection]:
    context = pod.spec.security_context
    for each in context.sysctls if context is not None else ():
        name = each.name.replace("/", ".")
        namespace, is_shared = ("net", pod.spec.host_network) if name.startswith("net.") else ("ipc", pod.spec.host_ipc)
        why = "not allowlisted" if name not in _SAFE_SYSCTLS else f"not allowed with host {namespace} enabled"
        if name not in _SAFE_SYSCTLS or is_shared:
            yield PodRejection("SysctlForbidden", f'forbidden sysctl: "{name}" {why}')


def _misfits(pod: Pod, node: Node, wanted: PodInfo, others: list[PodInfo]) -> Iterator[PodRejection]:
    yield from _insufficient(wanted, node, others)
    if not matches_node(pod, node):
        yield _failed("NodeAffinity", "node(s) didn't match Pod's node affinity/selector")
    if any(host_ports_conflict(wanted.ports, each.ports) for each in others):
        yield _failed("NodePorts", "node(s) didn't have free ports for the requested pod ports")
    if untolerated_taints(node.spec.taints, pod.spec.tolerations, ("NoExecute",)):
        yield _failed("TaintToleration", "node(s) had taints that the pod didn't tolerate")


def _insufficient(wanted: PodInfo, node: Node, others: list[PodInfo]) -> Iterator[PodRejection]:
    allocatable = quantities(node.status.allocatable)
    for name in (*_RESOURCES, *sorted(wanted.requests.keys() - _RESOURCES.keys())):
        requested = wanted.requests.get(name, Decimal(0))
        used = sum((each.requests.get(name, Decimal(0)) for each in others), Decimal(0))
        if not requested or name not in allocatable or requested + used <= allocatable[name]:
            continue
        reason, scale = _RESOURCES.get(name, (f"OutOf{name}", 1))
        shown = [-int(-each * scale // 1) for each in (requested, used, allocatable[name])]
        numbers = f"requested: {shown[0]}, used: {shown[1]}, capacity: {shown[2]}"
        yield PodRejection(reason, f"Node didn't have enough resource: {name}, {numbers}")


def _failed(predicate: str, why: str) -> PodRejection:
    return PodRejection(predicate, f"Predicate {predicate} failed: {why}")
