"""Responses to invalid requests, on real sockets."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest
from prometheus_client import Metric
from prometheus_client.registry import Collector

from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.manager import HttpServer, Manager, ServerLimits
from tests.unit._loop_time import elapse_until_done

pytestmark = pytest.mark.real_time  # the tests use sockets


@pytest.fixture
async def manager() -> AsyncIterator[Manager]:
    config, address = Config.in_process(ApiServer()), "127.0.0.1:0"
    async with Manager(config, health_bind_address=address, metrics_bind_address=address) as made:
        yield made


def metrics(manager: Manager) -> HttpServer:
    assert manager.metrics is not None
    return manager.metrics.server


def health(manager: Manager) -> HttpServer:
    assert manager.health_server is not None
    return manager.health_server


async def ask(server: HttpServer, request: bytes) -> bytes:
    """Send bytes, and return the first line of the response."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(request)
    line = await reader.readline()
    writer.close()
    return line


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/one\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
    ],
)
async def test_what_is_no_request_is_answered_400_and_not_logged(
    manager: Manager, request_: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """An invalid request gets a 400, and logs no traceback."""
    async with manager.running():
        caplog.clear()
        assert (await ask(metrics(manager), request_)).split()[1] == b"400"
        assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_collector_that_fails_is_logged(manager: Manager, caplog: pytest.LogCaptureFixture) -> None:
    """An exception in a collector gets a 500, and logs its traceback."""

    class Broken(Collector):
        def describe(self) -> list[Metric]:
            return []

        def collect(self) -> list[Metric]:
            raise TypeError("there are no licences")

    assert manager.metrics is not None
    manager.metrics.registry.register(Broken())
    async with manager.running():
        assert (await ask(metrics(manager), b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")).split()[1] == b"500"

    (told,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert told.message == "Failed to answer a request"
    assert "there are no licences" in (told.exc_text or "")


async def test_limits_of_a_server_can_be_set(manager: Manager, monkeypatch: pytest.MonkeyPatch) -> None:
    """`HttpServer.limits`, as set when the manager runs, applies to all clients."""
    health(manager).limits = ServerLimits(head_seconds=60)
    async with manager.running():
        asking = asyncio.create_task(ask(health(manager), b"GET /healthz HT"))
        assert await elapse_until_done(monkeypatch, asking, step=5) > 40  # more than the default, 32
        assert await asking == b""
        assert await ask(health(manager), b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n") == b"HTTP/1.1 200 OK\r\n"
