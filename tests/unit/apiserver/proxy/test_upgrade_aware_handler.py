"""Proxied requests: their headers, and what happens without a response."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pyctrl._headers import Headers
from pyctrl.apiserver import Peer, Response, ServiceUnreachable
from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._proxy.round_tripper import BrokenResponse, OutgoingRequest
from pyctrl.apiserver._proxy.upgrade_aware_handler import UpgradeAwareHandler
from pyctrl.apiserver._request.request import ParsedQuery, QueryParameters
from pyctrl.apiserver._request.request_context import RequestContext

PROXY = "/api/v1/namespaces/default/pods/p/proxy"
UPGRADE = [("Connection", "Upgrade"), ("Upgrade", "echo")]


class Backend:
    """A transport that returns one response, or raises an error, and keeps the requests."""

    def __init__(self, answer: Response | Exception) -> None:
        self._answer = answer
        self.requests: list[OutgoingRequest] = []

    async def __call__(self, request: OutgoingRequest) -> Response:
        """Return the response."""
        self.requests.append(request)
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def request(path: str, headers: Sequence[tuple[str, str]] = (), *, query: str = "") -> RequestContext:
    """Return the request of a client at 10.0.0.2."""
    parameters, lowered = QueryParameters(ParsedQuery(query, ())), Headers(headers).lowered
    return RequestContext("GET", path, parameters, lowered, b"", Peer("10.0.0.2"), sent_headers=headers)


def handler(backend: Backend, location: str = "http://10.0.0.1:80/a", **options: Any) -> UpgradeAwareHandler:
    """Return a proxy of a backend."""
    return UpgradeAwareHandler(location=location, round_trip=backend, **options)


async def test_headers_of_the_connection_are_not_passed_on() -> None:
    """Neither side gets those of the other. Other headers may be repeated; X-Forwarded-Host has the client's host."""
    kept = [("Host", "127.0.0.1:8001"), ("X-A", "1"), ("X-A", "2")]
    dropped = [
        ("Connection", "keep-alive, X-B"),
        ("X-B", "1"),
        ("Authorization", "Bearer x"),
        ("X-Forwarded-For", "a"),
        ("TE", "gzip"),
    ]
    kept += [("X-Forwarded-Host", "h")]
    answer = [("Set-Cookie", "a"), ("Set-Cookie", "b"), ("Keep-Alive", "1"), ("Access-Control-Allow-Origin", "*")]
    backend = Backend(Response(status=200, headers=answer, body=b"{}"))
    found = await handler(backend, headers=[("X-Own", "1")]).handle(request(f"{PROXY}/a", [*kept, *dropped]))
    forwarded = [("X-Forwarded-For", "a, 10.0.0.2"), ("X-Forwarded-Uri", f"{PROXY}/a"), ("X-Own", "1")]
    assert [*backend.requests[0].headers] == [*kept, *forwarded]
    assert [*found.headers] == answer[:2]
    assert found.is_verbatim


async def test_the_root_ends_with_a_slash() -> None:
    """A client is redirected there, with its query as it has written it."""
    found = await handler(Backend(Response(status=200)), "http://10.0.0.1:80").handle(request(PROXY, query="a&b=%20"))
    assert (found.status, [*found.headers]) == (301, [("Location", f"{PROXY}/?a&b=%20")])


@pytest.mark.parametrize(
    ("headers", "answer", "code", "why"),
    [
        ([], ServiceUnreachable("EOF"), 503, "error trying to reach service: EOF"),
        ([], ConnectionResetError("gone"), 503, "error trying to reach service: gone"),
        (UPGRADE, ServiceUnreachable("dial tcp"), 500, "error dialing backend: dial tcp"),
        (UPGRADE, BrokenResponse("EOF"), 500, "unexpected EOF"),
        (UPGRADE, Response(status=302), 500, "invalid upgrade response: status code 302"),
    ],
)
async def test_what_cannot_be_reached(
    headers: Sequence[tuple[str, str]], answer: Response | Exception, code: int, why: str
) -> None:
    """The error is 503, that of an upgrade 500."""
    with pytest.raises(StatusError) as caught:
        await handler(Backend(answer)).handle(request(f"{PROXY}/a", headers))
    assert (caught.value.code, str(caught.value)) == (code, why)


async def test_a_refused_upgrade_is_passed_on() -> None:
    """The request has the headers of its connection."""
    backend = Backend(Response(status=403, headers=[("X-A", "1")], body=b"no"))
    found = await handler(backend).handle(request(f"{PROXY}/a", UPGRADE))
    assert (found.status, [*found.headers], found.body) == (403, [("X-A", "1")], b"no")
    assert [*backend.requests[0].headers] == [*UPGRADE, ("X-Forwarded-For", "10.0.0.2")]
    assert backend.requests[0].is_upgrade


async def test_redirects_are_rewritten_or_rejected() -> None:
    """A link to the server leads below the proxy."""
    backend = Backend(Response(status=302, headers=[("Location", "http://10.0.0.1:80/b")]))
    found = await handler(backend).handle(request(f"{PROXY}/a"))
    assert [*found.headers] == [("Location", f"{PROXY}/b")]
    assert (await handler(backend, rejects_redirects=True).handle(request(f"{PROXY}/a"))).status == 502
