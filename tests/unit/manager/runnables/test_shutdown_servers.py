"""Shutdown of servers with a request in progress, on real sockets."""

from __future__ import annotations

import asyncio
import gc
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.errors import GracePeriodExceeded
from pyctrl.manager import Manager, Preflight
from pyctrl.webhook import AdmissionRequest, AdmissionResponse, Webhooks, WebhookServer
from tests.unit._loop_time import elapse_until_done
from tests.unit.client._authority import Authority
from tests.unit.webhook._kinds import podset, question

pytestmark = pytest.mark.real_time

AUTHORITY = Authority()


class Desk:
    """Holds a request until the test permits the response."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.go_on = asyncio.Event()
        self.was_cut_off = False

    async def wait(self) -> None:
        self.asked.set()
        try:
            await self.go_on.wait()
        except asyncio.CancelledError:
            self.was_cut_off = True
            raise

    async def review(self, request: AdmissionRequest) -> AdmissionResponse:
        await self.wait()
        return AdmissionResponse(allowed=True)


Asking = Callable[[], AbstractAsyncContextManager[aiohttp.ClientResponse]]


@dataclass(frozen=True, slots=True)
class Served:
    """A manager with a server, and a request that takes some time."""

    manager: Manager
    desk: Desk
    ask: Asking


def manager_with(grace: float | None, **options: Any) -> Manager:
    return Manager(
        Config.in_process(ApiServer()),
        grace_period=None if grace is None else timedelta(seconds=grace),
        preflight=Preflight.OFF,
        **options,
    )


@asynccontextmanager
async def probed(grace: float | None, _: Path) -> AsyncIterator[Served]:
    """A readiness probe by kubelet with a slow check."""
    manager, desk = manager_with(grace, health_bind_address="127.0.0.1:0"), Desk()
    server = manager.health_server
    assert server is not None
    async with manager, aiohttp.ClientSession() as kubelet:
        manager.add_ready_check("slow", desk.wait)
        yield Served(manager, desk, lambda: kubelet.get(f"http://127.0.0.1:{server.port}/readyz/slow"))


@asynccontextmanager
async def scraped(grace: float | None, directory: Path) -> AsyncIterator[Served]:
    """A scrape by Prometheus that waits for the API server's token review."""
    manager = manager_with(grace, metrics_bind_address="127.0.0.1:0", metrics_certificates=tls(directory))
    desk = Desk()
    assert manager.metrics is not None
    server = manager.metrics.server
    respond = server._answer

    async def later(request: Any) -> Any:
        await desk.wait()
        return await respond(request)

    server._answer = later
    async with manager, aiohttp.ClientSession() as prometheus:
        yield Served(manager, desk, lambda: prometheus.get(f"https://localhost:{server.port}/", ssl=trust()))


@asynccontextmanager
async def reviewed(grace: float | None, directory: Path) -> AsyncIterator[Served]:
    """A review that the API server requests from a webhook."""
    webhooks, desk = Webhooks(), Desk()
    webhooks.add("/slow", desk.review)
    server = WebhookServer(webhooks, certificates=tls(directory), host="localhost", port=0)
    manager = manager_with(grace)
    async with manager, aiohttp.ClientSession() as api_server:
        manager.add(server)
        url, body = "https://localhost:{}/slow", question("CREATE", podset())
        yield Served(manager, desk, lambda: api_server.post(url.format(server.port), json=body, ssl=trust()))


def tls(directory: Path) -> Path:
    issued = AUTHORITY.server("localhost")
    (directory / "tls.crt").write_bytes(issued.certificate)
    (directory / "tls.key").write_bytes(issued.key)
    return directory


def trust() -> ssl.SSLContext:
    return ssl.create_default_context(cadata=AUTHORITY.pem.decode())


SERVERS = [probed, scraped, reviewed]


async def status(ask: Asking) -> int | None:
    """Return the status of the response; None when the connection was closed without one."""
    try:
        async with ask() as answer:
            return answer.status
    except aiohttp.ClientConnectionError:
        return None


@asynccontextmanager
async def under_way(served: Served) -> AsyncIterator[tuple[asyncio.Task[None], asyncio.Task[int | None]]]:
    """Run the manager, send a request, and stop the manager meanwhile; check that it waits, and leaves no task."""
    before = asyncio.all_tasks()
    running = asyncio.create_task(served.manager.run(handle_signals=False))
    await served.manager.elected.wait()
    asking = asyncio.create_task(status(served.ask))
    await served.desk.asked.wait()
    served.manager.ask_to_stop()
    await asyncio.sleep(0.05)
    assert not running.done()
    yield running, asking
    assert running.done()
    assert asyncio.all_tasks() == before | {asyncio.current_task()}


@pytest.mark.parametrize("server", SERVERS)
async def test_what_is_under_way_is_answered(server: Any, tmp_path: Path) -> None:
    """After the first signal a request in progress is answered, and then the server ends."""
    async with server(30, tmp_path) as served, under_way(served) as (running, asking):
        served.desk.go_on.set()
        assert await asking in (200, 404)
        await running
    gc.collect(1)  # an open connection raises a warning


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("end", ["second signal", "grace over", "cancelled twice"])
async def test_what_takes_too_long_is_cut_off(
    server: Any, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a second signal or the grace period, connections are closed without a response, and none is left."""
    grace = 2 if end == "grace over" else 3600  # less than a check has, and a webhook
    async with server(grace, tmp_path) as served, under_way(served) as (running, asking):
        if end == "second signal":
            served.manager.ask_to_stop()
        elif end == "cancelled twice":
            running.cancel()
        else:
            await elapse_until_done(monkeypatch, running, step=1)
        with pytest.raises(asyncio.CancelledError if end == "cancelled twice" else GracePeriodExceeded):
            await running
        assert await asking is None
        assert served.desk.was_cut_off
    gc.collect(1)
