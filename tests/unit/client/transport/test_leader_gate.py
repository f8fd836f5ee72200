"""The write gate: each try of a request passes it, and the tries of the transport do, too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context

import pytest

from pyctrl.api import Key
from pyctrl.client import Headers, HttpRequest
from pyctrl.client._transport.leader_gate import check_gates, gated_context, write_gates
from pyctrl.errors import ConnectionFailed, NotLeading
from tests.unit.client.transport.test_aiohttp import OK as HTTP_OK
from tests.unit.client.transport.test_aiohttp import Peer, Rotating, serving
from tests.unit.client.transport.test_retry import OK, Script, Widget, answer, client

PUT = HttpRequest(method="PUT", path="/x", headers=Headers(()), body=b"{}", timeout=5)
UNAUTHORIZED = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"


class Gate:
    """A gate that closes when `is_open` says so."""

    def __init__(self, is_open: Callable[[], bool]) -> None:
        self.is_open = is_open

    def check(self, request: HttpRequest) -> None:
        if not self.is_open():
            raise NotLeading(f"{request} was not sent")


@contextmanager
def gated(is_open: Callable[[], bool]) -> Iterator[None]:
    token = write_gates.set((Gate(is_open),))
    try:
        yield
    finally:
        write_gates.reset(token)


@pytest.mark.parametrize("first", [answer(429, "5"), answer(503, "1"), ConnectionFailed("refused")])
async def test_a_wait_that_outlasts_the_lease(first: Exception) -> None:
    """A write whose lease expires during Retry-After or backoff is not sent again; a read is."""
    for send, tries in (("update", 1), ("delete", 1), ("get", 2)):
        script = Script(first, answer(200))
        with gated(lambda script=script: not script.times):  # type: ignore[misc]
            if send == "get":
                await client(script).get(Widget, Key("default", "a"))
            else:
                with pytest.raises(NotLeading):
                    await getattr(client(script), send)(Widget.from_wire(OK))
        assert len(script.times) == tries, send


def test_gates_add_up() -> None:
    """Work that is gated within gated work must pass both gates; the context outside has none."""
    asked: list[str] = []

    def gate(name: str) -> Gate:
        def is_open() -> bool:
            asked.append(name)
            return True

        return Gate(is_open)

    inner = gated_context(gate("inner"), gated_context(gate("outer"), copy_context()))
    inner.run(check_gates, PUT)
    check_gates(PUT)

    assert asked == ["outer", "inner"]


@pytest.mark.real_time
@pytest.mark.parametrize(("closes_at_login", "tries"), [(True, 0), (False, 1)])
async def test_a_login_that_outlasts_the_lease(closes_at_login: bool, tries: int) -> None:
    """A write whose lease expires while its credentials are obtained is not sent, nor after a 401."""
    sent: list[str] = []
    is_open = True

    class Slow(Rotating):
        async def authorization(self) -> str:
            nonlocal is_open
            is_open = is_open and not closes_at_login
            return await super().authorization()

        async def refresh(self, rejected: str | None = None) -> bool:
            nonlocal is_open
            is_open = False
            self.token += 1
            return True

    async def serve(peer: Peer) -> None:
        while head := await peer.head():
            sent.append(head)
            await peer.send(UNAUTHORIZED)

    async with serving(serve, credentials=Slow()) as (transport, _):
        with gated(lambda: is_open), pytest.raises(NotLeading):
            await transport.request(PUT)
    assert len(sent) == tries


@pytest.mark.real_time
async def test_a_stale_connection_after_the_lease() -> None:
    """A write on a connection that the server has closed is not repeated on another one after the lease."""
    sent: list[str] = []

    async def serve(peer: Peer) -> None:
        while head := await peer.head():
            sent.append(head)
            if len(sent) == 2:
                return  # as a server whose keep-alive time is over
            await peer.send(HTTP_OK)

    async with serving(serve) as (transport, server):
        await transport.request(PUT)
        with gated(lambda: len(sent) < 2), pytest.raises(NotLeading):
            await transport.request(PUT)
        assert len(sent) == 2
        await transport.request(PUT)  # outside of gated work; the connection was closed, not left half open
        assert server.connections == 2 + 1
