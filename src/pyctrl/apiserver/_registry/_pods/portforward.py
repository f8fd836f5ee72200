"""The subresource portforward of pods: connections to the ports of a pod, through the kubelet of its node."""

from __future__ import annotations

from pyctrl.apiserver._errors import Response, bad_request
from pyctrl.apiserver._kubelet import KubeletError
from pyctrl.apiserver._registry._pods.kubelet_connection import KubeletConnections
from pyctrl.apiserver._registry.builtin_resource import RESTContext
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._streaming.portforward import port_forward_response
from pyctrl.apiserver._streaming.spdy import plain_response
from pyctrl.apiserver._streaming.websocket import is_upgrade_request

__all__ = ["PortForwardREST"]


class PortForwardREST:
    """GET and POST of a pod's portforward."""

    def __init__(self, context: RESTContext) -> None:
        self._connections = KubeletConnections(context)

    async def get(self, request: ResourceRequest) -> Response:
        """Upgrade the connection and forward connections. The user must be allowed to create `pods/portforward`."""
        self._connections.check_create(request)
        kubelet = self._connections.kubelet(self._connections.pod(request))
        if not is_upgrade_request(request.headers):
            raise bad_request("Upgrade request required")
        self._connections.log_stream(request)
        target = request.target
        try:
            forward = kubelet.get_port_forward(target.namespace, target.name)
        except KubeletError as refused:
            return plain_response(refused.code, str(refused))
        return port_forward_response(request.headers, request.query.every("ports"), target.name, forward)

    create = get
