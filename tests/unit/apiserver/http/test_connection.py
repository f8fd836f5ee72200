"""Connections: HTTP/1.1, and the responses of kube-apiserver below its API."""

from __future__ import annotations

import gzip
import json
from collections.abc import AsyncIterator

import pytest

from pyctrl.apiserver import serve
from tests.unit.apiserver._kit import CONFIGMAPS, Asker
from tests.unit.apiserver._raw import Raw, connected

pytestmark = pytest.mark.real_time  # sockets

NAMESPACE = "/api/v1/namespaces/default"
WATCH = f"{CONFIGMAPS}?watch=1"


@pytest.fixture
async def raw(ask: Asker) -> AsyncIterator[Raw]:
    async with serve(ask.server) as url, connected(url) as client:
        yield client


async def test_every_answer_has_kube_apiservers_headers(raw: Raw) -> None:
    """Every response has an Audit-Id (the request's, if any) and Cache-Control, and text has nosniff."""
    told = await raw.ask("GET", NAMESPACE)
    assert {"audit-id", "date", "content-length"} < told.headers.keys()
    assert told.headers["cache-control"] == "no-cache, private"
    assert told.body.endswith(b"}\n")

    assert (await raw.ask("GET", NAMESPACE, "Audit-ID: mine")).headers["audit-id"] == "mine"
    assert (await raw.ask("GET", "/nosuch")).headers["x-content-type-options"] == "nosniff"


async def test_one_connection_serves_many_requests_in_their_order(raw: Raw) -> None:
    """Pipelined requests are answered in order."""
    await raw.send("GET /livez HTTP/1.1\nHost: localhost\n\nGET /nosuch HTTP/1.1\nHost: localhost\n\n")
    assert [(await raw.told()).status, (await raw.told()).status] == [200, 404]

    closing = await raw.ask("GET", "/livez", "Connection: close")
    assert (closing.headers["connection"], await raw.is_closed()) == ("close", True)


@pytest.mark.parametrize(("line", "kept"), [("", False), ("Connection: keep-alive\n", True)])
async def test_http_1_0_is_spoken(raw: Raw, line: str, kept: bool) -> None:
    """HTTP/1.0 works, with keep-alive on request."""
    await raw.send(f"GET /livez HTTP/1.0\n{line}\n")
    told = await raw.told()
    assert (told.status, told.body, told.headers.get("connection")) == (200, b"ok", "keep-alive" if kept else None)
    if kept:
        assert (await raw.ask("GET", "/livez")).status == 200
    else:
        assert await raw.is_closed()


async def test_a_stream_for_http_1_0_ends_with_its_connection(raw: Raw, ask: Asker) -> None:
    """Without chunked encoding the end of a watch closes the connection."""
    ask.make("a")
    await raw.send(f"GET {WATCH}&timeoutSeconds=1 HTTP/1.0\n\n")
    told = await raw.told()
    assert json.loads(told.body)["type"] == "ADDED"


async def test_head_has_the_headers_and_no_body(raw: Raw) -> None:
    """HEAD has the Content-Length and no body; objects have no HEAD."""
    health, namespace = await raw.ask("HEAD", "/livez"), await raw.ask("HEAD", NAMESPACE)
    assert (health.status, health.headers["content-length"]) == (200, "2")
    assert namespace.status == 405
    assert (await raw.ask("GET", "/livez")).body == b"ok"


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "CONNECT", "FOO", "get"])
async def test_methods_that_mean_nothing_here(raw: Raw, method: str) -> None:
    """Any other method is 405 with a Status, and does not close the connection."""
    told = await raw.ask(method, NAMESPACE)
    assert (told.status, json.loads(told.body)["reason"]) == (405, "MethodNotAllowed")
    assert (await raw.ask("OPTIONS", "*")).status == 200


@pytest.mark.parametrize(
    ("path", "status", "is_object"),
    [
        (f"{NAMESPACE}/", 200, True),
        (f"/{NAMESPACE}", 404, False),
        ("/api/v1//namespaces/default", 404, True),
        ("/api/v1/../v1/namespaces/default", 404, True),
        (f"{NAMESPACE}%2Fx", 404, True),
        ("/api/v1/namespaces/def%61ult", 200, True),
        (f"http://elsewhere{NAMESPACE}", 200, True),
        (f"{NAMESPACE}/a/b/c/d/e", 404, True),
        ("/nosuch", 404, False),
        ("/apis/no.such/v1/things", 404, False),
    ],
)
async def test_paths_are_taken_as_they_are(raw: Raw, path: str, status: int, is_object: bool) -> None:
    """A path is not normalized except for a trailing slash; below a served version 404 is a Status."""
    told = await raw.ask("GET", path)
    assert (told.status, told.headers["content-type"] == "application/json") == (status, is_object)


async def test_a_bad_head_is_told_and_ends_the_connection(raw: Raw) -> None:
    """A malformed request is 400 in one line of text."""
    await raw.send("hello\n\n")
    told = await raw.told()
    assert (told.status, told.headers["connection"], told.body) == (400, "close", b"400 Bad Request")


