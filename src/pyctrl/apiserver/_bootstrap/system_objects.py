"""Objects that every cluster has: system namespaces, the service kubernetes, system priority classes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from pyctrl.apiserver._healthz import NOT_FOUND
from pyctrl.apiserver._request.request import WouldBlock

if TYPE_CHECKING:
    from pyctrl.apiserver._errors import Response

__all__ = ["bootstrap_objects", "create_bootstrap_objects"]

log = logging.getLogger("pyctrl.apiserver")

_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
_SYSTEM_PRIORITIES = {"system-node-critical": 2_000_001_000, "system-cluster-critical": 2_000_000_000}


def create_bootstrap_objects(handle: Callable[..., Response], token: str, kubernetes_service_ip: str) -> None:
    """Create the objects that do not exist, by requests to a server that `handle` answers."""
    headers = {"authorization": f"Bearer {token}"}
    for path, obj in bootstrap_objects(kubernetes_service_ip):
        if handle("GET", f"{path}/{obj['metadata']['name']}", headers=headers).status != NOT_FOUND.status:
            continue
        try:
            handle("POST", path, headers=headers, body=msgspec.json.encode(obj))
        except WouldBlock:  # a webhook of an earlier run, which may not be served yet
            log.warning("Cannot create a default object: a webhook admits it", extra={"path": path})


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
