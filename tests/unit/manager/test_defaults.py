"""Defaults of controller-runtime's manager, measured by behaviour instead of read from constants."""

from __future__ import annotations

import asyncio
import signal
from datetime import timedelta
from typing import cast

import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.errors import GracePeriodExceeded
from pyctrl.manager import Manager
from pyctrl.testing import VirtualTimeLoop


def now() -> float:
    return asyncio.get_running_loop().time()


class Busy:
    """Ends a given time after the request to stop."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._asked = asyncio.Event()

    async def run(self) -> None:
        await self._asked.wait()
        await asyncio.sleep(self._seconds)

    def ask_to_stop(self) -> None:
        self._asked.set()


async def test_stopping_may_take_30_s() -> None:
    """Signals are handled by default; runnables that do not end within 30 seconds are cancelled and named."""
    async with Manager(Config.in_process(ApiServer())) as manager:
        manager.add(Busy(1000))
        loop = cast(VirtualTimeLoop, asyncio.get_running_loop())
        loop.call_at(100, loop.send_signal, signal.SIGTERM)
        with pytest.raises(GracePeriodExceeded, match=r"within the grace period of 0:00:30: .*elected/Busy"):
            await manager.run()

    assert now() == 130


async def test_without_a_grace_period_stopping_takes_as_long_as_it_takes() -> None:
    """Without a grace period, stopping waits for ever, as with a negative GracefulShutdownTimeout."""
    async with Manager(Config.in_process(ApiServer()), grace_period=None) as manager:
        manager.add(Busy(timedelta(hours=10).total_seconds()))
        asyncio.get_running_loop().call_at(100, manager.ask_to_stop)
        await manager.run()

    assert now() == 100 + 36000


async def test_a_manager_that_is_told_nothing_listens_nowhere_and_elects_nobody() -> None:
    """A manager without options opens no socket and requests no Lease."""
    server = ApiServer()
    async with Manager(Config.in_process(server)) as manager, manager.running():
        assert manager.elected.is_set()
        assert (manager.health_server, manager.metrics, manager.elector) == (None, None, None)
