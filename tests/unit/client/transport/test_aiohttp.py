"""The aiohttp transport over real sockets: identification, failures, and errors."""

from __future__ import annotations

import asyncio
import gzip
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pyctrl.client import AiohttpTransport, Client, Config, HttpRequest, Impersonation, Tls
from pyctrl.client._login.tls import ClientCertificate, Pem
from pyctrl.errors import ConnectionFailed, RequestTimeout, StreamBroken, TransportError
from tests.unit.client._authority import Authority
from tests.unit.client.transport._readings import BOTH, Reading

pytestmark = pytest.mark.real_time

GET = HttpRequest(method="GET", path="/x", timeout=30)
WATCH = HttpRequest(method="GET", path="/watch", timeout=None)
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


@dataclass
class Peer:
    """One connection, from the server's view."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def head(self) -> str:
        """Read a request with its body; "" after the client has closed the connection."""
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
            for line in head.split("\r\n"):
                if line.lower().startswith("content-length:"):
                    await self.reader.readexactly(int(line.split(":")[1]))
            return head
        return ""

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        self.writer.transport.abort()


@dataclass
class SocketServer:
    """Serves each connection with the test's function, and keeps the received heads."""

    serve: Callable[[Peer], Awaitable[None]]
    tls: ssl.SSLContext | None = None
    url: str = ""
    connections: int = 0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            with suppress(ConnectionError):
                await self.serve(Peer(reader, writer))
        finally:
            writer.close()
            with suppress(ConnectionError, ssl.SSLError):
                await writer.wait_closed()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[SocketServer]:
        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.get_running_loop().create_task(self._connected(reader, writer))
            self._tasks.add(task)

        server = await asyncio.start_server(connected, "127.0.0.1", 0, ssl=self.tls)
        port = server.sockets[0].getsockname()[1]
        self.url = f"{'https' if self.tls else 'http'}://127.0.0.1:{port}"
        try:
            yield self
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def serving(
    serve: Callable[[Peer], Awaitable[None]], **config: object
) -> AsyncIterator[tuple[AiohttpTransport, SocketServer]]:
    async with SocketServer(serve).running() as server:
        transport = AiohttpTransport(Config(server=server.url, **config))  # type: ignore[arg-type]
        try:
            yield transport, server
        finally:
            await transport.aclose()


def answering(*answers: bytes) -> Callable[[Peer], Awaitable[None]]:
    """Serve each request of a connection with the next answer, and the last one repeatedly."""
    line = list(answers)

    async def serve(peer: Peer) -> None:
        while await peer.head():
            await peer.send(line.pop(0) if len(line) > 1 else line[0])

    return serve


async def test_what_is_sent() -> None:
    """Path and query are escaped, the server's prefix is kept, and User-Agent and Accept are sent."""
    heads: list[str] = []

    async def serve(peer: Peer) -> None:
        while head := await peer.head():
            heads.append(head)
            await peer.send(OK)

    async with SocketServer(serve).running() as server:
        config = Config(server=f"{server.url}/prefix/", impersonate=Impersonation(user="jane", groups=("a", "b")))
        transport = AiohttpTransport(config)
        request = HttpRequest(
            method="GET", path="/apis/x/names/a:b c", query=(("labelSelector", "a in (b,c)"), ("x", "&"))
        )
        assert (await transport.request(request)).body == b"ok"
        await transport.aclose()

    lines = heads[0].split("\r\n")
    assert lines[0] == "GET /prefix/apis/x/names/a%3Ab%20c?labelSelector=a+in+%28b%2Cc%29&x=%26 HTTP/1.1"
    assert [line for line in lines if line.startswith("Impersonate-")] == [
        "Impersonate-User: jane",
        "Impersonate-Group: a",
        "Impersonate-Group: b",
    ]
    assert any(line.startswith("User-Agent: pyctrl/") for line in lines)
    assert "Accept-Encoding: identity" in lines


async def test_connections_are_reused() -> None:
    """Consecutive requests share a connection."""
    async with serving(answering(OK)) as (transport, server):
        for _ in range(5):
            await transport.request(GET)
        assert server.connections == 1


