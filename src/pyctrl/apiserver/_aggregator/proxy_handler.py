"""Proxy of requests to extension API servers, as kube-aggregator's handler_proxy.go."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Mapping
from dataclasses import fields
from urllib.parse import quote, urlencode, urlsplit

from pyctrl.apiserver._aggregator.api_service import APIService
from pyctrl.apiserver._aggregator.service_transport import ProxyRequest, ServiceTransport, ServiceUnreachable
from pyctrl.apiserver._errors import Response, StatusError, status_error
from pyctrl.apiserver._proxy.round_tripper import OutgoingRequest
from pyctrl.apiserver._proxy.upgrade_aware_handler import UpgradeAwareHandler
from pyctrl.apiserver._request.request_context import RequestContext, is_long_running
from pyctrl.apiserver._user import User
from pyctrl.apiserver._webhooks import ServiceReference, ServiceResolver, WebhookUnreachable

__all__ = ["ProxyHandler", "user_headers"]

log = logging.getLogger("pyctrl.apiserver")

REQUEST_SECONDS = 60.0  # of a request that is not long-running; kube-apiserver's --request-timeout
DISCOVERY_SECONDS = 5.0  # of a request for the resources of a group version; kube-aggregator's limit

_TEXT = (("Content-Type", "text/plain; charset=utf-8"),)
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
        depth = 3 if api.group else 2  # /apis/GROUP/VERSION, /api/v1
        is_discovery = len(context.path.strip("/").split("/")) <= depth
        handler = UpgradeAwareHandler(
            location=_url(location, context),
            round_trip=lambda request: self._send(_addressed(request, api)),
            is_streaming=is_long_running(context),
            headers=[*user_headers(user)],
            uses_location_host=True,
            rejects_redirects=True,
        )
        try:
            async with asyncio.timeout(DISCOVERY_SECONDS if is_discovery else REQUEST_SECONDS):
                return await handler.handle(context)
        except TimeoutError:
            if is_discovery:
                return _unavailable("error trying to reach service: context deadline exceeded")
            message = "Timeout: request did not complete within the allotted timeout"
            raise status_error(504, "Timeout", message, {}) from None
        except StatusError as error:
            return _unavailable(str(error))

    async def fetch(self, api: APIService, location: str, path: str, user: User, headers: dict[str, str]) -> Response:
        """GET a path of an extension API server for the aggregator itself.

        Args:
            location: Where its service is, as from `locate`.

        Raises:
            ServiceUnreachable: There is no response. An OSError means the same.
        """
        sent = [*headers.items(), *user_headers(user)]
        return await self._send(
            _addressed(OutgoingRequest(method="GET", url=location + path, headers=sent, body=b""), api)
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


def _addressed(request: OutgoingRequest, api: APIService) -> ProxyRequest:
    """Return a request with the service of an APIService."""
    assert api.service is not None
    own = {each.name: getattr(request, each.name) for each in fields(OutgoingRequest)}
    return ProxyRequest(**own, service=api.service, ca=api.ca, skips_tls_verify=api.skips_tls_verify)


def _url(location: str, context: RequestContext) -> str:
    query = urlencode(sorted(context.query, key=lambda pair: pair[0]))
    return f"{location}{context.path}?{query}" if query else f"{location}{context.path}"


def _unavailable(message: str) -> Response:
    return Response(status=503, headers=_TEXT, body=f"{message}\n".encode())
