"""A controller with a scripted reconciler, and sources that sync at once or late."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from random import Random
from typing import Any

from pyctrl._time_slices import STEPS
from pyctrl.api import GroupVersionKind
from pyctrl.controller import (
    Controller,
    ControllerOptions,
    ExponentialBackoff,
    Reconciler,
    Request,
    RequestSink,
    Result,
    Source,
    TriggerCause,
)

A, B, C = (Request("default", name) for name in "abc")
THING = GroupVersionKind("example.com", "v1", "Thing")


def now() -> float:
    return asyncio.get_running_loop().time()


class Listed(Source):
    """A source of existing requests, listed after a delay."""

    def __init__(self, *requests: Request, after: float = 0) -> None:
        super().__init__()
        self.requests = requests
        self.after = after

    async def run(self, queue: RequestSink) -> None:
        for request in self.requests:
            queue.add(request, cause=TriggerCause("listed"))
        await asyncio.sleep(self.after)
        self.synced.set()
        await asyncio.Event().wait()

    def problem(self) -> str | None:
        return "things.example.com is forbidden"


class Scripted(Reconciler[Any]):
    """Runs the script of the test and records the times of its calls."""

    def __init__(self, reconcile: Callable[[Request], Awaitable[Any]]) -> None:
        self.calls: list[tuple[float, Request]] = []
        self._reconcile = reconcile

    async def reconcile(self, request: Request) -> Result | None:
        self.calls.append((now(), request))
        result: Result | None = await self._reconcile(request)
        return result


def make(reconcile: Callable[[Request], Awaitable[Any]], *sources: Source, **options: Any) -> Controller:
    options.setdefault("limiter", ExponentialBackoff(first=timedelta(seconds=1), jitter=0))
    return Controller(
        "thing", Scripted(reconcile), sources, kind=THING, options=ControllerOptions(**options), random=Random(1)
    )


@asynccontextmanager
async def running(controller: Controller) -> AsyncIterator[list[tuple[float, Request]]]:
    """Run a controller for the length of a block, then stop it and wait for its end."""
    task = asyncio.create_task(controller.run())
    try:
        assert isinstance(controller.reconciler, Scripted)
        yield controller.reconciler.calls
    finally:
        controller.ask_to_stop()
        await task


async def nothing(request: Request) -> None:
    """Return without doing anything."""


MANY = [Request("default", str(number)) for number in range(5 * STEPS)]
