"""Signals to the example operators during a reconcile: the first drains, the second ends the process."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from pyctrl.api import Key
from pyctrl.apiserver import ApiServer, serve
from pyctrl.client import Client, Config
from pyctrl.cluster import Cluster
from pyctrl.kinds.apps.v1 import Deployment
from tests.integration._operators import install, podset
from tests.integration._processes import Operator, podset_process

pytestmark = pytest.mark.slow("starts processes, which import for a second each")

WEB = Key("default", "web")


class Thoughtful:
    """An API server that delays its answer to the first Deployment until the test continues."""

    def __init__(self, server: ApiServer) -> None:
        self._server, self.storage = server, server.storage
        self.asked = asyncio.Event()
        self.go_on = asyncio.Event()

    async def handle(self, method: str, path: str, *arguments: Any, **options: Any) -> Any:
        if method != "GET" and "/deployments" in path:
            self.asked.set()
            await self.go_on.wait()
        return await self._server.handle(method, path, *arguments, **options)

    def running(self) -> AbstractAsyncContextManager[None]:
        return self._server.running()


@asynccontextmanager
async def at_work(directory: Path) -> AsyncIterator[tuple[Operator, Thoughtful, Client]]:
    """An operator in the middle of a reconcile, waiting for the answer to its first write.

    The server is always the test's own, because a real one answers at once.
    """
    async with Cluster(kubelet=False) as cluster, cluster.client() as client:
        thoughtful = Thoughtful(cluster.server)
        async with serve(cast(ApiServer, thoughtful), "127.0.0.1", 0) as url:
            kubeconfig = directory / "kubeconfig"
            kubeconfig.write_text(Config.from_token(url, "admin").to_kubeconfig())
            await install(client)
            await client.create(podset(WEB.namespace, 1))
            async with podset_process(kubeconfig) as operator:
                await thoughtful.asked.wait()
                yield operator, thoughtful, client
            assert not [line for line in operator.log if "Traceback" in line or "never retrieved" in line]


async def test_the_first_signal_lets_a_reconcile_finish(tmp_path: Path) -> None:
    """After one signal the running reconcile finishes, no other starts, and the exit code is 0."""
    async with at_work(tmp_path) as (operator, server, client):
        ending = asyncio.create_task(operator.end(signal.SIGTERM))
        await operator.says("Shutdown signal received, waiting for all workers to finish")
        assert await client.find(Deployment, WEB) is None
        server.go_on.set()
        assert await ending == 0
        assert (await client.get(Deployment, WEB)).metadata.name == "web"


async def test_the_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    """A second signal cancels the reconcile and logs one line about it; the exit code is 1."""
    async with at_work(tmp_path) as (operator, server, _):
        ending = asyncio.create_task(operator.end(signal.SIGINT))
        await operator.says("Shutdown signal received, waiting for all workers to finish")
        assert [await operator.end(signal.SIGTERM), await ending] == [1, 1]  # the first server never answers
        assert "when asked a second time: elected/podset" in operator.log[-1]
        assert any("Reconcile was cancelled: the grace period" in line for line in operator.log)
        server.go_on.set()
