"""The last check of the write gates, on real connections."""

from __future__ import annotations

import pytest

from pyctrl.client import Headers, HttpRequest
from pyctrl.errors import NotLeading
from tests.unit.client.transport.test_aiohttp import OK, Peer, Rotating, serving
from tests.unit.client.transport.test_leader_gate import PUT, gated

PATCH = HttpRequest(method="PATCH", path="/x", headers=Headers(()), body=b"{}", timeout=5)
UNAUTHORIZED = b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"


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
async def test_a_process_that_is_suspended_before_it_writes() -> None:
    """A write whose lease expires after it got a connection, and before its bytes are written, is not sent."""
    sent: list[str] = []
    checks: list[int] = []

    async def serve(peer: Peer) -> None:
        while head := await peer.head():
            sent.append(head)
            await peer.send(OK)

    def is_open() -> bool:
        checks.append(len(checks))
        return len(checks) == 1

    async with serving(serve) as (transport, server):
        with gated(is_open), pytest.raises(NotLeading, match=r"PATCH /x was not sent"):
            await transport.request(PATCH)
        assert sent == []
        assert checks == [0, 1]
        await transport.request(PUT)  # outside of gated work
        assert len(sent) == 1
        assert server.connections == 1 + 1  # the head of the first was never written: its connection is not used again


@pytest.mark.real_time
async def test_reads_are_written_without_a_lease() -> None:
    """A read on a new connection passes, although the gates are closed."""
    sent: list[str] = []

    async def serve(peer: Peer) -> None:
        while head := await peer.head():
            sent.append(head)
            await peer.send(OK)

    async with serving(serve) as (transport, _):
        with gated(lambda: False):
            answer = await transport.request(HttpRequest(method="GET", path="/x"))
    assert answer.status == 200
    assert len(sent) == 1


@pytest.mark.real_time
async def test_a_stale_connection_after_the_lease() -> None:
    """A write on a connection that the server has closed is not repeated on another one after the lease."""
    sent: list[str] = []

    async def serve(peer: Peer) -> None:
        while head := await peer.head():
            sent.append(head)
            if len(sent) == 2:
                return  # as a server whose keep-alive time is over
            await peer.send(OK)

    async with serving(serve) as (transport, server):
        await transport.request(PUT)
        with gated(lambda: len(sent) < 2), pytest.raises(NotLeading):
            await transport.request(PUT)
        assert len(sent) == 2
        await transport.request(PUT)  # outside of gated work; the connection was closed, not left half open
        assert server.connections == 2 + 1
