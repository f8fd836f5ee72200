"""The queue: what is promised about order, deadlines, deduplication and closing."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.controller._causes import RetryCause, TriggerCause
from pyctrl.controller._request import Request
from pyctrl.controller._workqueue.queue import Queue
from pyctrl.controller._workqueue.rate_limiters import ExponentialBackoff
from pyctrl.errors import (
    ConnectionFailed,
    Forbidden,
    Invalid,
    QueueClosed,
    ServiceUnavailable,
    Unauthorized,
    UnknownKind,
)
from tests.unit.controller.workqueue._queues import A, B, C, make_queue, now, seconds, take


async def test_a_request_added_twice_is_handed_out_once() -> None:
    """Adding what is in line already changes nothing."""
    queue = make_queue()
    queue.add(A)
    queue.add(A)

    assert await take(queue) == A
    assert queue.statistics().ready == 0


async def test_a_re_add_raises_the_priority_and_never_lowers_it() -> None:
    """Of two adds the higher priority holds, at the end of its line."""
    queue = make_queue()
    queue.add(A, priority=-100)
    queue.add(B)
    queue.add(A)
    queue.add(B, priority=-100)

    assert [await take(queue) for _ in range(2)] == [B, A]


async def test_a_request_added_while_it_is_worked_on_runs_once_more_afterwards() -> None:
    """A change during a reconcile is neither lost nor worked on at the same time."""
    queue = make_queue()
    queue.add(A)
    async with queue.take() as turn:
        queue.add(A)
        queue.add(A)
        assert queue.statistics().ready == 0
        turn.succeed()

    assert await take(queue) == A
    assert queue.statistics().ready == 0


async def test_others_overtake_a_request_that_waits_for_its_own_worker() -> None:
    """A request added again while worked on does not hold up the line."""
    queue = make_queue()
    queue.add(A)
    async with queue.take() as turn:
        queue.add(A, priority=100)
        queue.add(B)
        assert await take(queue) == B
        turn.succeed()

    assert await take(queue) == A


async def test_a_worker_that_waits_is_woken_by_an_add() -> None:
    """A worker asleep at an empty queue gets what is added, at once."""
    queue = make_queue()
    async with asyncio.TaskGroup() as group:
        worker = group.create_task(take(queue))
        await asyncio.sleep(5)
        queue.add(A)

    assert worker.result() == A
    assert now() == 5


async def test_two_adds_wake_two_workers() -> None:
    """Nobody sleeps while there is something to do."""
    queue = make_queue()
    async with asyncio.TaskGroup() as group:
        workers = [group.create_task(take(queue)) for _ in range(2)]
        await asyncio.sleep(1)
        queue.add(A)
        queue.add(B)

    assert {worker.result() for worker in workers} == {A, B}


async def test_a_worker_cancelled_as_it_is_woken_passes_the_request_on() -> None:
    """A request is not lost when its worker is cancelled in the moment of waking up."""
    queue = make_queue()
    first, second = (asyncio.create_task(take(queue)) for _ in range(2))
    await asyncio.sleep(1)
    queue.add(A)
    first.cancel()

    assert await second == A
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_cancelled_turn_goes_back_in_line_as_it_came() -> None:
    """Work that was cut off is not lost: the request comes again with its priority and causes."""
    queue = make_queue()
    queue.add(A, priority=7, cause=TriggerCause("hand"))
    with pytest.raises(RuntimeError):
        async with queue.take():
            raise RuntimeError

    async with queue.take() as turn:
        turn.succeed()
    assert (turn.request, turn.priority, turn.causes) == (A, 7, (TriggerCause("hand"),))


async def test_a_failed_request_comes_back_later_each_time() -> None:
    """Backoff grows with each failure and starts over after a success."""
    queue = make_queue()
    queue.add(A)
    times = []
    for outcome in ("fail", "fail", "fail", "succeed", "fail", "succeed"):
        async with queue.take() as turn:
            times.append(now())
            turn.succeed() if outcome == "succeed" else turn.fail(ValueError("no"))
        if outcome == "succeed":
            queue.add(A)

    assert times == [0, 1, 3, 7, 7, 8]


RIGHT = 'pods is forbidden: User "jane" cannot list resource "pods" in API group "" at the cluster scope'


@pytest.mark.parametrize(
    ("error", "waits"),
    [
        (Forbidden(RIGHT), 60),
        (Unauthorized("Unauthorized"), 60),
        (ConnectionFailed("nobody there"), 60),
        (ServiceUnavailable("starting"), 60),
        (UnknownKind("PodSet"), 60),
        (Forbidden('pods "a" is forbidden: exceeded quota: some'), 1024),
        (Invalid("no"), 1024),
        (ValueError("no"), 1024),
    ],
    ids=repr,
)
async def test_an_outage_is_waited_out_in_short_steps(error: Exception, waits: float) -> None:
    """What ends for all objects at once is tried again within a minute, however long it has lasted."""
    queue = Queue("test", limiter=ExponentialBackoff(first=seconds(1), longest=seconds(5000), jitter=0))
    queue.add(A)
    for _ in range(11):
        async with queue.take() as turn:
            turn.fail(error)
    began = now()
    await take(queue)
    assert now() - began == pytest.approx(waits)


async def test_a_change_neither_delays_a_retry_nor_inflates_the_backoff() -> None:
    """Failures of runs that a change caused before the retry was due do not count, and the retry stays in place."""
    queue = make_queue()
    queue.add(A)
    for _ in range(3):
        async with queue.take() as turn:
            turn.fail(ValueError())
    assert now() == 3  # the next retry is due at 7
    for moment in (4, 5, 6):
        await asyncio.sleep(moment - now())
        queue.add(A)
        async with queue.take() as turn:
            assert now() == moment
            turn.fail(ValueError())

    async with queue.take() as turn:
        assert now() == 7
        turn.fail(ValueError())
    assert await take(queue) == A
    assert now() == 7 + 8


async def test_a_change_that_heals_cancels_the_retry() -> None:
    """A success takes the retry of an earlier failure away."""
    queue = make_queue()
    queue.add(A)
    async with queue.take() as turn:
        turn.fail(ValueError())
    queue.add(A)
    await take(queue)

    assert queue.remaining() == []
    assert queue.statistics().waiting == 0


async def test_a_run_that_is_at_work_when_its_retry_falls_due_counts_as_the_retry() -> None:
    """A slow failing run does not run twice for one retry."""
    queue = make_queue()
    queue.add(A)
    async with queue.take() as turn:
        turn.fail(ValueError())
    queue.add(A)
    async with queue.take() as turn:
        await asyncio.sleep(5)
        turn.fail(ValueError())

    assert await take(queue) == A
    assert now() == 5 + 2


async def test_a_retry_due_while_in_a_lower_line_rises_to_its_own_priority() -> None:
    """A resync that finds a request waiting for its retry does not put the retry behind the resync's crowd."""
    queue = make_queue()
    queue.add(A)
    async with queue.take() as turn:
        turn.fail(ValueError())
    for request in (B, A):
        queue.add(request, priority=-100)
    await asyncio.sleep(2)

    assert [await take(queue), await take(queue)] == [A, B]


