"""Limits on the requests that a source adds without an await."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from pyctrl.controller import Queue, Request, RequestSink, Source
from pyctrl.controller._sources.runner import SourceRunner
from pyctrl.controller._workqueue.request_sinks import LimitedSink
from pyctrl.errors import ControllerError
from tests.unit.controller._kit import MANY, A


class Unwanted(Queue):
    """A queue that takes nothing: half a million requests are quickly refused."""

    def add(self, request: Request, **_: Any) -> None:
        """Do nothing."""


class Endless(Source):
    """Adds requests and never waits."""

    async def run(self, queue: RequestSink) -> None:
        self.synced.set()
        while True:
            queue.add(A)


async def test_a_source_that_never_waits_fails(caplog: pytest.LogCaptureFixture) -> None:
    """After so many requests it is stopped by an error with the cure, and run again later."""
    life = SourceRunner(Endless(), random=Random(1), fields={})
    task = asyncio.create_task(life.run(Unwanted(), is_fatal=False))
    await asyncio.sleep(0)
    task.cancel()

    assert str(life.error) == (
        "Endless added 500,000 requests without an await, which blocked the event loop; "
        "call `await asyncio.sleep(0)` in its loop"
    )
    assert caplog.messages == ["Source failed, it will be restarted"]


async def test_many_requests_over_many_turns_are_no_matter() -> None:
    """Only what is added in one turn of the loop counts."""
    queue = Queue()
    intake = LimitedSink("source", queue, most=10)
    for number in range(3):
        for each in range(10):
            intake.add(Request("default", f"{number}-{each}"))
        await asyncio.sleep(0)

    assert queue.statistics().ready == 30
    with pytest.raises(ControllerError, match="source added 10 requests"):
        for request in MANY:
            intake.add(request)
