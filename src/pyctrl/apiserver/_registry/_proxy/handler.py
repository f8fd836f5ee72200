"""The subresource proxy of pods, services and nodes (upstream UpgradeAwareHandler): sends on requests."""

from __future__ import annotations

import asyncio
import posixpath
from collections.abc import Callable, Iterator
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from pyctrl._pipes import Pipe
from pyctrl.apiserver._errors import Response, bad_request, status_error
from pyctrl.apiserver._kubelet import KubeletError
from pyctrl.apiserver._registry._proxy.http_exchange import HttpAnswer, MalformedAnswer, exchange
from pyctrl.apiserver._registry._proxy.locations import (
    ResourceLocation,
    locate_node,
    locate_pod,
    locate_service,
    service_unavailable,
)
from pyctrl.apiserver._registry.builtin_resource import RESTContext
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._storage.storage import Storage

__all__ = ["NodeProxyREST", "PodProxyREST", "ServiceProxyREST"]

REQUEST_SECONDS = 60.0  # of a request; kube-apiserver's --request-timeout

# Headers of one connection, and the credentials of the client, which authentication and impersonation have removed.
_DROPPED = frozenset(
    (
        "authorization",
        "connection",
        "content-length",
        "expect",
        "host",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)


class _ProxyREST:
    """The proxy of a kind, for all methods of HTTP that have a verb, and OPTIONS."""

    def __init__(self, context: RESTContext, locate: Callable[[Storage, ResourceRequest], ResourceLocation]) -> None:
        self._context, self._locate = context, locate

    async def get(self, request: ResourceRequest) -> Response:
        """Send a request to the location, and return its response."""
        location = self._locate(self._context.backend.storage, request)
        if request.headers.get("upgrade"):
            raise bad_request("the proxy of pyctrl does not upgrade connections; use portforward")
        path = _path_below(request)
        if not path and request.method in ("GET", "HEAD"):
            query = urlencode(list(request.query))
            target = f"{request.path}/?{query}" if query else f"{request.path}/"
            return Response(status=301, headers=(("Location", target),))
        request.must_wait("the response of a pod")
        answer = await self._send(request, location, path)
        return Response(status=answer.status, headers=list(_returned(request, location, answer)), body=answer.body)

    create = replace = patch = delete = head = options = get

    async def _send(self, request: ResourceRequest, location: ResourceLocation, path: str) -> HttpAnswer:
        refused = service_unavailable(
            f"error trying to reach service: dial tcp {location.address}: connect: connection refused"
        )
        kubelet = self._context.kubelets.get(location.node)
        if kubelet is None or location.scheme == "https" or not (location.port or "80").isdecimal():
            raise refused  # functions and addresses of scripts speak plain HTTP
        port = int(location.port or "80")
        try:
            forward = kubelet.get_port_forward(request.target.namespace, location.pod)

            async def connect(received: Pipe, sent: Pipe) -> None:
                await forward(port, received, sent)

            async with asyncio.timeout(REQUEST_SECONDS):
                return await exchange(connect, request.method, _encoded(request, location, path))
        except KubeletError:
            raise refused from None
        except MalformedAnswer as error:
            raise service_unavailable(f"error trying to reach service: {error}") from None
        except TimeoutError:
            message = "Timeout: request did not complete within the allotted timeout"
            raise status_error(504, "Timeout", message, {}) from None


class PodProxyREST(_ProxyREST):
    """The proxy of pods."""

    def __init__(self, context: RESTContext) -> None:
        super().__init__(context, locate_pod)


class ServiceProxyREST(_ProxyREST):
    """The proxy of services."""

    def __init__(self, context: RESTContext) -> None:
        super().__init__(context, locate_service)


class NodeProxyREST(_ProxyREST):
    """The proxy of nodes. The kubelets of simulated nodes have no HTTP server."""

    def __init__(self, context: RESTContext) -> None:
        super().__init__(context, locate_node)


def _path_below(request: ResourceRequest) -> str:
    """Return the path after the subresource; "" when the URL ends with it."""
    return request.path[len(_prefix(request)) :]


def _prefix(request: ResourceRequest) -> str:
    """Return the path of the request up to the subresource, as the client has written it."""
    segments = request.path.split("/")
    return "/".join(segments[: 3 + (2 if request.target.namespace else 0) + 3])


def _encoded(request: ResourceRequest, location: ResourceLocation, path: str) -> bytes:
    query = urlencode(list(request.query))
    lines = [f"{request.method} {path or '/'}{'?' + query if query else ''} HTTP/1.1"]
    host = request.headers.get("host") or location.address
    lines += [f"Host: {host}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in _forwarded(request, path)]
    if request.body or request.method in ("POST", "PUT", "PATCH"):
        lines.append(f"Content-Length: {len(request.body)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape") + request.body


def _forwarded(request: ResourceRequest, path: str) -> Iterator[tuple[str, str]]:
    for name, value in request.headers.items():
        if name not in _DROPPED and not name.startswith("impersonate-") and value.isprintable():
            yield name, value
    yield "X-Forwarded-Uri", _prefix(request) + path


def _returned(request: ResourceRequest, location: ResourceLocation, answer: HttpAnswer) -> Iterator[tuple[str, str]]:
    for name, value in answer.headers:
        if name.lower() == "location":
            yield name, _rewritten(request, location, value)
        elif name.lower() not in _DROPPED:
            yield name, value


def _rewritten(request: ResourceRequest, location: ResourceLocation, target: str) -> str:
    """Return the URL of a redirect as clients of the proxy reach it."""
    url, prefix = urlsplit(target), _prefix(request)
    is_elsewhere = url.netloc and url.netloc not in (location.address, request.headers.get("host"))
    if is_elsewhere or not url.path.startswith("/"):
        return target
    if url.netloc != request.headers.get("host"):
        url = url._replace(scheme="", netloc="")
    if not url.path.startswith(prefix):
        joined = posixpath.normpath(prefix + url.path)
        url = url._replace(path=quote(joined, safe="/%:@!$&'()*+,;=~") + ("/" if url.path.endswith("/") else ""))
    return urlunsplit(url)
