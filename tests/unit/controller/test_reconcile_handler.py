"""A run that wants to be repeated at once: the rate limiter says when, and it is no failure."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from itertools import pairwise

import pytest

from pyctrl._log import LogContextFilter
from pyctrl.controller import Request, Result
from tests.unit.controller._kit import A, B, Listed, make, running
from tests.unit.controller.workqueue._queues import make_queue, now, seconds, take

AT_ONCE = timedelta(0)


async def test_a_run_that_wants_to_be_repeated_at_once_backs_off() -> None:
    """Each time it waits twice as long, as controller-runtime's Requeue does, and nothing counts as a failure."""
    queue = make_queue()
    queue.add(A)
    for expected in (0, 1, 3, 7, 15):
        async with queue.take() as turn:
            assert (now(), turn.failures) == (expected, 0)
            turn.succeed(requeue_after=AT_ONCE)

    assert queue.statistics().retries == 5


@pytest.mark.parametrize("other", [None, timedelta(seconds=1)], ids=["done", "later"])
async def test_the_delay_begins_again_when_a_run_ends_otherwise(other: timedelta | None) -> None:
    """A run that is done, or that names a delay, makes the next immediate repetition the first one."""
    queue = make_queue()
    queue.add(A)
    for _ in range(3):
        async with queue.take() as turn:
            turn.succeed(requeue_after=AT_ONCE)
    async with queue.take() as turn:
        turn.succeed(requeue_after=other)
    queue.add(A)
    async with queue.take() as turn:
        began = now()
        turn.succeed(requeue_after=AT_ONCE)

    await take(queue)
    assert now() == began + 1


async def test_failures_and_repetitions_share_the_delay_and_not_the_count() -> None:
    """A request that fails and asks to be repeated in turns backs off all the same; only failures are failures."""
    queue = make_queue()
    queue.add(A)
    seen = []
    for number in range(4):
        async with queue.take() as turn:
            seen.append((now(), turn.failures))
            if number % 2:
                turn.fail(ValueError("no"))
            else:
                turn.succeed(requeue_after=AT_ONCE)

    assert seen == [(0, 0), (1, 0), (3, 1), (7, 1)]


async def test_a_change_answers_the_wish_to_be_repeated_at_once() -> None:
    """It runs now; the delay neither moves nor grows by it, and is gone when that run is done."""
    queue = make_queue()
    queue.add(A)
    async with queue.take() as turn:
        turn.succeed(requeue_after=AT_ONCE)
    for _ in range(5):
        queue.add(A)
        async with queue.take() as turn:
            assert now() == 0
            turn.succeed(requeue_after=AT_ONCE)
    async with queue.take() as turn:
        assert now() == 1
        turn.succeed(requeue_after=AT_ONCE)
    queue.add(A)
    async with queue.take() as turn:
        turn.succeed()

    assert queue.remaining() == []


async def test_to_be_repeated_at_once_replaces_a_timer() -> None:
    """As each later run's delay does: the timer of an hour does not ring any more."""
    queue = make_queue()
    queue.add(A)
    async with queue.take() as turn:
        turn.succeed(requeue_after=seconds(3600))
    queue.add(A)
    async with queue.take() as turn:
        turn.succeed(requeue_after=AT_ONCE)
    async with queue.take() as turn:
        turn.succeed()

    assert queue.remaining() == []


async def test_a_negative_delay_is_zero_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    """The warning names controller, object, delay and cure; further ones, of whatever object, are not logged."""
    caplog.handler.addFilter(LogContextFilter())

    async def late(_request: Request) -> Result:
        return Result.after(timedelta(seconds=-90))

    controller = make(late, Listed(A, B))
    with caplog.at_level(logging.WARNING):
        async with running(controller) as calls:
            await asyncio.sleep(20)

    times = [at for at, request in calls if request == A]
    assert [later - earlier for earlier, later in pairwise(times)] == [1, 2, 4, 8]
    [warning] = caplog.records
    assert warning.message == (
        "Reconcile returned a negative delay, requeueing rate-limited; further negative delays are not logged"
    )
    facts = vars(warning)
    about = facts["context"]
    assert (about["controller"], about["name"], facts["after"]) == ("thing", "a", timedelta(seconds=-90))
    assert "max(delay, timedelta(0))" in facts["fix"]


async def test_repetitions_at_once_are_counted_as_such() -> None:
    """They are controller-runtime's result="requeue", those with a delay its result="requeue_after"."""

    async def reconcile(request: Request) -> Result:
        return Result.after(AT_ONCE if request == A else timedelta(seconds=60))

    controller = make(reconcile, Listed(A, B))
    async with running(controller):
        await asyncio.sleep(10)
        counts = controller.statistics().reconciles

    assert (counts.requeue, counts.requeue_after, counts.error) == (4, 1, 0)


async def test_many_that_always_repeat_leave_the_worker_to_others() -> None:
    """A thousand of them take some ten runs each in the first seconds, and a change of another object is next."""
    loop_ends = 10.0
    stubborn = [Request("default", str(number)) for number in range(1000)]

    async def reconcile(request: Request) -> Result | None:
        return None if request == B else Result.after(AT_ONCE)

    controller = make(reconcile, Listed(*stubborn), limiter=None)
    async with running(controller) as calls:
        await asyncio.sleep(loop_ends / 2)
        controller.enqueue(B)
        await asyncio.sleep(loop_ends / 2)

    assert [at for at, request in calls if request == B] == [loop_ends / 2]
    assert 1000 * 10 < len(calls) < 1000 * 13  # 5 ms, doubled: eleven are over after ten seconds