async def test_giving_up_runs_again_only_when_something_changes() -> None:
    """A terminal failure is not retried, and its failures are forgotten."""
    queue = make_queue()
    queue.add(A)
    for outcome in ("fail", "give up"):
        async with queue.take() as turn:
            turn.give_up() if outcome == "give up" else turn.fail(ValueError())
    assert queue.remaining() == []

    queue.add(A)
    async with queue.take() as turn:
        assert turn.failures == 0
        turn.succeed()


async def test_a_next_run_keeps_the_priority_unless_told_otherwise() -> None:
    """A timer and a retry have the priority of the run that asked for them, or the one it named."""
    queue = make_queue()
    queue.add(A, priority=-100)
    seen = []
    for priority in (None, 5, None):
        async with queue.take() as turn:
            seen.append(turn.priority)
            turn.succeed(requeue_after=seconds(1), priority=priority)

    assert seen == [-100, -100, 5]


async def test_closing_drops_what_is_in_line_and_says_what() -> None:
    """A closed queue hands out nothing, takes nothing, and tells what did not run."""
    queue = make_queue()
    queue.add(A)
    queue.add(B, after=seconds(5))
    queue.close()
    queue.add(C)

    with pytest.raises(QueueClosed):
        await take(queue)
    assert queue.remaining() == [A, B]
    assert queue.statistics().is_closed


