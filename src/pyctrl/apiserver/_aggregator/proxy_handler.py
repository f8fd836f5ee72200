"""Proxy of requests to extension API servers, as kube-aggregator's handler_proxy.go."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping
from urllib.parse import quote, urlencode, urlsplit

from pyctrl.apiserver._aggregator.api_service import APIService
from pyctrl.apiserver._aggregator.service_transport import ProxyRequest, ServiceTransport, ServiceUnreachable
from pyctrl.apiserver._errors import Response, status_error
from pyctrl.apiserver._request.request_context import RequestContext
from pyctrl.apiserver._user import User
from pyctrl.apiserver._webhooks import ServiceReference, ServiceResolver, WebhookUnreachable

__all__ = ["ProxyHandler", "user_headers"]

log = logging.getLogger("pyctrl.apiserver")

REQUEST_SECONDS = 60.0  # of a request that is not long-running; kube-apiserver's --request-timeout

_TEXT = (("Content-Type", "text/plain; charset=utf-8"),)
_SUBRESOURCES = frozenset(("attach", "exec", "log", "portforward", "proxy"))  # that are long-running
# Headers of one connection or of this server, and the credentials of the client.
_DROPPED = frozenset(
    (
        "authorization",
        "connection",
        "content-length",
        "expect",
        "keep-alive",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)
_REMOTE, _IMPERSONATE = "x-remote-", "impersonate-"
_OWN = frozenset(("audit-id", "date"))  # headers that this server adds to every response
_IN_NAMES = "!#$&'*+.^_`|~-"  # besides letters and digits, what the name of a header may contain, but "%"


class ProxyHandler:
    """Proxies requests to the service of an APIService.

    Args:
        resolve: Returns host and port of a service.
        transport: Sends the requests.
        in_process: Sends the requests to some hosts, by name, instead.
    """

    def __init__(
        self, resolve: ServiceResolver, transport: ServiceTransport, in_process: Mapping[str, ServiceTransport]
    ) -> None:
        self._resolve, self._transport, self._in_process = resolve, transport, in_process

    def locate(self, service: ServiceReference) -> str:
        """Return scheme, host and port of a service.

        Raises:
            WebhookUnreachable: The service has no endpoint.
        """
        host, port = self._resolve(service)
        return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"

    async def handle(self, api: APIService, context: RequestContext, user: User) -> Response:
        """Return the response of the service, or 503 when it is not available."""
        assert api.service is not None
        context.must_wait("an extension API server")
        if not api.is_available:
            return _unavailable("service unavailable")
        try:
            location = self.locate(api.service)
        except WebhookUnreachable:
            return _unavailable("service unavailable")
        is_upgrade = "upgrade" in context.headers.get("connection", "").lower()
        request = ProxyRequest(
            method=context.method,
            url=_url(location, context),
            headers=[*_forwarded(context, is_upgrade=is_upgrade), *user_headers(user)],
            body=context.body,
            service=api.service,
            ca=api.ca,
            skips_tls_verify=api.skips_tls_verify,
            is_streaming=_is_long_running(context),
            is_upgrade=is_upgrade,
        )
        try:
            async with asyncio.timeout(REQUEST_SECONDS):
                response = await self._send(request)
        except TimeoutError:
            message = "Timeout: request did not complete within the allotted timeout"
            raise status_error(504, "Timeout", message, {}) from None
        except (ServiceUnreachable, OSError) as error:
            return _unavailable(f"error trying to reach service: {error}")
        headers = [(name, value) for name, value in response.headers if name.lower() not in _OWN]
        return Response(status=response.status, headers=headers, body=response.body, is_verbatim=True)

    async def fetch(self, api: APIService, path: str, user: User, headers: dict[str, str]) -> Response:
        """GET a path of an extension API server for the aggregator itself.

        Raises:
            WebhookUnreachable: The service has no endpoint.
            ServiceUnreachable: There is no response. An OSError means the same.
        """
        assert api.service is not None
        return await self._send(
            ProxyRequest(
                method="GET",
                url=self.locate(api.service) + path,
                headers=[*headers.items(), *user_headers(user)],
                body=b"",
                service=api.service,
                ca=api.ca,
                skips_tls_verify=api.skips_tls_verify,
            )
        )

    async def _send(self, request: ProxyRequest) -> Response:
        transport = self._in_process.get(urlsplit(request.url).hostname or "", self._transport)
        try:
            return await transport(request)
        except (ServiceUnreachable, OSError):
            raise
        except Exception as error:
            log.exception("Request to extension API server failed", extra={"url": request.url})
            raise ServiceUnreachable(f"{type(error).__name__}: {error}") from None


def user_headers(user: User) -> Iterator[tuple[str, str]]:
    """Yield the headers by which a proxy tells an extension API server the user of a request."""
    yield "X-Remote-User", user.name
    if user.uid:
        yield "X-Remote-Uid", user.uid
    for group in user.groups:
        yield "X-Remote-Group", group
    for key, values in user.extra.items():
        for value in values:
            yield f"X-Remote-Extra-{quote(key, safe=_IN_NAMES)}", value


def _forwarded(context: RequestContext, *, is_upgrade: bool) -> Iterator[tuple[str, str]]:
    """Yield the headers of the client's request that the service gets."""
    if is_upgrade:
        yield "Connection", "Upgrade"
        yield "Upgrade", context.headers.get("upgrade", "")
    for name, value in context.headers.items():
        if name not in _DROPPED and not name.startswith((_REMOTE, _IMPERSONATE)) and name != "x-forwarded-for":
            yield name, value
    before = context.headers.get("x-forwarded-for", "")
    address = context.peer.address if context.peer is not None else ""
    if chain := ", ".join(filter(None, (before, address))):
        yield "X-Forwarded-For", chain


def _url(location: str, context: RequestContext) -> str:
    query = urlencode(sorted(context.query, key=lambda pair: pair[0]))
    return f"{location}{context.path}?{query}" if query else f"{location}{context.path}"


def _is_long_running(context: RequestContext) -> bool:
    target = context.target
    if target is None:
        return False
    return target.subresource in _SUBRESOURCES or target.verb(context.method, context.query.first) == "watch"


def _unavailable(message: str) -> Response:
    return Response(status=503, headers=_TEXT, body=f"{message}\n".encode())
