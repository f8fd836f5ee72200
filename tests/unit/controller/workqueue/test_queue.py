"""The queue: order, deadlines, deduplication and closing."""

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
    """A request that is already queued is not added again."""
    queue = make_queue()
    queue.add(A)
    queue.add(A)

    assert await take(queue) == A
    assert queue.statistics().ready == 0


async def test_a_re_add_raises_the_priority_and_never_lowers_it() -> None:
    """A second add can raise a request's priority, not lower it; the request goes behind others of that priority."""
    queue = make_queue()
    queue.add(A, priority=-100)
    queue.add(B)
    queue.add(A)
    queue.add(B, priority=-100)

    assert [await take(queue) for _ in range(2)] == [B, A]


async def test_a_request_added_while_it_is_worked_on_runs_once_more_afterwards() -> None:
    """A request added during its reconcile runs once more after it, not at the same time."""
    queue = make_queue()
    queue.add(A)
    async with queue.take() as turn:
        queue.add(A)
        queue.add(A)
        assert queue.statistics().ready == 0
        turn.succeed()

    assert await take(queue) == A
    assert queue.statistics().ready == 0


async def test_a_request_added_between_the_end_of_its_reconcile_and_its_return_runs_once_more() -> None:
    """A request is not lost that is added after its reconcile has ended and before the worker has returned it."""
    queue = make_queue()
    queue.add(A)
    async with queue.take() as turn:
        turn.succeed()
        turn.ended = now()
        await asyncio.sleep(0.00001)  # as long as a function call takes on a real clock
        queue.add(A)

    async with asyncio.timeout(1):
        assert await take(queue) == A


async def test_others_overtake_a_request_that_waits_for_its_own_worker() -> None:
    """A request added during its own reconcile does not block the requests behind it."""
    queue = make_queue()
    queue.add(A)
    async with queue.take() as turn:
        queue.add(A, priority=100)
        queue.add(B)
        assert await take(queue) == B
        turn.succeed()

    assert await take(queue) == A


async def test_a_worker_that_waits_is_woken_by_an_add() -> None:
    """A worker that waits on an empty queue gets an added request at once."""
    queue = make_queue()
    async with asyncio.TaskGroup() as group:
        worker = group.create_task(take(queue))
        await asyncio.sleep(5)
        queue.add(A)

    assert worker.result() == A
    assert now() == 5


async def test_two_adds_wake_two_workers() -> None:
    """Two adds wake two waiting workers."""
    queue = make_queue()
    async with asyncio.TaskGroup() as group:
        workers = [group.create_task(take(queue)) for _ in range(2)]
        await asyncio.sleep(1)
        queue.add(A)
        queue.add(B)

    assert {worker.result() for worker in workers} == {A, B}


async def test_a_worker_cancelled_as_it_is_woken_passes_the_request_on() -> None:
    """If a worker is cancelled while waking up, another worker gets the request."""
    queue = make_queue()
    first, second = (asyncio.create_task(take(queue)) for _ in range(2))
    await asyncio.sleep(1)
    queue.add(A)
    first.cancel()

    assert await second == A
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_a_cancelled_turn_goes_back_in_line_as_it_came() -> None:
    """A cancelled request returns to the queue with its priority and causes."""
    queue = make_queue()
    queue.add(A, priority=7, cause=TriggerCause("hand"))
    with pytest.raises(RuntimeError):
        async with queue.take():
            raise RuntimeError

    async with queue.take() as turn:
        turn.succeed()
    assert (turn.request, turn.priority, turn.causes) == (A, 7, (TriggerCause("hand"),))


async def test_a_failed_request_comes_back_later_each_time() -> None:
    """Backoff grows with each failure and resets after a success."""
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
    """An error of a cluster-wide outage is retried within a minute, however long the outage."""
    queue = Queue("test", limiter=ExponentialBackoff(first=seconds(1), longest=seconds(5000), jitter=0))
    queue.add(A)
    for _ in range(11):
        async with queue.take() as turn:
            turn.fail(error)
    began = now()
    await take(queue)
    assert now() - began == pytest.approx(waits)


