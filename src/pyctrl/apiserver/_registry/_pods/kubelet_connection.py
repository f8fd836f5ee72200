"""Connections to the kubelets of pods, their addresses, and the errors of nodes whose kubelet is not simulated."""

from __future__ import annotations

import logging
from typing import Any

from pyctrl.api import Access
from pyctrl.apiserver._authz import access_forbidden
from pyctrl.apiserver._errors import StatusError, bad_request, not_found, unknown_error
from pyctrl.apiserver._kubelet import KubeletServer
from pyctrl.apiserver._registry.builtin_resource import RESTContext
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._storage.storage import Storage

__all__ = ["KubeletConnections", "dial_error", "kubelet_address"]

log = logging.getLogger("pyctrl.apiserver")

KUBELET_PORT = 10250
# As of kube-apiserver's --kubelet-preferred-address-types.
_PREFERRED = ("Hostname", "InternalDNS", "InternalIP", "ExternalDNS", "ExternalIP")


class KubeletConnections:
    """Finds the kubelets of pods, and checks who may use them."""

    def __init__(self, context: RESTContext) -> None:
        self._backend, self._kubelets = context.backend, context.kubelets

    def check_create(self, request: ResourceRequest) -> None:
        """Raise 403 unless the user may create the subresource: since 1.35, `get` does not allow a WebSocket."""
        target, user = request.target, request.user
        if user.is_administrator:
            return
        create = Access(
            "create", target.group, target.resource, target.subresource, namespace=target.namespace, name=target.name
        )
        decision = self._backend.authorizer.decide(user, create)
        if not decision.is_allowed:
            raise access_forbidden(create, user, decision.reason)

    def log_stream(self, request: ResourceRequest, **facts: object) -> None:
        """Log who opens a stream to a pod."""
        target = request.target
        names = {"subresource": target.subresource, "namespace": target.namespace, "pod": target.name}
        log.info("Opening stream to pod", extra={"user": request.user.name, **names, **facts})

    def pod(self, request: ResourceRequest) -> dict[str, Any]:
        """Return the pod of a request."""
        pod: dict[str, Any] = self._backend.live(request).read(request.resource)
        return pod

    def kubelet(self, pod: dict[str, Any]) -> KubeletServer:
        """Return the kubelet of a pod's node.

        Raises:
            StatusError: The pod has no node, or nothing listens at its address because it is not simulated.
        """
        node = pod["spec"].get("nodeName")
        if not node:
            raise bad_request(f"pod {pod['metadata']['name']} does not have a host assigned")
        kubelet = self._kubelets.get(node)
        if kubelet is None:
            raise dial_error(kubelet_address(self._backend.storage, node), "error dialing backend: ")
        return kubelet


def kubelet_address(storage: Storage, node: str) -> str:
    """Return host and port of the kubelet of a node.

    Raises:
        StatusError: The node does not exist, or has no address.
    """
    stored = storage.collection("", "nodes").find("", node)
    if stored is None:
        raise not_found("pods", node)  # as upstream, which takes it for an error about the resource of the request
    status: dict[str, Any] = stored.decode().get("status") or {}
    addresses = {each["type"]: each["address"] for each in reversed(status.get("addresses") or ())}
    host = next((addresses[kind] for kind in _PREFERRED if addresses.get(kind)), "")
    if not host:
        raise unknown_error("no preferred addresses found; known addresses: []")
    port = ((status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}).get("Port") or KUBELET_PORT
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def dial_error(address: str, prefix: str) -> StatusError:
    """Return the error of an address at which nothing listens."""
    return unknown_error(f"{prefix}dial tcp {address}: connect: connection refused")