async def test_closing_wakes_the_workers_that_wait() -> None:
    """No worker hangs at a queue that was closed."""
    queue = make_queue()
    workers = [asyncio.create_task(take(queue)) for _ in range(3)]
    await asyncio.sleep(1)
    queue.close()

    results = await asyncio.gather(*workers, return_exceptions=True)
    assert [type(result) for result in results] == [QueueClosed] * 3


async def test_draining_runs_what_is_ready_and_nothing_later() -> None:
    """With drain, what was ready still runs, even what was added again while worked on; deadlines do not hold it up."""
    queue = make_queue()
    queue.add(A)
    queue.add(B)
    async with queue.take() as turn:
        queue.add(A)
        queue.close(drain=True)
        turn.succeed()
    async with queue.take() as turn:
        turn.succeed(requeue_after=seconds(0))

    assert turn.request == B
    assert await take(queue) == A
    with pytest.raises(QueueClosed):
        await take(queue)
    assert queue.remaining() == [B]


async def test_causes_are_kept_while_requests_are_merged() -> None:
    """A run knows every reason it has, in order; the same reason again is counted."""
    queue = make_queue()
    queue.add(A, cause=TriggerCause("first"))
    queue.add(A, cause=TriggerCause("second"))
    queue.add(A, cause=TriggerCause("second"))
    async with queue.take() as turn:
        turn.fail(ValueError("a line\nand another"))
    assert turn.causes == (TriggerCause("first"), TriggerCause("second", times=2))

    async with queue.take() as turn:
        turn.succeed()
    assert turn.causes == (RetryCause(1, "ValueError: a line and another"),)


async def test_a_finished_request_leaves_nothing_behind() -> None:
    """The queue's memory is of what is wanted, not of all there ever was."""
    queue = make_queue()
    for number in range(100):
        queue.add(Request("default", str(number)))
        async with queue.take() as turn:
            turn.succeed()

    assert queue._entries == {}
    assert len(queue._ready) == 0


async def test_statistics_tell_how_it_is_doing() -> None:
    """Numbers for metrics: in line by priority, waiting, at work, and how long."""
    queue = make_queue()
    queue.add(A)
    queue.add(B, priority=-100)
    queue.add(C, after=seconds(60))
    await asyncio.sleep(2)
    async with queue.take() as turn:
        await asyncio.sleep(3)
        statistics = queue.statistics()
        turn.succeed()

    assert turn.waited == seconds(2)
    assert (statistics.ready, statistics.ready_by_priority, statistics.waiting) == (1, {-100: 1}, 1)
    assert (statistics.working, statistics.longest_working) == (1, seconds(3))
    assert (statistics.adds, statistics.retries, statistics.longest_ready) == (3, 1, seconds(5))


async def test_a_limiter_is_asked_only_about_requests_that_have_failed() -> None:
    """Nearly every request has never failed: taking it costs no call of the limiter."""
    asked: list[Request] = []

    class Counting(ExponentialBackoff):
        def failures(self, request: Request) -> int:
            asked.append(request)
            return super().failures(request)

    queue = Queue("test", limiter=Counting(first=seconds(1), jitter=0))
    queue.add(A)
    async with queue.take() as item:
        item.fail(RuntimeError("no"))
    assert asked == []

    async with queue.take() as item:
        assert item.failures == 1
        item.succeed()
    assert asked == [A]

    queue.add(A)
    async with queue.take() as item:
        assert item.failures == 0
        item.succeed()
    assert asked == [A]