async def test_a_change_neither_delays_a_retry_nor_inflates_the_backoff() -> None:
    """Failures of runs caused by a change before the retry is due neither count nor move the retry."""
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
    """A success cancels the retry of an earlier failure."""
    queue = make_queue()
    queue.add(A)
    async with queue.take() as turn:
        turn.fail(ValueError())
    queue.add(A)
    await take(queue)

    assert queue.remaining() == []
    assert queue.statistics().waiting == 0


async def test_a_run_that_is_at_work_when_its_retry_falls_due_counts_as_the_retry() -> None:
    """A failing run that is active when its retry is due counts as that retry."""
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
    """A due retry keeps its own priority, even if a resync has queued the request at a lower one."""
    queue = make_queue()
    queue.add(A)
    async with queue.take() as turn:
        turn.fail(ValueError())
    for request in (B, A):
        queue.add(request, priority=-100)
    await asyncio.sleep(2)

    assert [await take(queue), await take(queue)] == [A, B]


async def test_giving_up_runs_again_only_when_something_changes() -> None:
    """A terminal failure is not retried, and its failure count is reset."""
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
    """A timer or retry has the priority of the run that set it, or the one it names."""
    queue = make_queue()
    queue.add(A, priority=-100)
    seen = []
    for priority in (None, 5, None):
        async with queue.take() as turn:
            seen.append(turn.priority)
            turn.succeed(requeue_after=seconds(1), priority=priority)

    assert seen == [-100, -100, 5]


async def test_closing_drops_what_is_in_line_and_says_what() -> None:
    """A closed queue returns no request, accepts none, and lists the remaining ones."""
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
    """Closing the queue wakes all waiting workers."""
    queue = make_queue()
    workers = [asyncio.create_task(take(queue)) for _ in range(3)]
    await asyncio.sleep(1)
    queue.close()

    results = await asyncio.gather(*workers, return_exceptions=True)
    assert [type(result) for result in results] == [QueueClosed] * 3


async def test_draining_runs_what_is_ready_and_nothing_later() -> None:
    """With drain, all ready requests still run, including those added again during their run; delayed ones do not."""
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
    """A run has all causes of its merged requests, in order; repeated causes are counted."""
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
    """A finished request takes no memory in the queue."""
    queue = make_queue()
    for number in range(100):
        queue.add(Request("default", str(number)))
        async with queue.take() as turn:
            turn.succeed()

    assert queue._entries == {}
    assert len(queue._ready) == 0


async def test_statistics_tell_how_it_is_doing() -> None:
    """Statistics show the queue by priority, waiting and running requests, and their times."""
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
    """A request that has never failed costs no call of the limiter."""
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


async def test_of_several_adds_while_a_worker_has_it_the_highest_priority_counts() -> None:
    """A request that is added twice while a worker has it runs once more, with the higher of the priorities."""
    for priorities in ((5, -100), (-100, 5)):
        queue = make_queue()
        queue.add(A)
        async with queue.take() as turn:
            for priority in priorities:
                queue.add(A, priority=priority)
            turn.succeed()
        async with queue.take() as turn:
            assert turn.priority == 5
            turn.succeed()
        assert queue.remaining() == []


async def test_the_requests_of_a_cluster_that_has_left_are_not_handed_out() -> None:
    """Requests of a cluster that has left, ready or delayed, are dropped; those of other clusters stay."""
    queue, gone = make_queue(), [each._replace(cluster="south") for each in (A, B)]
    queue.add(gone[0])
    queue.add(gone[1], after=seconds(5))
    queue.add(A)

    assert sorted(queue.drop("south"), key=str) == sorted(gone, key=str)
    assert queue.statistics().ready == 1
    assert await take(queue) == A
    await asyncio.sleep(60)
    assert queue.remaining() == []
    assert not queue.has_ready