async def test_nobody_there() -> None:
    """The error for an unreachable cluster has the address, the reason, and what to check."""
    async with SocketServer(answering(OK)).running() as server:
        url = server.url
    async with Client.connect(Config(server=url)) as client:
        with pytest.raises(ConnectionFailed) as caught:
            await client.transport.request(GET)

    assert str(caught.value) == (
        f"cannot connect to the API server at {url}: Connection refused; "
        "is the cluster running, and is the address of the login right?"
    )
    assert caught.value.__cause__ is not None


async def test_untrusted() -> None:
    """The error for a server with another authority differs from that for an unreachable one."""
    ours, theirs = Authority("ours"), Authority("theirs")
    tls = Tls(ca=Pem("the CA", data=ours.pem))
    async with serving_tls(theirs, tls) as (transport, _):
        with pytest.raises(ConnectionFailed, match="is not trusted: .*certificate authority belong to this cluster"):
            await transport.request(GET)


@asynccontextmanager
async def serving_tls(authority: Authority, tls: Tls) -> AsyncIterator[tuple[AiohttpTransport, SocketServer]]:
    async with SocketServer(answering(OK), authority.server_context("127.0.0.1")).running() as server:
        transport = AiohttpTransport(Config(server=server.url, tls=tls))
        try:
            yield transport, server
        finally:
            await transport.aclose()


async def test_trusted() -> None:
    """A server of the login's authority is trusted, and concurrent first requests share one TLS context."""
    authority = Authority()
    async with serving_tls(authority, Tls(ca=Pem("the CA", data=authority.pem))) as (transport, _):
        answers = await asyncio.gather(*(transport.request(GET) for _ in range(20)))
        assert {answer.body for answer in answers} == {b"ok"}
        assert transport._contexts is not None
        assert transport._contexts.generation == 1


async def test_https_to_http() -> None:
    """The error for TLS to a plain HTTP server mentions TLS."""

    async def serve(peer: Peer) -> None:
        await peer.reader.read(100)
        await peer.send(b"HTTP/1.0 400 Bad Request\r\n\r\nClient sent something else to an HTTP server.\n")

    async with SocketServer(serve).running() as server:
        transport = AiohttpTransport(Config(server=server.url.replace("http:", "https:")))
        with pytest.raises(ConnectionFailed, match="TLS handshake with the API server at https://.* failed"):
            await transport.request(GET)
        await transport.aclose()


