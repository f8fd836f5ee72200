"""Proxied requests: URL, headers, users, and what happens without a response."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from pyctrl._headers import Headers
from pyctrl.apiserver import Peer, ProxyRequest, Response, ServiceReference, Upgrade, User, user_headers
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
    headers: Sequence[tuple[str, str]] = (),
    peer: Peer | None = None,
) -> RequestContext:
    """Return a request as it is after authorization."""
    lowered = Headers(headers).lowered
    context = RequestContext(method, path, QueryParameters(query), lowered, b"x", peer, sent_headers=headers)
    context.target = parse_target(path)
    return context


def switching() -> Response:
    """Return the response to an upgrade."""

    async def serve(_: object) -> None:
        raise AssertionError

    return Response(status=101, body=Upgrade(serve))


async def sent(context: RequestContext, answer: Response | None = None) -> ProxyRequest:
    """Return the request that the extension API server gets."""
    remote = Remote({context.path: answer} if answer else {})
    await ProxyHandler(resolve, remote, {}).handle(API, context, JANE)
    return remote.requests[0]


FORWARDED = [
    ("X-Forwarded-Uri", f"{PATH}/flavors"),
    ("X-Forwarded-Host", "[fd00::1]:443"),
    ("X-Forwarded-Proto", "https"),
]


async def test_the_user_is_in_headers() -> None:
    """Those that the client sends itself are dropped, as are its credentials; other headers may be repeated."""
    theirs = [("X-Remote-User", "root"), ("x-remote-group", "system:masters"), ("X-Remote-Extra-A", "1")]
    credentials = [("Authorization", "Bearer x"), ("Impersonate-User", "root"), ("Impersonate-Extra-A", "1")]
    others = [("Host", "127.0.0.1:6443"), ("Accept", "application/json"), ("X-A", "1"), ("X-A", "2")]
    found = await sent(request(headers=[*theirs, *credentials, *others]))
    assert [*found.headers] == [
        *others[1:],
        *FORWARDED,
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
    headers = [("Connection", "keep-alive, X-B"), ("TE", "x"), ("Content-Length", "1"), ("X-B", "1")]
    found = await sent(request(headers=[*headers, ("X-Forwarded-For", "10.0.0.1")], peer=Peer("10.0.0.2")))
    assert [pair for pair in found.headers if not pair[0].startswith("X-Remote")] == [
        ("X-Forwarded-For", "10.0.0.1, 10.0.0.2"),
        *FORWARDED,
    ]


async def test_an_upgrade_is_passed_on() -> None:
    """The headers of the connection are those of kube-apiserver's proxy."""
    headers = [("Connection", "keep-alive, Upgrade"), ("Upgrade", "websocket")]
    found = await sent(request(headers=headers), switching())
    assert found.is_upgrade
    assert [*found.headers][:2] == headers
    assert not (await sent(request(headers=headers[1:]))).is_upgrade


async def test_a_response_that_is_no_upgrade_is_an_error() -> None:
    """A refusal of the upgrade is passed on, any other response is 503."""
    context = request(headers=[("Connection", "Upgrade"), ("Upgrade", "websocket")])
    path = f"{PATH}/flavors"
    refusing, ignoring = (Remote({path: Response(status=status, body=b"no")}) for status in (403, 200))
    found = await ProxyHandler(resolve, refusing, {}).handle(API, context, JANE)
    assert (found.status, found.body) == (403, b"no")
    found = await ProxyHandler(resolve, ignoring, {}).handle(API, context, JANE)
    assert (found.status, found.body) == (503, b"invalid upgrade response: status code 200\n")


async def test_redirects_are_not_passed_on() -> None:
    """An extension API server must not send clients elsewhere: 502, as with --aggregator-reject-forwarding-redirect."""
    moved = Response(status=307, headers=[("Location", "https://elsewhere/")])
    found = await ProxyHandler(resolve, Remote({f"{PATH}/flavors": moved}), {}).handle(API, request(), JANE)
    assert found.status == 502
    assert found.body == b"the backend attempted to redirect this request, which is not permitted"


async def test_headers_of_responses_may_be_repeated() -> None:
    """Those of the connection, and of cross-origin requests, are dropped."""
    kept = [("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]
    answer = Response(status=200, headers=[("Keep-Alive", "1"), *kept, ("Access-Control-Allow-Origin", "*")])
    found = await ProxyHandler(resolve, Remote({f"{PATH}/flavors": answer}), {}).handle(API, request(), JANE)
    assert [*found.headers] == kept


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
    """A server that does not answer makes the request fail with 504, discovery after 5 seconds with 503."""

    async def silent(request: ProxyRequest) -> Response:
        await asyncio.Event().wait()
        raise AssertionError

    started = asyncio.get_running_loop().time()
    with pytest.raises(StatusError, match="did not complete within the allotted timeout") as caught:
        await ProxyHandler(resolve, silent, {}).handle(API, request(), JANE)
    assert (caught.value.code, asyncio.get_running_loop().time() - started) == (504, 60)
    found = await ProxyHandler(resolve, silent, {}).handle(API, request(PATH), JANE)
    assert (found.status, asyncio.get_running_loop().time() - started) == (503, 65)
    assert found.body == b"error trying to reach service: context deadline exceeded\n"


async def test_a_transport_that_fails_makes_the_service_unreachable(caplog: pytest.LogCaptureFixture) -> None:
    """The error of a function in this process is logged, and the client gets 503."""

    async def fail(request: ProxyRequest) -> Response:
        raise LookupError("bug")

    found = await ProxyHandler(resolve, fail, {}).handle(API, request(), JANE)
    assert (found.status, found.body) == (503, b"error trying to reach service: LookupError: bug\n")
    assert "LookupError: bug" in caplog.text
