"""Accepting connections without free file descriptors, on real sockets."""

from __future__ import annotations

import asyncio
import os
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from pyctrl._http_server import Listener
from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.manager import HttpServer, Manager

pytestmark = pytest.mark.real_time  # the tests use sockets


@contextmanager
def few_descriptors(left: int) -> Iterator[list[int]]:
    """Limit the process to so few more descriptors than it has now; yield those that a test opens."""
    probe = os.open(os.devnull, os.O_RDONLY)
    os.close(probe)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened: list[int] = []
    resource.setrlimit(resource.RLIMIT_NOFILE, (probe + left, before[1]))
    try:
        yield opened
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
        for each in opened:
            os.close(each)


def exhaust(opened: list[int]) -> None:
    with suppress(OSError):
        while True:
            opened.append(os.open(os.devnull, os.O_RDONLY))


def client() -> socket.socket:
    made = socket.socket()
    made.setblocking(False)
    return made


async def get(made: socket.socket, server: HttpServer) -> bytes:
    loop = asyncio.get_running_loop()
    await loop.sock_connect(made, ("127.0.0.1", server.port))
    await loop.sock_sendall(made, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    return await loop.sock_recv(made, 1000)


async def test_probes_are_answered_without_any_descriptor_left() -> None:
    """The health server has spare descriptors, and answers when no other descriptor is left."""
    async with Manager(Config.in_process(ApiServer()), health_bind_address="127.0.0.1:0") as manager:
        server = manager.health_server
        assert server is not None
        async with manager.running():
            clients = [client() for _ in range(3)]
            with few_descriptors(64) as opened:
                exhaust(opened)
                for each in clients:
                    assert (await get(each, server)).startswith(b"HTTP/1.1 200 OK")
            for each in clients:
                each.close()


async def test_a_server_without_descriptors_waits_and_goes_on(caplog: pytest.LogCaptureFixture) -> None:
    """Without descriptors, one line is logged for all waiting clients, which are accepted as soon as possible."""
    accepted: asyncio.Queue[socket.socket] = asyncio.Queue()
    has_failed = asyncio.Event()
    failures = iter([False, False, True])

    def free_descriptor() -> bool:
        if next(failures, True):
            has_failed.set()
        return False

    acceptor = Listener("test", accepted.put, free_descriptor=free_descriptor)
    async with acceptor.listening("127.0.0.1", 0, backlog=16) as port:
        clients = [client() for _ in range(5)]
        with few_descriptors(64) as opened:
            exhaust(opened)
            for each in clients:
                await asyncio.get_running_loop().sock_connect(each, ("127.0.0.1", port))
            await has_failed.wait()
        for each in [await accepted.get() for _ in clients] + clients:
            each.close()

    told = [record.message for record in caplog.records]
    assert told == ["Out of file descriptors, not accepting connections"]


async def test_the_last_descriptors_are_left_to_others() -> None:
    """A connection that gets a reserved descriptor is closed at once, unless the server can close an idle one."""
    accepted: asyncio.Queue[socket.socket] = asyncio.Queue()
    idle = [True]
    acceptor = Listener("test", accepted.put, free_descriptor=lambda: idle.pop() if idle else False)
    async with acceptor.listening("127.0.0.1", 0, backlog=16) as port:
        first, second = client(), client()
        loop = asyncio.get_running_loop()
        with few_descriptors(64) as opened:
            exhaust(opened)
            for _ in range(10):
                os.close(opened.pop())
            await loop.sock_connect(first, ("127.0.0.1", port))
            kept = await accepted.get()
            await loop.sock_connect(second, ("127.0.0.1", port))
            assert await loop.sock_recv(second, 1) == b""
        for each in (first, second, kept):
            each.close()
    assert accepted.empty()
