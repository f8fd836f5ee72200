"""Limits on the requests that a source adds without awaiting."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from pyctrl.controller import Queue, Request, RequestSink, Source
from pyctrl.controller._sources.runner import SourceRunner
from pyctrl.controller._workqueue.request_sinks import ClusterQueue, LimitedSink
from pyctrl.errors import ControllerError
from tests.unit.controller._kit import MANY, A


class Unwanted(Queue):
    """A queue that rejects all requests, which is fast for half a million of them."""

    def add(self, request: Request, **_: Any) -> None:
        """Ignore the request."""


class Endless(Source):
    """Adds requests and never awaits."""

    async def run(self, queue: RequestSink) -> None:
        self.synced.set()
        while True:
            queue.add(A)


async def test_a_source_that_never_waits_fails(caplog: pytest.LogCaptureFixture) -> None:
    """A source that adds too many requests without awaiting fails with an error that names the fix, then restarts."""
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
    """The limit counts requests within one turn of the event loop only."""
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


async def test_a_controller_in_a_cluster_gets_requests_of_its_cluster_only(caplog: pytest.LogCaptureFixture) -> None:
    """A request without a cluster gets that of its controller; one for another cluster is dropped, with one warning."""
    queue = Queue("test")
    sink = ClusterQueue("north", queue)
    sink.add(A)
    for _ in range(2):
        sink.add(A._replace(cluster="south"))

    assert queue.remaining() == [A._replace(cluster="north")]
    assert [text.partition(":")[0] for text in caplog.messages] == ["Dropping a request for another cluster"]
