"""Objects that every cluster has: system namespaces, the service kubernetes, system priority classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["bootstrap_objects"]

_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
_SYSTEM_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


def bootstrap_objects(kubernetes_service_ip: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the collection path and the body of each object, in the order of creation."""
    for name in _NAMESPACES:
        yield "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    yield "/api/v1/namespaces/default/services", _kubernetes_service(kubernetes_service_ip)
    for priority, value in _SYSTEM_PRIORITIES.items():
        yield "/apis/scheduling.k8s.io/v1/priorityclasses", _priority_class(priority, value)


def _kubernetes_service(address: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kubernetes", "labels": {"component": "apiserver", "provider": "kubernetes"}},
        "spec": {
            "clusterIP": address,
            "clusterIPs": [address],
            "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443}],
            "type": "ClusterIP",
        },
    }


def _priority_class(name: str, value: int) -> dict[str, Any]:
    return {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": name},
        "value": value,
        "description": "For pods without which a cluster does not work.",
    }
