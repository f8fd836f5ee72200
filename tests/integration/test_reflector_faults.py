"""Faults on real sockets: a cache with a peer that misbehaves in TCP or HTTP."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest

from pyctrl.api import GroupVersionKind, Key
from pyctrl.cache import Cache, Informer, _reflector
from pyctrl.client import BearerToken, Client, Config, Credentials

POD = GroupVersionKind("", "v1", "Pod")
SOON = timedelta(seconds=10)

Script = Callable[["Peer", dict[str, str]], Awaitable[None]]


class Peer:
    """One connection of a scripted server."""

    def __init__(self, writer: asyncio.StreamWriter, headers: str, stopping: asyncio.Event) -> None:
        self._writer = writer
        #: Wait for this to keep a watch open.
        self.stopping = stopping
        self.headers = headers

    async def whole(self, document: object, status: str = "200 OK") -> None:
        """Send a complete document."""
        body = json.dumps(document).encode()
        await self.raw(
            f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            + body
        )

    async def begin(self) -> None:
        """Begin a watch."""
        await self.raw(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")

    async def event(self, kind: str, name: str, version: int, **more: object) -> None:
        """Send an event of a pod."""
        metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}", "resourceVersion": str(version)}
        await self.line({"type": kind, "object": {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, **more}})

    async def listed(self, version: int) -> None:
        """Send the bookmark that ends the initial events."""
        metadata = {"resourceVersion": str(version), "annotations": {"k8s.io/initial-events-end": "true"}}
        await self.line({"type": "BOOKMARK", "object": {"kind": "Pod", "apiVersion": "v1", "metadata": metadata}})

    async def line(self, document: object) -> None:
        """Send a line as an HTTP chunk."""
        line = json.dumps(document).encode() + b"\n"
        await self.raw(b"%x\r\n%s\r\n" % (len(line), line))

    async def end(self) -> None:
        """End a watch regularly."""
        await self.raw(b"0\r\n\r\n")

    async def raw(self, data: bytes) -> None:
        """Send bytes."""
        self._writer.write(data)
        await self._writer.drain()

    def reset(self) -> None:
        """Send a TCP reset instead of an end."""
        peer: socket.socket = self._writer.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


class Server:
    """Answers discovery, and answers each request for pods with the next scripted function."""

    def __init__(self, *script: Script) -> None:
        self._script = list(script)
        self.queries: list[dict[str, str]] = []
        self._tasks: dict[asyncio.Task[object], asyncio.StreamWriter] = {}
        self._stopping = asyncio.Event()

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection."""
        task = asyncio.current_task()
        assert task is not None
        self._tasks[task] = writer
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                await self._answer(Peer(writer, head, self._stopping), head.split(" ", 2)[1])
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # either side has closed or reset the connection
        finally:
            del self._tasks[task]
            writer.transport.abort()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def stop(self) -> None:
        """Abort every connection."""
        self._stopping.set()
        for writer in self._tasks.values():
            writer.transport.abort()
        await asyncio.gather(*self._tasks)

    async def _answer(self, peer: Peer, target: str) -> None:
        parts = urlsplit(target)
        if parts.path == "/api":
            await peer.whole({"kind": "APIVersions", "versions": ["v1"]})
        elif parts.path == "/apis":
            await peer.whole({"kind": "APIGroupList", "groups": []})
        elif parts.path == "/api/v1":
            pods = {"name": "pods", "kind": "Pod", "namespaced": True, "verbs": ["list", "watch"]}
            await peer.whole({"kind": "APIResourceList", "groupVersion": "v1", "resources": [pods]})
        else:
            query = dict(parse_qsl(parts.query))
            if query.get("limit") == "1":  # the client requests the version after a failure
                await peer.whole({"kind": "PodList", "metadata": {"resourceVersion": "10"}, "items": []})
                return
            self.queries.append(query)
            await (self._script.pop(0) if self._script else stay)(peer, query)


async def stay(peer: Peer, query: dict[str, str]) -> None:
    """Accept a watch, and send no events."""
    await peer.begin()
    await peer.stopping.wait()


async def list_of_a(peer: Peer, query: dict[str, str]) -> None:
    """Stream a list of one pod, and end the watch."""
    assert query["sendInitialEvents"] == "true"
    await peer.begin()
    await peer.event("ADDED", "a", 10)
    await peer.listed(10)
    await peer.end()


async def then_b(peer: Peer, query: dict[str, str]) -> None:
    """Send one more pod."""
    assert query["resourceVersion"] == "10"
    await peer.begin()
    await peer.event("ADDED", "b", 11)
    await peer.stopping.wait()


async def reset_in_head(peer: Peer, query: dict[str, str]) -> None:
    """Reset within the head of the answer."""
    await peer.raw(b"HTTP/1.1 200 OK\r\nContent-Ty")
    peer.reset()
    raise ConnectionResetError


