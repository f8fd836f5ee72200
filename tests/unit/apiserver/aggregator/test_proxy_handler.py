"""Proxied requests: URL, headers, users, and what happens without a response."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from pyctrl._headers import Headers
from pyctrl.apiserver import Peer, ProxyRequest, Response, ServiceReference, User, user_headers
from pyctrl.apiserver._aggregator.api_service import APIService
from pyctrl.apiserver._aggregator.proxy_handler import ProxyHandler
from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._request.request import QueryParameters, parse_target
from pyctrl.apiserver._request.request_context import RequestContext
from pyctrl.apiserver._webhooks import WebhookUnreachable
from tests.unit.apiserver.aggregator._remote import PATH, Remote, api_service

JANE = User(name="jane", uid="7", groups=("dev", "system:authenticated"), extra={"a.b/C d": ("x", "y")})
AVAILABLE = {"status": {"conditions": [{"type": "Available", "status": "True"}]}}
API = APIService.from_object({**api_service(caBundle="Y2E="), **AVAILABLE})


def resolve(reference: ServiceReference) -> tuple[str, int]:
    """Resolve every service to an IPv6 address."""
    return "fd00::1", reference.port


def request(
    path: str = f"{PATH}/flavors",
    *,
    method: str = "GET",
    query: Sequence[tuple[str, str]] = (),
    headers: dict[str, str] | None = None,
    peer: Peer | None = None,
) -> RequestContext:
    """Return a request as it is after authorization."""
    context = RequestContext(method, path, QueryParameters(query), Headers((headers or {}).items()).lowered, b"x", peer)
    context.target = parse_target(path)
    return context


async def sent(context: RequestContext) -> ProxyRequest:
    """Return the request that the extension API server gets."""
    remote = Remote()
    await ProxyHandler(resolve, remote, {}).handle(API, context, JANE)
    return remote.requests[0]


async def test_the_user_is_in_headers() -> None:
    """Those that the client sends itself are dropped, as are its credentials."""
    theirs = {"X-Remote-User": "root", "x-remote-group": "system:masters", "X-Remote-Extra-A": "1"}
    credentials = {"Authorization": "Bearer x", "Impersonate-User": "root", "Impersonate-Extra-A": "1"}
    found = await sent(request(headers={**theirs, **credentials, "Accept": "application/json"}))
    assert [*found.headers] == [
        ("accept", "application/json"),
        ("X-Remote-User", "jane"),
        ("X-Remote-Uid", "7"),
        ("X-Remote-Group", "dev"),
        ("X-Remote-Group", "system:authenticated"),
        ("X-Remote-Extra-a.b%2FC%20d", "x"),
        ("X-Remote-Extra-a.b%2FC%20d", "y"),
    ]
    assert [*user_headers(User(name="a"))] == [("X-Remote-User", "a")]


async def test_the_url_is_that_of_the_service() -> None:
    """The query is sorted by names, as Go encodes it."""
    found = await sent(request(f"{PATH}/flavors/a%2Fb", query=[("b", "1 2"), ("a", "x"), ("b", "0")]))
    assert found.url == f"https://[fd00::1]:443{PATH}/flavors/a%2Fb?a=x&b=1+2&b=0"
    assert (found.method, found.body, found.ca, found.skips_tls_verify) == ("GET", b"x", b"ca", False)
    assert found.service == ServiceReference("default", "flavors", 443)


async def test_headers_of_the_connection_are_not_passed_on() -> None:
    """The address of the client is added to X-Forwarded-For."""
    headers = {"Connection": "keep-alive", "TE": "trailers", "Content-Length": "1", "X-Forwarded-For": "10.0.0.1"}
    found = await sent(request(headers=headers, peer=Peer("10.0.0.2")))
    assert [pair for pair in found.headers if not pair[0].startswith("X-Remote")] == [
        ("X-Forwarded-For", "10.0.0.1, 10.0.0.2")
    ]


async def test_an_upgrade_is_passed_on() -> None:
    """The headers of the connection are those of kube-apiserver's proxy."""
    found = await sent(request(headers={"Connection": "keep-alive, Upgrade", "Upgrade": "websocket"}))
    assert found.is_upgrade
    assert [*found.headers][:2] == [("Connection", "Upgrade"), ("Upgrade", "websocket")]
    assert not (await sent(request(headers={"Upgrade": "websocket"}))).is_upgrade


@pytest.mark.parametrize(
    ("path", "query", "is_streaming"),
    [
        (f"{PATH}/flavors", (), False),
        (f"{PATH}/flavors", (("watch", "1"),), True),
        (f"{PATH}/watch/flavors", (), True),
        (f"{PATH}/flavors/a/log", (), True),
        (f"{PATH}/flavors/a/status", (), False),
        (PATH, (), False),
    ],
)
async def test_watches_and_logs_are_streams(path: str, query: Sequence[tuple[str, str]], is_streaming: bool) -> None:
    """Their responses have no end."""
    assert (await sent(request(path, query=query))).is_streaming is is_streaming


async def test_a_host_in_this_process_has_its_own_transport() -> None:
    """Requests to other hosts are sent over the network."""
    network, here = Remote(), Remote()
    await ProxyHandler(resolve, network, {"fd00::1": here}).handle(API, request(), JANE)
    assert (len(network.requests), len(here.requests)) == (0, 1)


async def test_without_an_endpoint_the_service_is_unavailable() -> None:
    """The reason is in the condition of the APIService."""

    def fail(reference: ServiceReference) -> tuple[str, int]:
        raise WebhookUnreachable("no endpoints")

    found = await ProxyHandler(fail, Remote(), {}).handle(API, request(), JANE)
    assert (found.status, found.body) == (503, b"service unavailable\n")


async def test_a_request_has_a_minute() -> None:
    """A server that does not answer makes the request fail with 504."""

    async def silent(request: ProxyRequest) -> Response:
        await asyncio.Event().wait()
        raise AssertionError

    started = asyncio.get_running_loop().time()
    with pytest.raises(StatusError, match="did not complete within the allotted timeout") as caught:
        await ProxyHandler(resolve, silent, {}).handle(API, request(), JANE)
    assert (caught.value.code, asyncio.get_running_loop().time() - started) == (504, 60)


async def test_a_transport_that_fails_makes_the_service_unreachable(caplog: pytest.LogCaptureFixture) -> None:
    """The error of a function in this process is logged, and the client gets 503."""

    async def fail(request: ProxyRequest) -> Response:
        raise LookupError("bug")

    found = await ProxyHandler(resolve, fail, {}).handle(API, request(), JANE)
    assert (found.status, found.body) == (503, b"error trying to reach service: LookupError: bug\n")
    assert "LookupError: bug" in caplog.text
