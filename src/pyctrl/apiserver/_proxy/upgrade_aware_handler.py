"""Proxy of one request, as apimachinery's UpgradeAwareHandler: headers, redirects, errors and upgrades."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Protocol
from urllib.parse import unquote, urlsplit

from pyctrl.apiserver._errors import Response, StatusError, Upgrade, status_error, unknown_error
from pyctrl.apiserver._proxy.link_rewriter import LinkRewriter
from pyctrl.apiserver._proxy.round_tripper import BrokenResponse, OutgoingRequest, RoundTripper, ServiceUnreachable
from pyctrl.apiserver._request.request import QueryParameters
from pyctrl.apiserver._streaming.websocket import is_upgrade_request

__all__ = ["UpgradeAwareHandler"]

# Headers of one connection, which net/http/httputil.ReverseProxy does not pass on.
_HOP_BY_HOP = frozenset(
    (
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    )
)
# What this server adds itself, and the credentials of the client.
_REPLACED = frozenset(("authorization", "content-length", "expect", "x-forwarded-for"))
_OF_USERS = ("impersonate-", "x-remote-")
_CORS = frozenset(f"access-control-allow-{each}" for each in ("credentials", "headers", "methods", "origin"))
_OWN = frozenset(("audit-id", "date"))  # headers that this server adds to every response


class ProxiedRequest(Protocol):
    """The request of a client."""

    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def query(self) -> QueryParameters: ...
    @property
    def headers(self) -> Mapping[str, str]: ...
    @property
    def sent_headers(self) -> Sequence[tuple[str, str]]: ...
    @property
    def body(self) -> bytes: ...
    @property
    def address(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeAwareHandler:
    """Proxies requests to one location.

    Attributes:
        location: The URL, without a path for the root of the server.
        round_trip: Sends the requests.
        is_streaming: Whether the body of a response is passed on as it arrives.
        headers: Added to the requests.
        uses_location_host: Whether requests have the host of the location. Otherwise they have that of the client, and
            the server is not told where the client reaches it.
        rejects_redirects: Whether a redirect is answered with 502.
    """

    location: str
    round_trip: RoundTripper
    is_streaming: bool = True
    headers: Sequence[tuple[str, str]] = ()
    uses_location_host: bool = False
    rejects_redirects: bool = False

    async def handle(self, request: ProxiedRequest) -> Response:
        """Return the response of the server.

        Raises:
            StatusError: 503, there is no response; 500, there is none to an upgrade, or it is not one.
        """
        url, is_upgrade = urlsplit(self.location), is_upgrade_request(request.headers)
        if not is_upgrade and not url.path and request.method in ("GET", "HEAD"):
            query = request.query.text
            target = f"{request.path}/?{query}" if query else f"{request.path}/"
            return Response(status=HTTPStatus.MOVED_PERMANENTLY, headers=(("Location", target),))
        links = self._links(request)
        headers = [*_forwarded(request, is_upgrade=is_upgrade, keeps_host=not self.uses_location_host)]
        if not is_upgrade:
            headers += links.headers(url.path)
        sent = OutgoingRequest(
            method=request.method,
            url=self.location,
            headers=[*headers, *self.headers],
            body=request.body,
            is_streaming=self.is_streaming,
            is_upgrade=is_upgrade,
        )
        response = _without_connection(await self._send(sent))
        if is_upgrade:
            return response
        if self.rejects_redirects and _is_redirect(response):
            why = b"the backend attempted to redirect this request, which is not permitted"
            return Response(status=HTTPStatus.BAD_GATEWAY, headers=(), body=why, is_verbatim=True)
        return await links.rewritten(response)

    async def _send(self, request: OutgoingRequest) -> Response:
        try:
            response = await self.round_trip(request)
        except (ServiceUnreachable, OSError) as error:
            raise _unreachable(error, is_upgrade=request.is_upgrade) from None
        if request.is_upgrade and not isinstance(response.body, Upgrade) and response.status < HTTPStatus.BAD_REQUEST:
            raise unknown_error(f"invalid upgrade response: status code {response.status}")
        return response

    def _links(self, request: ProxiedRequest) -> LinkRewriter:
        url, path = urlsplit(self.location), unquote(request.path)
        if self.uses_location_host:
            return LinkRewriter(prefix="", scheme=url.scheme, host=url.netloc, hosts=(url.netloc,))
        prefix = path.removesuffix(unquote(url.path))
        return LinkRewriter(prefix=prefix, scheme="", host="", hosts=(url.netloc, request.headers.get("host", "")))


def _forwarded(request: ProxiedRequest, *, is_upgrade: bool, keeps_host: bool) -> Iterator[tuple[str, str]]:
    """Yield the headers of the client's request that the server gets. Those of an upgrade include the connection's."""
    dropped = _REPLACED if is_upgrade else _REPLACED | _HOP_BY_HOP | _named(request.headers) | {"x-forwarded-uri"}
    if not keeps_host:
        dropped |= {"host", "x-forwarded-host", "x-forwarded-proto"}
    if not is_upgrade and "trailers" in request.headers.get("te", ""):
        yield "Te", "trailers"
    for name, value in request.sent_headers:
        lowered = name.lower()
        if lowered not in dropped and not lowered.startswith(_OF_USERS):
            yield name, value
    before = [value for name, value in request.sent_headers if name.lower() == "x-forwarded-for"]
    if chain := ", ".join(filter(None, (*before, request.address))):
        yield "X-Forwarded-For", chain


def _named(headers: Mapping[str, str]) -> frozenset[str]:
    """Return the headers that belong to the connection because its header Connection says so."""
    return frozenset(each.strip().lower() for each in headers.get("connection", "").split(","))


def _without_connection(response: Response) -> Response:
    """Return a response without the headers of its connection, which after an upgrade is that of the client."""
    dropped = _OWN if isinstance(response.body, Upgrade) else _OWN | _HOP_BY_HOP | _CORS
    if isinstance(response.body, bytes):
        dropped |= {"content-length"} if response.body else set()
    headers = [(name, value) for name, value in response.headers if name.lower() not in dropped]
    return replace(response, headers=headers, is_verbatim=True)


def _is_redirect(response: Response) -> bool:
    return 300 <= response.status < 400 and any(
        name.lower() == "location" and value for name, value in response.headers
    )


def _unreachable(error: Exception, *, is_upgrade: bool) -> StatusError:
    if is_upgrade and isinstance(error, BrokenResponse):
        return unknown_error("unexpected EOF" if str(error) == "EOF" else str(error))
    if is_upgrade:
        return unknown_error(f"error dialing backend: {error}")
    return status_error(503, "ServiceUnavailable", f"error trying to reach service: {error}")