async def reset_before_head(peer: Peer, query: dict[str, str]) -> None:
    """Reset before any answer."""
    peer.reset()
    raise ConnectionResetError


async def reset_in_body(peer: Peer, query: dict[str, str]) -> None:
    """Reset within a line."""
    await peer.begin()
    await peer.raw(b'ff\r\n{"type":"ADDED","object":{"metadata":{"na')
    await asyncio.sleep(0)
    peer.reset()
    raise ConnectionResetError


@asynccontextmanager
async def served(server: Server, *, port: int = 0) -> AsyncIterator[str]:
    """Serve the script, and return the address."""
    listening = await asyncio.start_server(server.connected, "127.0.0.1", port)
    try:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    finally:
        listening.close()
        await server.stop()


@asynccontextmanager
async def followed(address: str, credentials: Credentials | None = None) -> AsyncIterator[tuple[Cache, Informer]]:
    """Run a cache of pods."""
    config = Config(server=address, credentials=credentials or BearerToken("secret"))
    async with Client.connect(config) as client:
        cache = Cache(client)
        informer = cache.informer(POD)
        task = asyncio.create_task(cache.run())
        try:
            yield cache, informer
        finally:
            task.cancel()
            await asyncio.wait([task])


async def names(cache: Cache) -> list[str]:
    return sorted(pod.metadata.name for pod in await cache.list(POD))


@pytest.mark.parametrize("fault", [reset_before_head, reset_in_head, reset_in_body])
async def test_a_reset_while_listing_costs_one_try(fault: Script) -> None:
    """After a reset the list starts again on a new connection."""
    server = Server(fault, list_of_a, then_b)
    async with served(server) as address, followed(address) as (cache, informer):
        await informer.wait_for_version("11", SOON)
        assert await names(cache) == ["a", "b"]


@pytest.mark.parametrize("fault", [reset_before_head, reset_in_head, reset_in_body])
async def test_a_reset_of_a_watch_is_resumed(fault: Script) -> None:
    """A reset watch resumes at its version, without a new list."""
    server = Server(list_of_a, fault, then_b)
    async with served(server) as address, followed(address) as (cache, informer):
        await informer.wait_for_version("11", SOON)
        assert await names(cache) == ["a", "b"]
        assert informer.statistics().relists == 0
        assert [query.get("resourceVersion") for query in server.queries] == [None, "10", "10"]


async def test_nobody_listens_and_then_somebody_does() -> None:
    """A refused connection is retried until the server is up."""
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    async with followed(f"http://127.0.0.1:{port}") as (cache, informer):
        while informer.error is None:
            await asyncio.sleep(0.01)
        assert "cannot connect" in informer.reason
        async with served(Server(list_of_a), port=port):
            await informer.wait_for_sync(SOON)
            assert await names(cache) == ["a"]


async def test_half_open_silence_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A silent connection is replaced when its bookmarks are overdue."""
    monkeypatch.setattr(_reflector, "WATCH_SILENCE", 0.2)
    server = Server(list_of_a, stay, then_b)
    async with served(server) as address, followed(address) as (cache, informer):
        await informer.wait_for_version("11", SOON)
        assert await names(cache) == ["a", "b"]


async def test_a_line_of_five_megabytes_is_a_line() -> None:
    """A watch line of five megabytes is read, and so is the next one."""

    async def big(peer: Peer, query: dict[str, str]) -> None:
        await peer.begin()
        await peer.event("MODIFIED", "a", 11, spec={"text": "x" * 5_000_000})
        await peer.event("ADDED", "b", 12)
        await peer.stopping.wait()

    async with served(Server(list_of_a, big)) as address, followed(address) as (cache, informer):
        await informer.wait_for_version("12", SOON)
        assert len((await cache.get(POD, Key("default", "a")))["spec"]["text"]) == 5_000_000
        assert await names(cache) == ["a", "b"]


async def test_a_token_that_expires_under_a_watch_is_renewed_and_the_watch_goes_on() -> None:
    """On a 401 when resuming, the credentials are renewed, without a new list."""

    class Renewable:
        """A numbered token that is replaced by the next one when refused."""

        number = 1

        async def authorization(self) -> str | None:
            return f"Bearer token-{self.number}"

        async def refresh(self, rejected: str | None = None) -> bool:
            self.number += 1
            return True

    async def refused(peer: Peer, query: dict[str, str]) -> None:
        assert "token-1" in peer.headers
        await peer.whole({"kind": "Status", "reason": "Unauthorized", "code": 401}, "401 Unauthorized")

    async def renewed(peer: Peer, query: dict[str, str]) -> None:
        assert "token-2" in peer.headers
        await then_b(peer, query)

    server = Server(list_of_a, refused, renewed)
    async with served(server) as address, followed(address, Renewable()) as (cache, informer):
        await informer.wait_for_version("11", SOON)
        assert informer.statistics().relists == 0
        assert await names(cache) == ["a", "b"]
