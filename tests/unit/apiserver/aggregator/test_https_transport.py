"""Requests to extension API servers over HTTPS."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

import pytest

from pyctrl._pipes import PipeConnection
from pyctrl.apiserver import ServiceReference, ServiceUnreachable, Upgrade
from pyctrl.apiserver._aggregator.https_transport import HttpsTransport
from tests.unit.apiserver.aggregator._https import (
    CHUNKS,
    CLUSTER,
    HELLO,
    NAME,
    Conversation,
    answering,
    client_pair,
    proxied,
    serving,
)
from tests.unit.client._authority import Authority

pytestmark = pytest.mark.real_time  # sockets

PAIR = client_pair()
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/x\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"

transport = HttpsTransport(lambda: PAIR)


async def test_requests_and_responses_are_passed_on() -> None:
    """Repeated headers stay, and the client certificate is that of the aggregator."""
    heads: list[str] = []
    names: list[str] = []

    async def script(head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(head + (await reader.readexactly(3)).decode())
        names.append(str(writer.get_extra_info("peercert")["subject"]))
        writer.write(OK)
        await writer.drain()

    async with serving(script) as port:
        found = await transport(proxied(port, method="PATCH", body=b"{1}"))
    assert (found.status, dict(found.headers)["Content-Type"], found.body) == (200, "text/x", b"ok")
    lines = heads[0].split("\r\n")
    assert lines[0] == "PATCH /apis/x/v1/flavors?a=1 HTTP/1.1"
    assert {"Accept: application/json", "X-Remote-Group: a", "X-Remote-Group: b", "{1}"} <= set(lines)
    assert not any(line.startswith(("User-Agent", "Accept-Encoding", "Content-Type")) for line in lines)
    assert "front-proxy-client" in names[0]


async def test_a_compressed_response_stays_compressed() -> None:
    """The client has requested it."""
    body = b"\x1f\x8bnot really"
    answer = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    async with serving(answering(answer)) as port:
        found = await transport(proxied(port))
    assert (found.body, dict(found.headers)["Content-Encoding"]) == (body, "gzip")


async def test_a_redirect_is_not_followed() -> None:
    """The client gets it."""
    async with serving(answering(b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n")) as port:
        assert (await transport(proxied(port))).status == 302


async def test_a_stream_is_read_while_it_is_sent() -> None:
    """Each event arrives when it was written. An early end of the connection ends that of the client."""
    more = asyncio.Event()

    async def script(head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        await writer.drain()
        await more.wait()
        writer.write(b"1\r\nb\r\n")
        await writer.drain()

    async with serving(script) as port:
        found = await transport(proxied(port, is_streaming=True))
        assert not isinstance(found.body, bytes)
        assert await anext(found.body) == b"a"  # type: ignore[arg-type]
        more.set()
        assert await anext(found.body) == b"b"  # type: ignore[arg-type]
        with pytest.raises(ConnectionError):
            await anext(found.body)  # type: ignore[arg-type]


async def test_a_stream_that_is_closed_closes_the_connection() -> None:
    """A client that disconnects ends the watch of the extension API server."""
    ended = asyncio.Event()

    async def script(head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n")
        await writer.drain()
        await reader.read()
        ended.set()

    async with serving(script) as port:
        found = await transport(proxied(port, is_streaming=True))
        assert await anext(found.body) == b"a"  # type: ignore[arg-type]
        await found.body.aclose()  # type: ignore[union-attr]
        await ended.wait()


async def test_a_connection_can_be_upgraded() -> None:
    """Bytes pass in both directions until the client leaves."""
    client, other = PipeConnection.pair()

    async def script(head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\r\n")
        while data := await reader.read(100):
            writer.write(data.upper())

    async with serving(script) as port, asyncio.TaskGroup() as tasks:
        found = await transport(proxied(port, is_upgrade=True))
        assert isinstance(found.body, Upgrade)
        tasks.create_task(found.body.serve(other))  # type: ignore[arg-type]
        await client.write(b"abc")
        assert await client.read() == b"ABC"
        client.close()


@pytest.mark.parametrize(
    ("issued", "changes", "why"),
    [
        (CLUSTER.server(NAME), {"ca": Authority("other").pem}, "x509: certificate signed by unknown authority"),
        (CLUSTER.server("elsewhere"), {}, "x509: certificate is not valid for the name of the service"),
    ],
    ids=["authority", "name"],
)
async def test_the_certificate_must_be_that_of_the_service(issued: object, changes: dict[str, bytes], why: str) -> None:
    """Its authority must be in the bundle, and its name be that of the service in the cluster."""
    async with serving(answering(OK), tls=CLUSTER.server_context(issued=issued)) as port:  # type: ignore[arg-type]
        with pytest.raises(ServiceUnreachable, match=why):
            await transport(proxied(port, **changes))
        assert (await transport(proxied(port, ca=b"", skips_tls_verify=True))).status == 200


async def test_a_bundle_may_be_the_certificate_itself() -> None:
    """As in Go, any certificate of the bundle is a root."""
    issued = CLUSTER.server(NAME)
    async with serving(answering(OK), tls=CLUSTER.server_context(issued=issued)) as port:
        assert (await transport(proxied(port, ca=issued.certificate))).status == 200


async def test_failures_have_the_words_of_go() -> None:
    """They are in the 503 that the client gets."""
    async with serving(answering()) as port:
        with pytest.raises(ServiceUnreachable, match=r"^EOF$"):
            await transport(proxied(port))
    why = rf"^dial tcp 127.0.0.1:{port}: connect: connection refused$"
    with pytest.raises(ServiceUnreachable, match=why):
        await transport(proxied(port))
    with pytest.raises(ServiceUnreachable, match="no such host"):
        await transport(proxied(port, url=f"https://flavors.invalid:{port}/"))


async def test_a_server_without_tls_is_refused() -> None:
    """APIServices are served over HTTPS only."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        with pytest.raises(ServiceUnreachable):
            await transport(proxied(server.sockets[0].getsockname()[1]))


