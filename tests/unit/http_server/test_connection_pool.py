"""Limits on connections, without sockets and in virtual time."""

from __future__ import annotations

import asyncio
import logging

import pytest

from pyctrl._http_server import ServerLimits
from tests.unit.http_server._fakes import Clients


async def test_the_connection_that_waits_longest_makes_a_place() -> None:
    """At the limit the connection that has been idle longest is closed, also one that became idle just now."""
    clients = Clients(connections=3)
    (busy, first), (_, second), (kept, third) = (clients.connect() for _ in range(3))
    busy.began(lambda: None)
    busy.has_body()
    await asyncio.sleep(1)
    kept.began(lambda: None)
    kept.has_body()
    kept.answered()

    await clients.pool.make_place()
    assert (first.is_cut, second.is_cut, third.is_cut) == (False, True, False)
    clients.connect()
    await clients.pool.make_place()
    assert (first.is_cut, third.is_cut) == (False, True)


async def test_a_new_client_waits_while_all_others_are_being_answered() -> None:
    """A new connection closes no connection whose request is in progress or whose response is not sent yet."""
    clients = Clients(connections=1)
    connection, transport = clients.connect()
    connection.began(lambda: None)
    connection.has_body()
    placing = asyncio.create_task(clients.pool.make_place())
    await asyncio.sleep(60)
    transport.unsent = 1000
    connection.answered()
    await asyncio.sleep(10)
    assert not placing.done()

    transport.unsent = 0
    await placing

    assert transport.is_cut


async def test_at_the_limit_of_bytes_the_slowest_request_is_closed() -> None:
    """At the limit of bytes, incomplete requests are closed, the oldest first."""
    clients = Clients(request_bytes=1000)
    (slow, first), (later, second), (new, third) = (clients.connect() for _ in range(3))
    slow.began(lambda: None)
    slow.data_received(b"x" * 600)
    await asyncio.sleep(2)
    later.began(lambda: None)
    later.data_received(b"x" * 300)
    assert not first.is_cut

    new.began(lambda: None)
    new.data_received(b"x" * 500)

    assert (first.is_cut, second.is_cut, third.is_cut) == (True, False, False)
    assert clients.pool.request_bytes == 800


async def test_at_the_limit_of_bytes_nothing_more_is_read_while_others_are_quick() -> None:
    """Many large concurrent requests are read in turns, and none is closed."""
    clients = Clients(request_bytes=1000)
    (first, one), (second, two) = clients.connect(), clients.connect()
    first.began(lambda: None)
    first.data_received(b"x" * 800)
    first.has_body()
    second.began(lambda: None)
    second.data_received(b"x" * 300)
    assert (one.is_reading_now, two.is_reading_now) == (True, False)

    first.answered()

    assert two.is_reading_now
    assert not one.is_cut
    assert not two.is_cut


async def test_requests_that_wait_for_each_other_do_not_wait_for_ever() -> None:
    """When all requests at the limit of bytes are stalled, the slowest one is closed after a second."""
    clients = Clients(request_bytes=1000)
    (first, one), (second, two) = clients.connect(), clients.connect()
    first.began(lambda: None)
    second.began(lambda: None)
    first.data_received(b"x" * 600)
    second.data_received(b"x" * 600)
    assert not two.is_reading_now

    await asyncio.sleep(1.1)

    assert (one.is_cut, two.is_cut, two.is_reading_now) == (True, False, True)


async def test_the_rest_of_a_refused_body_is_dropped_and_not_counted() -> None:
    """A client may continue a refused body for a moment, so that it can read the response."""
    clients = Clients(request_bytes=1000)
    connection, transport = clients.connect()
    connection.began(lambda: None)
    connection.answered()

    connection.data_received(b"x" * 100_000)
    assert (clients.pool.request_bytes, transport.is_cut) == (0, False)
    connection.has_body()
    connection.data_received(b"x" * 10)
    assert clients.pool.request_bytes == 10


async def test_an_attack_is_logged_once_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    """A thousand connections beyond the limit log one line a minute."""
    clients = Clients(connections=1)
    for _ in range(1000):
        await clients.pool.make_place()
        clients.connect()

    with caplog.at_level(logging.WARNING):
        assert [record.message for record in caplog.records] == ["Too many connections, closing the longest idle"]
    assert len(clients.pool) == 1


def test_limits_are_greater_than_nothing() -> None:
    """A limit of 0, which would close every connection, is an error with the name of the limit."""
    with pytest.raises(ValueError, match="ServerLimits: idle_seconds must be greater than 0, got 0"):
        ServerLimits(idle_seconds=0)