async def test_a_head_that_does_not_end_is_refused(raw: Raw) -> None:
    """Headers over one mebibyte are 431."""
    await raw.send("GET /livez HTTP/1.1\nHost: localhost\nA: " + "x" * 1_100_000)
    assert (await raw.told()).status == 431


async def test_a_client_that_waits_to_be_asked_for_its_body_is_asked(raw: Raw) -> None:
    """`Expect: 100-continue` is answered before the body is read, as curl needs it."""
    await raw.send(f"POST {CONFIGMAPS} HTTP/1.1\nHost: localhost\nExpect: 100-continue\nContent-Length: 25\n\n")
    assert (await raw.told()).status == 100
    await raw.send('{"metadata":{"name":"a"}}')
    assert (await raw.told()).status == 201


async def test_a_body_in_chunks(raw: Raw) -> None:
    """A chunked body works, and the next request follows it."""
    await raw.send(f"POST {CONFIGMAPS} HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\n")
    await raw.send('c\n{"metadata":\n')
    await raw.send('d\n{"name":"a"}}\n0\n\n')
    assert (await raw.told()).status == 201
    assert (await raw.ask("GET", f"{CONFIGMAPS}/a")).status == 200


async def test_bad_chunks_are_told_and_end_the_connection(raw: Raw) -> None:
    """A request whose end is unknown gets kube-apiserver's response, and the connection closes."""
    await raw.send(f"POST {CONFIGMAPS} HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\nzz\n")
    told = await raw.told()
    assert (told.status, json.loads(told.body)["message"]) == (500, "invalid byte in chunk length")
    assert await raw.is_closed()


@pytest.mark.parametrize("line", ["Content-Length: 100000000", "Transfer-Encoding: chunked"])
async def test_a_client_that_sends_too_much_can_read_why(raw: Raw, line: str) -> None:
    """A body of 100 MB is refused at its first bytes, and the client, although still sending, reads the response."""
    await raw.send(f"POST {CONFIGMAPS} HTTP/1.1\nHost: localhost\n{line}\n\n")
    if "chunked" in line:
        await raw.send("5f5e100\n")
    for _ in range(64):
        await raw.send(bytes(1 << 16))
    told = await raw.told()
    assert (told.status, told.headers["connection"]) == (413, "close")
    assert json.loads(told.body)["message"] == "Request entity too large: limit is 3145728"


@pytest.mark.parametrize(("accept", "is_zipped"), [("gzip", True), ("br, gzip;q=1", True), ("identity", False)])
async def test_large_answers_are_compressed_for_who_can_take_it(
    raw: Raw, ask: Asker, accept: str, is_zipped: bool
) -> None:
    """From 128 KiB on responses are compressed for `Accept-Encoding: gzip`."""
    ask.make("a", data={"large": "x" * 200_000})
    small = await raw.ask("GET", NAMESPACE, f"Accept-Encoding: {accept}")
    large = await raw.ask("GET", f"{CONFIGMAPS}/a", f"Accept-Encoding: {accept}")
    assert "content-encoding" not in small.headers
    assert (large.headers.get("content-encoding") == "gzip") is is_zipped
    content = gzip.decompress(large.body) if is_zipped else large.body
    assert len(json.loads(content)["data"]["large"]) == 200_000


@pytest.mark.parametrize(
    ("query", "agent", "has_lines"),
    [
        ("", "kubectl/v1.36", False),
        ("", "curl/8", True),
        ("?pretty=true", "kubectl/v1.36", True),
        ("?pretty=0", "curl/8", False),
    ],
)
async def test_people_get_lines(raw: Raw, query: str, agent: str, has_lines: bool) -> None:
    """curl, browsers and requests with `pretty` get indented objects."""
    told = await raw.ask("GET", NAMESPACE + query, f"User-Agent: {agent}")
    assert told.body.startswith(b'{\n  "kind": "Namespace"') is has_lines


async def test_events_are_sent_as_they_happen_and_the_connection_goes_on(raw: Raw, ask: Asker) -> None:
    """Each event of a watch is sent at once; after the watch, the server answers the next request."""
    await raw.send(f"GET {WATCH}&timeoutSeconds=1 HTTP/1.1\nHost: localhost\n\n")
    head = await raw.reader.readuntil(b"\r\n\r\n")
    assert b"Transfer-Encoding: chunked" in head
    chunks = raw.chunks()
    for name in ("a", "b"):
        ask.make(name)
        assert json.loads(await anext(chunks))["object"]["metadata"]["name"] == name
    assert [chunk async for chunk in chunks] == []
    assert (await raw.ask("GET", "/livez")).status == 200


async def test_who_has_said_all_still_gets_the_answer(raw: Raw) -> None:
    """A client that half-closes after the request gets the response; a watch ends then."""
    await raw.send("GET /livez HTTP/1.1\nHost: localhost\n\n")
    raw.writer.write_eof()
    assert (await raw.told()).body == b"ok"
    assert await raw.is_closed()
