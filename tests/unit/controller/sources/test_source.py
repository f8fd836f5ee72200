"""Sources that do not use the cache: channels and tickers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import pairwise
from random import Random
from typing import cast

import pytest

from pyctrl.controller import ChannelSource, ReconcileCause, Request, Source, TickSource, TriggerCause

A, B = Request("default", "a"), Request("default", "b")


def now() -> float:
    return asyncio.get_running_loop().time()


class Intaken:
    """A request sink that records requests and their times."""

    def __init__(self) -> None:
        self.added: list[tuple[float, Request]] = []
        self.causes: list[ReconcileCause | None] = []
        self.priorities: list[int] = []

    def add(
        self,
        request: Request,
        *,
        priority: int = 0,
        after: timedelta | None = None,
        cause: ReconcileCause | None = None,
        is_gone: bool = False,
    ) -> None:
        self.added.append((now(), request))
        self.causes.append(cause)
        self.priorities.append(priority)

    def drop(self, cluster: str) -> Sequence[Request]:
        return ()


@asynccontextmanager
async def following(source: Source) -> AsyncIterator[Intaken]:
    """Run a source for the length of a block."""
    intake = Intaken()
    task = asyncio.create_task(source.run(intake))
    try:
        yield intake
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_channel_hands_requests_over() -> None:
    """A request sent to a channel is added with the channel as its cause."""
    source: ChannelSource = ChannelSource(name="hook", priority=5)
    async with following(source) as intake:
        await source.send(A)
        await asyncio.sleep(1)
        source.send_nowait(B)
        await asyncio.sleep(1)

    assert intake.added == [(0, A), (1, B)]
    assert (intake.causes[0], intake.priorities[0]) == (TriggerCause("hook"), 5)
    assert source.synced.is_set()


async def test_a_channel_keeps_messages_until_the_controller_runs() -> None:
    """A channel buffers messages until the controller runs; when it is full, send waits and send_nowait raises."""
    source: ChannelSource = ChannelSource(size=1)
    source.send_nowait(A)
    with pytest.raises(asyncio.QueueFull):
        source.send_nowait(B)
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(source.send(B))
        await asyncio.sleep(1)
        assert not waiting.done()
        async with following(source) as intake:
            await asyncio.sleep(1)

    assert [request for _, request in intake.added] == [A, B]


async def test_a_channels_handler_maps_messages_and_may_wait_and_fail(caplog: pytest.LogCaptureFixture) -> None:
    """A handler maps messages of any type and may await; if it fails, the error is logged and the message lost."""

    async def requests(message: str) -> Iterable[Request]:
        if message == "bad":
            raise ValueError("bad")
        return [Request("default", message)]

    source = ChannelSource(requests, name="hook")
    async with following(source) as intake:
        for message in ("a", "bad", "b"):
            await source.send(message)
        await asyncio.sleep(1)

    assert [request for _, request in intake.added] == [A, B]
    assert "A handler failed, its message is lost" in caplog.messages


async def test_a_message_that_is_no_request_needs_a_handler(caplog: pytest.LogCaptureFixture) -> None:
    """A message that is not a request, sent without a handler, is an error; other messages are not lost."""
    source: ChannelSource = ChannelSource()
    async with following(source) as intake:
        await source.send(cast(Request, "a"))
        await source.send(A)
        await asyncio.sleep(1)

    assert [request for _, request in intake.added] == [A]
    assert "expected a Request (or give ChannelSource a handler), got 'a'" in caplog.text


async def test_ticks_come_at_once_and_then_in_each_period() -> None:
    """A ticker ticks at once and then once per period: exactly without jitter, otherwise around the period."""
    async with following(TickSource(timedelta(minutes=1), [A], jitter=0)) as intake:
        await asyncio.sleep(150)
    assert intake.added == [(0, A), (60, A), (120, A)]

    began = now()
    async with following(TickSource(timedelta(minutes=1), [A], random=Random(1))) as intake:
        await asyncio.sleep(6000)
    moments = [moment - began for moment, _ in intake.added]
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    assert all(54 <= gap <= 66.001 for gap in gaps)
    assert len(set(gaps)) > 1


async def test_a_tick_may_ask_a_function_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    """A ticker's function is called at each tick, also after a failure at an earlier tick."""
    answers: Iterator[list[Request] | ValueError] = iter([[A], ValueError("not now"), [B]])

    def requests() -> Iterable[Request]:
        answer = next(answers)
        if isinstance(answer, ValueError):
            raise answer
        return answer

    async with following(TickSource(timedelta(seconds=10), requests, jitter=0)) as intake:
        await asyncio.sleep(25)

    assert intake.added == [(0, A), (20, B)]
    assert "A tick failed, its requests are lost" in caplog.messages


def test_a_period_must_be_a_time() -> None:
    """A period must be positive."""
    with pytest.raises(ValueError, match="must be positive"):
        TickSource(timedelta(0), [A])