async def test_without_a_bundle_the_authorities_of_the_system_are_trusted() -> None:
    """A certificate of a test is not among them; without a client certificate none is sent."""
    certificates: list[object] = []

    async def script(head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        certificates.append(writer.get_extra_info("peercert"))
        writer.write(OK)
        await writer.drain()

    async with serving(script) as port:
        with pytest.raises(ServiceUnreachable, match="unknown authority"):
            await transport(proxied(port, ca=b""))
        await HttpsTransport(lambda: None)(proxied(port))
    assert certificates in ([None], [{}])
    assert ssl.HAS_TLSv1_3


async def test_requests_share_a_connection() -> None:
    """A connection is kept after a whole response, by length or in chunks, and does not ask the server to close it."""
    keeping, script = HttpsTransport(lambda: PAIR), Conversation(HELLO, CHUNKS)
    async with serving(script) as port:
        with keeping.keeping_connections():
            found = [(await keeping(proxied(port))).body for _ in range(3)]
    assert (found, script.connections) == ([b"ok"] * 3, 1)
    assert not any("Connection: close" in head for head in script.heads)


async def test_connections_are_for_one_request_at_a_time() -> None:
    """Requests at the same time have a connection each."""
    keeping, script = HttpsTransport(lambda: PAIR), Conversation()
    async with serving(script) as port:
        with keeping.keeping_connections():
            await asyncio.gather(*(keeping(proxied(port)) for _ in range(3)))
            await asyncio.gather(*(keeping(proxied(port)) for _ in range(3)))
    assert (script.connections, len(script.heads)) == (3, 6)


@pytest.mark.parametrize(
    "changes",
    [
        {"skips_tls_verify": True},
        {"ca": CLUSTER.pem + b"\n"},
        {"service": ServiceReference("other", "flavors", 443)},
    ],
)
async def test_connections_are_shared_with_the_same_trust_only(changes: dict[str, Any]) -> None:
    """A request with another authority, name or check of the certificate has a connection of its own."""
    keeping, script = HttpsTransport(lambda: PAIR), Conversation()
    async with serving(script, tls=CLUSTER.server_context(NAME, "flavors.other.svc")) as port:
        with keeping.keeping_connections():
            await keeping(proxied(port))
            await keeping(proxied(port, **changes))
    assert script.connections == 2


@pytest.mark.parametrize(
    "answer",
    [
        OK,
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        HELLO + b"more",
    ],
)
async def test_a_connection_that_cannot_continue_is_closed(answer: bytes) -> None:
    """The header Connection, HTTP/1.0 and bytes after the response end a connection."""
    keeping, script = HttpsTransport(lambda: PAIR), Conversation(answer)
    async with serving(script) as port:
        with keeping.keeping_connections():
            assert [(await keeping(proxied(port))).body for _ in range(2)] == [b"ok", b"ok"]
    assert script.connections == 2


async def test_a_request_is_sent_again_if_its_connection_was_closed() -> None:
    """A server may close an idle connection at any time; a GET does not notice it."""
    keeping, script = HttpsTransport(lambda: PAIR), Conversation(requests_each=1)
    async with serving(script) as port:
        with keeping.keeping_connections():
            for _ in range(4):
                assert (await keeping(proxied(port))).body == b"ok"
    assert script.connections == 4


async def test_a_write_is_not_sent_twice() -> None:
    """A POST on a connection that ends without a response fails, because it may have been executed."""
    keeping, script = HttpsTransport(lambda: PAIR), Conversation(HELLO, b"")
    async with serving(script) as port:
        with keeping.keeping_connections():
            await keeping(proxied(port))
            script.ends_after = 2
            with pytest.raises(ServiceUnreachable, match="EOF"):
                await keeping(proxied(port, method="POST", body=b"{}"))
    assert len([head for head in script.heads if head.startswith("POST")]) == 1


async def test_a_stream_that_is_closed_early_takes_its_connection_with_it() -> None:
    """The rest of the stream does not reach the next request; a stream that has ended leaves its connection."""
    endless = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"
    keeping, script = HttpsTransport(lambda: PAIR), Conversation(CHUNKS, endless)
    async with serving(script) as port:
        with keeping.keeping_connections():
            for is_whole in (True, False):
                found = await keeping(proxied(port, is_streaming=True))
                assert not isinstance(found.body, (bytes, Upgrade))
                assert await anext(found.body) == b"ok"
                if is_whole:
                    assert [part async for part in found.body] == []
                await found.body.aclose()
            assert script.connections == 1
            await keeping(proxied(port))
    assert script.connections == 2


async def test_connections_end_with_the_block_that_keeps_them() -> None:
    """After the last block the idle connections are closed, and further requests have one each."""
    keeping, script = HttpsTransport(lambda: PAIR), Conversation()
    async with serving(script) as port:
        with keeping.keeping_connections(), keeping.keeping_connections():
            await keeping(proxied(port))
        for _ in range(2):
            await keeping(proxied(port))
    assert script.connections == 3
    assert ["Connection: close" in head for head in script.heads] == [False, True, True]
