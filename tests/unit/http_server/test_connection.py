"""Time limits of one connection, in virtual time."""

from __future__ import annotations

import asyncio

from tests.unit.http_server._fakes import Clients


async def test_a_client_that_sends_no_request_is_cut() -> None:
    """A connection without a complete head is closed 32 seconds after it was opened, however slowly bytes arrive."""
    clients = Clients()
    connection, transport = clients.connect()

    for _ in range(31):
        await asyncio.sleep(1)
        connection.data_received(b"x")
        assert not transport.is_cut
    await asyncio.sleep(1.1)

    assert transport.is_cut
    assert (len(clients.pool), clients.pool.request_bytes, clients.closed) == (0, 0, [connection])


async def test_a_body_that_does_not_end_is_cut() -> None:
    """The rest of a request has 30 seconds, plus some for the response 408."""
    connection, transport = Clients().connect()
    connection.began(lambda: None)

    await asyncio.sleep(34.9)
    assert not transport.is_cut
    await asyncio.sleep(0.2)
    assert transport.is_cut


async def test_an_answer_may_take_its_time() -> None:
    """A connection is not closed while the server works on a response; then the client has 90 seconds for a request."""
    connection, transport = Clients().connect()
    connection.began(lambda: None)
    connection.has_body()
    await asyncio.sleep(3600)
    assert not transport.is_cut

    connection.answered()
    await asyncio.sleep(89.9)
    assert not transport.is_cut
    await asyncio.sleep(0.2)
    assert transport.is_cut


async def test_the_next_head_has_the_time_of_a_head() -> None:
    """The first byte of a request ends the idle timeout and starts the timeout of the head."""
    connection, transport = Clients().connect()
    connection.began(lambda: None)
    connection.has_body()
    connection.answered()
    await asyncio.sleep(80)

    connection.data_received(b"G")
    await asyncio.sleep(31.9)
    assert not transport.is_cut
    await asyncio.sleep(0.2)
    assert transport.is_cut


async def test_a_client_that_reads_no_answer_is_cut() -> None:
    """A connection is closed after 30 seconds in which the client accepts no bytes."""
    connection, transport = Clients().connect()
    connection.began(lambda: None)
    connection.has_body()

    connection.pause_writing()
    await asyncio.sleep(29)
    connection.resume_writing()
    connection.pause_writing()
    await asyncio.sleep(29)
    assert not transport.is_cut
    await asyncio.sleep(1.1)
    assert transport.is_cut
