"""Connections from the API server to the kubelet of a pod's node, for the subresources that need one."""

from __future__ import annotations

from typing import Any

from pyctrl.api import Access
from pyctrl.apiserver._authz import access_forbidden
from pyctrl.apiserver._errors import StatusError, bad_request, internal_error, not_found, unknown_error
from pyctrl.apiserver._kubelet import KubeletServer
from pyctrl.apiserver._registry.builtin_resource import RESTContext
from pyctrl.apiserver._request.request import ResourceRequest

__all__ = ["KubeletConnections"]

KUBELET_PORT = 10250


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
            raise self._unreachable(node)
        return kubelet

    def _unreachable(self, node: str) -> StatusError:
        """Return the error of a node whose kubelet is not simulated: nothing listens at its address."""
        stored = self._backend.storage.collection("", "nodes").find("", node)
        if stored is None:
            return not_found("nodes", node)
        status: dict[str, Any] = stored.decode().get("status") or {}
        address = next((each["address"] for each in status.get("addresses") or () if each.get("address")), "")
        if not address:
            return internal_error("no preferred addresses found; known addresses: []")
        port = ((status.get("daemonEndpoints") or {}).get("kubeletEndpoint") or {}).get("Port") or KUBELET_PORT
        return unknown_error(f"error dialing backend: dial tcp {address}:{port}: connect: connection refused")
