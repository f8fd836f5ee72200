"""The subresource proxy of pods, services and nodes."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from urllib.parse import unquote

from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._kubelet import KubeletError
from pyctrl.apiserver._proxy.exchange import exchange
from pyctrl.apiserver._proxy.link_rewriter import escaped_path
from pyctrl.apiserver._proxy.round_tripper import OutgoingRequest, RoundTripper
from pyctrl.apiserver._proxy.upgrade_aware_handler import UpgradeAwareHandler
from pyctrl.apiserver._registry._nodes.kubelet_api import KubeletAPI
from pyctrl.apiserver._registry._proxy.forwarded_connection import ForwardedConnection
from pyctrl.apiserver._registry._proxy.locations import ResourceLocation, locate_node, locate_pod, locate_service
from pyctrl.apiserver._registry.builtin_resource import RESTContext
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._storage.storage import Storage

__all__ = ["NodeProxyREST", "PodProxyREST", "ServiceProxyREST"]


class _ProxyREST:
    """The proxy of a kind, for all methods of HTTP that have a verb, and OPTIONS."""

    def __init__(self, context: RESTContext, locate: Callable[[Storage, ResourceRequest], ResourceLocation]) -> None:
        self._context, self._locate = context, locate

    async def get(self, request: ResourceRequest) -> Response:
        """Send a request to the location, and return its response."""
        location = self._locate(self._context.backend.storage, request)
        request.must_wait("the response of a proxy")
        url, query = f"{location.scheme}://{location.address}{_path_below(request)}", request.query.text
        handler = UpgradeAwareHandler(
            location=f"{url}?{query}" if query else url, round_trip=self._round_tripper(request, location)
        )
        return await handler.handle(request)

    create = replace = patch = delete = head = options = get

    def _round_tripper(self, request: ResourceRequest, location: ResourceLocation) -> RoundTripper:
        """Return the transport to a kubelet, or to the port of a pod, whose script speaks plain HTTP."""
        namespace, port = request.target.namespace, location.port or "80"
        kubelet = self._context.kubelets.get(location.node)
        if kubelet is not None and not location.pod:
            return KubeletAPI(kubelet, self._context.backend.storage, location.node)

        async def send(outgoing: OutgoingRequest) -> Response:
            if kubelet is None or location.scheme == "https" or not port.isdecimal():
                raise location.connection_refused()
            try:
                forward = kubelet.get_port_forward(namespace, location.pod)
                return await exchange(ForwardedConnection(forward, int(port)), outgoing)
            except KubeletError:
                raise location.connection_refused() from None

        return send


class PodProxyREST(_ProxyREST):
    """The proxy of pods."""

    def __init__(self, context: RESTContext) -> None:
        super().__init__(context, locate_pod)


class ServiceProxyREST(_ProxyREST):
    """The proxy of services."""

    def __init__(self, context: RESTContext) -> None:
        super().__init__(context, locate_service)


class NodeProxyREST(_ProxyREST):
    """The proxy of nodes: the API of kubelets in this process."""

    def __init__(self, context: RESTContext) -> None:
        super().__init__(context, locate_node)


def _path_below(request: ResourceRequest) -> str:
    """Return the path after the subresource, cleaned as by Go's `path.Join`; "" when the URL ends with it."""
    segments = request.path.split("/")
    below = unquote("/".join(segments[3 + (2 if request.target.namespace else 0) + 3 :]))
    if not below:
        return "/" if request.path.endswith("/") else ""
    path = posixpath.normpath("/" + below.lstrip("/"))
    return escaped_path(path + "/" if below.endswith("/") and path != "/" else path)