async def test_rotated_client_certificate(tmp_path: Path) -> None:
    """New connections use the changed client certificate; existing connections stay open."""
    authority = Authority()
    seen: list[str] = []

    async def serve(peer: Peer) -> None:
        while await peer.head():
            shown = peer.writer.get_extra_info("peercert")
            seen.append(shown["subject"][0][0][1])
            await peer.send(OK if len(seen) != 2 else b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")

    def write(name: str) -> None:
        issued = authority.client(name)
        (tmp_path / "crt").write_bytes(issued.certificate)
        (tmp_path / "key").write_bytes(issued.key)

    write("one")
    certificate = ClientCertificate(Pem("crt", path=tmp_path / "crt"), Pem("key", path=tmp_path / "key"))
    tls = Tls(ca=Pem("ca", data=authority.pem), certificate=certificate)
    async with SocketServer(serve, authority.server_context("127.0.0.1")).running() as server:
        transport = AiohttpTransport(Config(server=server.url, tls=tls))
        assert (await transport.request(GET)).status == 200
        write("two")
        assert (await transport.request(GET)).status == 200  # refused once, files read, sent again
        await transport.aclose()

    assert seen == ["one", "one", "two"]


@dataclass
class Rotating:
    """Credentials that count their renewals."""

    token: int = 0
    renewals: int = 0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def authorization(self) -> str:
        return f"Bearer {self.token}"

    async def refresh(self, rejected: str | None = None) -> bool:
        async with self._lock:
            if rejected != await self.authorization():
                return True
            await asyncio.sleep(0)
            self.renewals += 1
            self.token += 1
        return True


async def test_401_renews_once() -> None:
    """Concurrent requests with a 401 share one renewal, and each succeeds at its second try."""
    credentials = Rotating()

    async def serve(peer: Peer) -> None:
        while head := await peer.head():
            good = "Authorization: Bearer 1" in head
            await peer.send(OK if good else b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")

    async with serving(serve, credentials=credentials) as (transport, _):
        answers = await asyncio.gather(*(transport.request(GET) for _ in range(10)))
        async with transport.stream(WATCH) as stream:
            assert stream.status == 200

    assert [answer.status for answer in answers] == [200] * 10
    assert credentials.renewals == 1


async def test_401_stays() -> None:
    """A second 401 is the result, after one retry only."""
    credentials = Rotating()
    refusal = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"
    async with serving(answering(refusal), credentials=credentials) as (transport, _):
        assert (await transport.request(GET)).status == 401
    assert credentials.renewals == 1


async def test_a_watch_survives_renewal() -> None:
    """An open watch continues while credentials are renewed for other requests."""
    credentials = Rotating()
    renewed = asyncio.Event()

    async def serve(peer: Peer) -> None:
        while head := await peer.head():
            if "/watch" in head:
                await peer.send(CHUNKED + b"1\r\na\r\n")
                await renewed.wait()
                await peer.send(b"1\r\nb\r\n0\r\n\r\n")
            else:
                good = "Authorization: Bearer 1" in head
                await peer.send(OK if good else b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")

    async with serving(serve, credentials=credentials) as (transport, _), transport.stream(WATCH) as stream:
        chunks = stream.chunks()
        assert await anext(chunks) == b"a"
        await transport.request(GET)
        renewed.set()
        assert await anext(chunks) == b"b"
        with pytest.raises(StopAsyncIteration):
            await anext(chunks)


async def test_compressed_answers() -> None:
    """An unrequested compressed response is decoded."""
    body = gzip.compress(b"hello" * 1000)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    async with serving(answering(head + body)) as (transport, _):
        assert (await transport.request(GET)).body == b"hello" * 1000


async def test_redirects_are_not_followed() -> None:
    """A redirect is not followed: credentials are not sent to another host."""
    redirect = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
    async with serving(answering(redirect)) as (transport, _):
        assert (await transport.request(GET)).status == 302


async def test_proxy() -> None:
    """Requests go through the login's proxy, with the server's address; the proxy's password is not shown."""
    heads: list[str] = []

    async def serve(peer: Peer) -> None:
        while head := await peer.head():
            heads.append(head)
            await peer.send(OK)

    async with SocketServer(serve).running() as proxy:
        url = proxy.url.replace("http://", "http://user:secret@")
        transport = AiohttpTransport(Config(server="http://cluster.test:8080", proxy=url))
        assert (await transport.request(GET)).body == b"ok"
    with pytest.raises(ConnectionFailed, match="through the proxy 127.0.0.1") as caught:
        await transport.request(GET)
    await transport.aclose()

    assert heads[0].startswith("GET http://cluster.test:8080/x HTTP/1.1\r\n")
    assert "secret" not in str(caught.value)


async def test_server_name() -> None:
    """With a server name in the login, the certificate is checked for that name instead of the address."""
    authority = Authority()
    ca = Pem("ca", data=authority.pem)
    async with SocketServer(answering(OK), authority.server_context("kubernetes")).running() as server:
        right = AiohttpTransport(Config(server=server.url, tls=Tls(ca=ca, server_name="kubernetes")))
        wrong = AiohttpTransport(Config(server=server.url, tls=Tls(ca=ca)))
        assert (await right.request(GET)).status == 200
        with pytest.raises(ConnectionFailed, match="not trusted: .*127.0.0.1"):
            await wrong.request(GET)
        await right.aclose()
        await wrong.aclose()


async def reset_at_once(peer: Peer) -> None:
    peer.reset()


async def reset_in_head(peer: Peer) -> None:
    await peer.head()
    await peer.send(b"HTTP/1.1 200 OK\r\nContent-")
    peer.reset()


async def reset_in_body(peer: Peer) -> None:
    await peer.head()
    await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
    peer.reset()


async def end_in_body(peer: Peer) -> None:
    await peer.head()
    await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")


async def end_in_chunk(peer: Peer) -> None:
    await peer.head()
    await peer.send(CHUNKED + b"9\r\nhalf")


async def garbage(peer: Peer) -> None:
    await peer.head()
    await peer.send(b"SSH-2.0-OpenSSH_9.6\r\n")


async def silence(peer: Peer) -> None:
    await asyncio.Event().wait()


async def silence_in_body(peer: Peer) -> None:
    await peer.head()
    await peer.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
    await asyncio.Event().wait()


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (reset_at_once, StreamBroken),
        (reset_in_head, StreamBroken),
        (reset_in_body, StreamBroken),
        (end_in_body, StreamBroken),
        (end_in_chunk, StreamBroken),
        (garbage, StreamBroken),
        (silence, RequestTimeout),
        (silence_in_body, RequestTimeout),
    ],
)
@pytest.mark.parametrize("read", BOTH)
async def test_faults(fault: Callable[[Peer], Awaitable[None]], expected: type[TransportError], read: Reading) -> None:
    """Every network failure of a request or stream is a TransportError that names the server."""
    seconds = 0.2 if expected is RequestTimeout else 30.0
    async with serving(fault) as (transport, server):
        with pytest.raises(expected, match=server.url):
            await transport.request(HttpRequest(method="POST", path="/x", body=b"{}", timeout=seconds))
        with pytest.raises(expected, match=server.url):
            await read(transport.stream(WATCH, idle_timeout=seconds))


async def test_chunks_come_at_once() -> None:
    """The reader gets each piece of a stream before the next one is sent; a large line arrives in pieces."""
    seen = asyncio.Event()
    line = b"x" * 5_000_000

    async def serve(peer: Peer) -> None:
        await peer.head()
        await peer.send(CHUNKED + b"5\r\nfirst\r\n")
        await seen.wait()
        await peer.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(line), line))

    async with serving(serve) as (transport, _), transport.stream(WATCH, idle_timeout=30) as stream:
        chunks = stream.chunks()
        assert await anext(chunks) == b"first"
        seen.set()
        assert b"".join([chunk async for chunk in chunks]) == line


