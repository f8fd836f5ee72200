"""Lifecycles for tests, and runnables that record their calls."""

from __future__ import annotations

import asyncio
import signal
from datetime import timedelta
from typing import cast

from pyctrl.manager._runnables.lifecycle import Lifecycle
from pyctrl.testing import VirtualTimeLoop


def now() -> float:
    return asyncio.get_running_loop().time()


def send(number: signal.Signals) -> None:
    cast(VirtualTimeLoop, asyncio.get_running_loop()).send_signal(number)


class Life:
    """A runnable that records its calls."""

    def __init__(self, name: str, journal: list[str], *, ready_after: float = 0, cleanup: float = 0) -> None:
        self.name = name
        self.journal = journal
        self.ready_after = ready_after
        self.cleanup = cleanup

    async def run(self) -> None:
        self.journal.append(f"{self.name} starts")
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(self.cleanup)
            self.journal.append(f"{self.name} ends")

    async def wait_until_ready(self) -> None:
        await asyncio.sleep(self.ready_after)
        self.journal.append(f"{self.name} is ready")


class Worker(Life):
    """A runnable that takes time to finish its work after the request to stop."""

    def __init__(self, name: str, journal: list[str], *, work: float) -> None:
        super().__init__(name, journal)
        self.work = work
        self.asked = asyncio.Event()

    async def wait_until_ready(self) -> None:
        """Be ready at once, without a record."""

    async def run(self) -> None:
        self.journal.append(f"{self.name} starts")
        try:
            await self.asked.wait()
            await asyncio.sleep(self.work)
        except asyncio.CancelledError:
            self.journal.append(f"{self.name} is cancelled")
            raise
        self.journal.append(f"{self.name} ends")

    def ask_to_stop(self) -> None:
        self.asked.set()


def make(grace: float = 30) -> Lifecycle:
    return Lifecycle(grace_period=timedelta(seconds=grace))


async def run_until(lifecycle: Lifecycle, moment: float, *, handle_signals: bool = False) -> None:
    """Run a lifecycle and request its stop at a given time."""
    asyncio.get_running_loop().call_at(moment, lifecycle.ask_to_stop)
    await lifecycle.run(handle_signals=handle_signals)
