"""Sources that fail or sync late: restarts, status and log lines."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.controller import (
    ChannelSource,
    ControllerState,
    OnSyncFailure,
    RequestSink,
    Source,
)
from tests.unit.controller._kit import A, B, Listed, make, nothing, running


class Broken(Source):
    """A source that raises until the test repairs it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_mended = False
        self.runs = 0

    async def run(self, queue: RequestSink) -> None:
        self.runs += 1
        if not self.is_mended:
            raise ConnectionError("no such host")
        queue.add(A)
        self.synced.set()
        await asyncio.Event().wait()


async def test_a_source_that_fails_is_started_again_until_it_works(caplog: pytest.LogCaptureFixture) -> None:
    """A failing source is restarted within 30 seconds; until it works no reconcile runs, and one error is logged."""
    broken = Broken()
    controller = make(nothing, Listed(B), broken)
    async with running(controller) as calls:
        await asyncio.sleep(100)
        assert calls == []
        assert 6 < broken.runs < 40
        assert (controller.state, controller.is_ready) == (ControllerState.FAILING, False)
        assert controller.why_not_ready == "cannot start: Broken: ConnectionError: no such host"
        broken.is_mended = True
        await asyncio.sleep(31)
        assert {request for _, request in calls} == {A, B}
        assert controller.is_ready
    [told] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert (told.getMessage(), told.exc_info is not None) == ("Source failed, it will be restarted", True)


async def test_a_source_that_fails_later_does_not_stop_the_others() -> None:
    """If a source fails after the sync, the controller continues with the others and reports the missing source."""

    class Torn(Broken):
        async def run(self, queue: RequestSink) -> None:
            if self.runs == 0:
                self.synced.set()
                await asyncio.sleep(10)
            await super().run(queue)

    torn, channel = Torn(), ChannelSource()
    controller = make(nothing, torn, channel)
    async with running(controller) as calls:
        await asyncio.sleep(5)
        assert controller.is_ready
        await asyncio.sleep(6)
        assert controller.why_not_ready == "lacks a source: Torn: ConnectionError: no such host"
        channel.send_nowait(B)
        await asyncio.sleep(1)
        assert [request for _, request in calls] == [B]
        torn.is_mended = True
        await asyncio.sleep(60)
        assert controller.is_ready


async def test_a_source_that_fails_ends_the_controller_if_that_is_asked_for() -> None:
    """With OnSyncFailure.END the source's error ends the controller unchanged."""
    controller = make(nothing, Broken())
    controller.on_sync_failure = OnSyncFailure.END
    with pytest.raises(ConnectionError, match="no such host"):
        await controller.run()
    assert controller.queue.is_closed


async def test_a_second_life_begins_without_the_failures_of_the_first() -> None:
    """A controller run a second time waits for its sources and no longer reports failures of the first run."""

    class Late(Broken):
        async def run(self, queue: RequestSink) -> None:
            if self.is_mended:
                await asyncio.sleep(3)
            await super().run(queue)

    late = Late()
    controller = make(nothing, late)
    async with running(controller):
        await asyncio.sleep(10)
        assert controller.why_not_ready.startswith("cannot start")
    late.is_mended = True
    async with running(controller) as calls:
        await asyncio.sleep(1)
        assert controller.why_not_ready.startswith("waits for its sources")
        await asyncio.sleep(3)
        assert [request for _, request in calls] == [A]
