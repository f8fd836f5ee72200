"""Outcomes of a reconcile: immediate requeues, lost clusters, and the errors of a task group."""

from __future__ import annotations

import asyncio
import json
import logging
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from kubernetes_asyncio.client import ApiException

from pyctrl._log import LogContextFilter
from pyctrl.controller import Request, Result
from pyctrl.errors import ClusterGone, TerminalError, UnknownCluster
from tests.unit.controller._kit import A, B, C, Listed, make, running
from tests.unit.controller.workqueue._queues import make_queue, now, seconds, take

AT_ONCE = timedelta(0)


async def test_a_run_that_wants_to_be_repeated_at_once_backs_off() -> None:
    """Immediate requeues back off exponentially, as controller-runtime's Requeue, and are not failures."""
    queue = make_queue()
    queue.add(A)
    for expected in (0, 1, 3, 7, 15):
        async with queue.take() as turn:
            assert (now(), turn.failures) == (expected, 0)
            turn.succeed(requeue_after=AT_ONCE)

    assert queue.statistics().retries == 5


@pytest.mark.parametrize("other", [None, timedelta(seconds=1)], ids=["done", "later"])
async def test_the_delay_begins_again_when_a_run_ends_otherwise(other: timedelta | None) -> None:
    """A run that is done, or that names a delay, resets the backoff of immediate requeues."""
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
    """Failures and immediate requeues share the backoff; only failures count as failures."""
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
    """A change runs a rate-limited request at once; its delay stays the same and ends when a run is done."""
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
    """An immediate requeue replaces an earlier timer."""
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
    """A negative delay counts as zero; only the first is logged, with controller, object, delay and fix."""
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
    """Immediate requeues count as "requeue", delayed ones as "requeue_after", as in controller-runtime."""

    async def reconcile(request: Request) -> Result:
        return Result.after(AT_ONCE if request == A else timedelta(seconds=60))

    controller = make(reconcile, Listed(A, B))
    async with running(controller):
        await asyncio.sleep(10)
        counts = controller.statistics().reconciles

    assert (counts.requeue, counts.requeue_after, counts.error) == (4, 1, 0)


async def test_many_that_always_repeat_leave_the_worker_to_others() -> None:
    """A thousand immediate requeues take about ten runs each in ten seconds; a change of another object runs next."""
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


async def test_an_exception_of_kubernetes_asyncio_is_the_error_that_it_stands_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """An ApiException is retried and logged as pyctrl's error, and a 403 counts as a missing permission."""
    message = 'pods is forbidden: User "u" cannot list resource "pods" in API group "" in the namespace "shop"'

    async def reconcile(request: Request) -> None:
        error: Any = ApiException(status=403, reason="Forbidden")
        error.body = json.dumps({"kind": "Status", "code": 403, "reason": "Forbidden", "message": message})
        raise error

    controller = make(reconcile, Listed(A))
    with caplog.at_level(logging.ERROR):
        async with running(controller) as calls:
            await asyncio.sleep(2)
            problem = controller.permissions.problem

    assert [at for at, _ in calls] == [0, 1]
    assert caplog.records[0].getMessage() == f"Reconciler error: Forbidden: {message}"
    assert "list pods" in problem


@pytest.mark.parametrize("kind", [UnknownCluster, ClusterGone])
async def test_only_the_loss_of_its_own_cluster_drops_a_request(kind: type[UnknownCluster]) -> None:
    """A reconcile that needs another cluster, which is not connected now, is retried; one of a lost cluster is not."""
    is_missing = True

    async def reconcile(request: Request) -> None:
        if is_missing:
            raise kind("south")

    controller = make(reconcile, Listed(A, A._replace(cluster="north"), A._replace(cluster="south")))
    async with running(controller) as calls:
        await asyncio.sleep(5)
        is_missing = False
        await asyncio.sleep(60)

    assert [at for at, request in calls if request.cluster == "south"] == [0]
    for cluster in ("", "north"):
        assert [at for at, request in calls if request.cluster == cluster] == [0, 1, 3, 7]
    assert controller.statistics().reconciles.error == 6
    assert controller.queue.remaining() == []


async def test_a_single_error_of_a_task_group_counts_as_itself() -> None:
    """A TerminalError, or the loss of the cluster, that a TaskGroup raises in a group is not retried."""

    async def fail(error: Exception) -> None:
        raise error

    errors: dict[Request, list[Exception]] = {
        A: [TerminalError("spec.replicas is negative")],
        B: [ClusterGone("")],
        C: [TerminalError("one"), ValueError("two")],
    }

    async def reconcile(request: Request) -> None:
        async with asyncio.TaskGroup() as group:
            for error in errors[request]:
                group.create_task(fail(error))

    controller = make(reconcile, Listed(*errors))
    async with running(controller) as calls:
        await asyncio.sleep(2)

    assert [request for _, request in calls] == [A, B, C, C]
    found = controller.statistics().reconciles
    assert (found.terminal_error, found.error) == (1, 2)