async def test_leaving_a_stream_closes_its_connection() -> None:
    """Leaving a stream early closes its connection."""
    gone = asyncio.Event()

    async def serve(peer: Peer) -> None:
        await peer.head()
        await peer.send(CHUNKED + b"1\r\na\r\n")
        await peer.reader.read()
        gone.set()

    async with serving(serve) as (transport, _):
        async with transport.stream(WATCH) as stream:
            assert await anext(stream.chunks()) == b"a"
        await gone.wait()


async def test_watches_do_not_starve_requests() -> None:
    """Open watches do not block requests, however many are open."""

    async def serve(peer: Peer) -> None:
        while head := await peer.head():
            await peer.send(CHUNKED if "/watch" in head else OK)

    async with serving(serve) as (transport, _), AsyncExitStack() as stack:
        for _ in range(120):
            await stack.enter_async_context(transport.stream(WATCH))
        assert (await transport.request(GET)).status == 200


@pytest.mark.parametrize("sent", [b"", CHUNKED, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"])
@pytest.mark.parametrize("read", BOTH)
async def test_closing_ends_what_is_under_way(sent: bytes, read: Reading) -> None:
    """Closing the transport ends waiting requests and streams with an error; later ones are refused."""
    waiting = asyncio.Semaphore(0)

    async def serve(peer: Peer) -> None:
        await peer.head()
        await peer.send(sent)
        waiting.release()
        await asyncio.Event().wait()

    async with serving(serve) as (transport, _):
        tasks = [asyncio.ensure_future(read(transport.stream(WATCH))), asyncio.create_task(transport.request(GET))]
        await waiting.acquire()
        await waiting.acquire()
        await asyncio.sleep(0.02)  # until the client has received the bytes
        await transport.aclose()

        outcomes = await asyncio.gather(*tasks, return_exceptions=True)

        assert [type(outcome) for outcome in outcomes] == [StreamBroken, StreamBroken]
        with pytest.raises(ConnectionFailed, match="closed"):
            await transport.request(GET)
