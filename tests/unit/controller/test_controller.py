"""The controller: start, work, failures, stop."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from pyctrl._log import current_log_context
from pyctrl._log.options import parse_level
from pyctrl.controller import (
    Controller,
    ControllerOptions,
    OnSyncFailure,
    ReconcileCause,
    Reconciler,
    Request,
    RequestSink,
    Result,
    RetryCause,
    Source,
    TriggerCause,
    reconcile_causes,
    reconcile_id,
)
from pyctrl.errors import BuilderError, DecodeError, TerminalError
from tests.unit.controller._kit import THING, A, B, C, Listed, Scripted, make, nothing, now, running


def statistics(controller: Controller) -> dict[str, int]:
    """Return the non-zero counts."""
    counts = controller.statistics().reconciles
    names = ("success", "requeue_after", "error", "terminal_error", "timeout")
    return {name: count for name in names if (count := getattr(counts, name))}


async def test_nothing_is_reconciled_before_every_source_is_synced() -> None:
    """No reconcile runs before every source has synced."""
    controller = make(nothing, Listed(A), Listed(B, after=30))
    async with running(controller) as calls:
        await asyncio.sleep(60)

    assert calls == [(30, A), (30, B)]


async def test_as_many_requests_as_workers_are_reconciled_at_once() -> None:
    """Two workers reconcile three requests of a second each in two seconds."""

    async def slow(request: Request) -> None:
        await asyncio.sleep(1)

    async with running(make(slow, Listed(A, B, C), workers=2)) as calls:
        await asyncio.sleep(10)

    assert calls == [(0, A), (0, B), (1, C)]


async def test_workers_can_be_added_and_taken_away_while_running() -> None:
    """Added workers start at once; removed workers finish their current request."""
    done: list[Request] = []

    async def slow(request: Request) -> None:
        await asyncio.sleep(10)
        done.append(request)

    requests = [Request("default", str(number)) for number in range(9)]
    controller = make(slow, Listed(*requests))
    async with running(controller) as calls:
        await asyncio.sleep(1)
        controller.workers = 5
        await asyncio.sleep(1)
        assert len(calls) == controller.statistics().active_workers == 5
        controller.workers = 2
        await asyncio.sleep(8.5)
        assert len(done) == 1
        await asyncio.sleep(1)
        assert len(done) == 5
        assert controller.statistics().active_workers == 2
        await asyncio.sleep(30)
        controller.workers = 1
        controller.enqueue(A)
        await asyncio.sleep(11)
        assert sum(task.get_name().startswith("thing/worker") for task in asyncio.all_tasks()) == 1

    assert len(done) == 10
    with pytest.raises(ValueError, match="at least one worker"):
        controller.workers = 0


async def test_an_exception_is_retried_and_never_ends_the_worker(caplog: pytest.LogCaptureFixture) -> None:
    """After any exception of the reconciler the request is retried and other requests continue."""
    errors = iter([ValueError("no"), ExceptionGroup("several", [OSError()]), AssertionError()])

    async def fail(request: Request) -> None:
        if request == A and (error := next(errors, None)):
            raise error

    controller = make(fail, Listed(A, B))
    async with running(controller) as calls:
        await asyncio.sleep(60)

    assert calls == [(0, A), (0, B), (1, A), (3, A), (7, A)]
    assert statistics(controller) == {"success": 2, "error": 3}
    told = [record.message for record in caplog.records if record.levelname == "ERROR" and record.exc_info]
    assert [message.split(":")[1] for message in told] == [" ValueError", " ExceptionGroup", " AssertionError"]


async def test_of_an_error_that_repeats_one_traceback_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """A retry that fails with the same error logs only its message; pyctrl's own errors have no traceback."""

    async def fail(request: Request) -> None:
        raise ValueError("no") if request == A else DecodeError("Box: Field required - at spec.size")

    async with running(make(fail, Listed(A, B))):
        await asyncio.sleep(60)

    told = [(record.message, bool(record.exc_info)) for record in caplog.records if record.levelname == "ERROR"]
    assert told.count(("Reconciler error: ValueError: no", True)) == 1
    assert told.count(("Reconciler error: ValueError: no", False)) > 1
    assert told.count(("Reconciler error: DecodeError: Box: Field required - at spec.size", False)) > 1
    assert len(set(told)) == 3


async def test_a_cancellation_from_elsewhere_is_a_failure_like_any_other() -> None:
    """A reconcile that awaits a cancelled task fails without ending the worker."""

    async def fail(request: Request) -> None:
        other = asyncio.create_task(asyncio.sleep(60))
        other.cancel()
        await other

    controller = make(fail, Listed(A))
    async with running(controller) as calls:
        await asyncio.sleep(2)

    assert calls == [(0, A), (1, A)]


async def test_a_terminal_error_is_not_retried() -> None:
    """A reconcile that raises TerminalError is not retried until the next change."""

    async def fail(request: Request) -> None:
        raise TerminalError("the spec makes no sense")

    controller = make(fail, Listed(A))
    async with running(controller) as calls:
        await asyncio.sleep(5000)
        assert calls == [(0, A)]
        controller.enqueue(A)
        await asyncio.sleep(1)

    assert len(calls) == 2
    assert statistics(controller) == {"terminal_error": 2}


@pytest.mark.parametrize("nonsense", ["5m", True, timedelta(minutes=5), Result(requeue_after=300)])  # type: ignore[arg-type]
async def test_nonsense_is_one_clear_error_and_no_crash(nonsense: object, caplog: pytest.LogCaptureFixture) -> None:
    """An invalid result is an error that names the controller, the value and the expected types; it is not retried."""

    async def answer(request: Request) -> object:
        return nonsense

    controller = make(answer, Listed(A, B))
    async with running(controller) as calls:
        await asyncio.sleep(5000)

    assert len(calls) == 2
    assert statistics(controller) == {"terminal_error": 2}
    [told, _] = [record for record in caplog.records if record.levelname == "ERROR"]
    assert told.exc_info is None  # the message is complete
    assert told.message == (
        "Reconciler error, not retried: InvalidResult: "
        f"the reconciler of controller 'thing' returned {nonsense!r}; "
        "return None when done, or Result(requeue_after=timedelta(...)) to run again"
    )


async def test_a_reconcile_that_is_not_async_is_told_so(caplog: pytest.LogCaptureFixture) -> None:
    """A reconcile without `async` is an error that names the missing `async`."""

    class Sync(Reconciler[Any]):
        def reconcile(self, request: Request) -> Any:
            return None

    controller = Controller("thing", Sync(), [Listed(A)], options=ControllerOptions())
    task = asyncio.create_task(controller.run())
    await asyncio.sleep(1)
    controller.ask_to_stop()
    await task

    assert "returned None without being `async def`" in caplog.text


async def test_a_reconcile_that_takes_too_long_is_cancelled_and_retried(caplog: pytest.LogCaptureFixture) -> None:
    """A reconcile longer than reconcile_timeout is cancelled, counted and retried; the error names the timeout."""

    async def hang(request: Request) -> None:
        await asyncio.Event().wait()

    controller = make(hang, Listed(A), reconcile_timeout=timedelta(seconds=30))
    async with running(controller) as calls:
        await asyncio.sleep(40)
        assert statistics(controller) == {"error": 1, "timeout": 1}
        await asyncio.sleep(30)

    assert calls == [(0, A), (31, A), (63, A)]
    assert "longer than reconcile_timeout=0:00:30" in caplog.text


async def test_somebody_elses_timeout_is_not_ours() -> None:
    """A TimeoutError from user code counts as an error, not as a reconcile timeout."""

    async def fail(request: Request) -> None:
        raise TimeoutError("theirs")

    controller = make(fail, Listed(A), reconcile_timeout=timedelta(seconds=30))
    async with running(controller):
        await asyncio.sleep(0.5)

    assert statistics(controller) == {"error": 1}


async def test_requeue_after_runs_again_in_time() -> None:
    """After requeue_after the request runs on time, even if a change runs it earlier."""

    async def once_an_hour(request: Request) -> Result | None:
        return Result.after(timedelta(hours=1)) if now() in (0, 3600) else None

    controller = make(once_an_hour, Listed(A))
    async with running(controller) as calls:
        await asyncio.sleep(600)
        controller.enqueue(A)
        await asyncio.sleep(10_000)

    assert calls == [(0, A), (600, A), (3600, A), (7200, A)]
    assert statistics(controller) == {"success": 2, "requeue_after": 2}


async def test_causes_are_there_for_tests_and_logs(caplog: pytest.LogCaptureFixture) -> None:
    """Causes are available inside a reconcile and in the log line of its error."""
    seen: list[tuple[ReconcileCause, ...]] = []

    async def look(request: Request) -> None:
        seen.append(reconcile_causes())
        if len(seen) == 1:
            raise ValueError("no")

    async with running(make(look, Listed(A))):
        await asyncio.sleep(5)

    assert seen == [(TriggerCause("listed"),), (RetryCause(1, "ValueError: no"),)]
    [record] = [record for record in caplog.records if record.message == "Reconciler error: ValueError: no"]
    assert vars(record)["causes"] == (TriggerCause("listed"),)
    assert reconcile_causes() == ()


async def test_every_line_logged_in_a_reconcile_has_controller_runtimes_keys() -> None:
    """Log lines have controller, controllerGroup, controllerKind, namespace, name, and an id for each attempt."""
    contexts, told = [], []

    async def look(request: Request) -> None:
        contexts.append(dict(current_log_context()))
        told.append(reconcile_id())

    async with running(make(look, Listed(A, B))):
        await asyncio.sleep(1)

    ids = [context.pop("reconcileID") for context in contexts]
    assert (told, reconcile_id()) == (ids, None)
    assert [context.pop("causes") for context in contexts] == [(TriggerCause("listed"),)] * 2
    assert len(set(ids)) == 2
    assert contexts[0] == {
        "controller": "thing",
        "controllerGroup": "example.com",
        "controllerKind": "Thing",
        "namespace": "default",
        "name": "a",
    }


async def test_stopping_finishes_what_was_begun_and_begins_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """On stop, running reconciles finish; queued requests are logged and do not run."""
    caplog.set_level(logging.INFO)
    done: list[Request] = []

    async def slow(request: Request) -> None:
        await asyncio.sleep(10)
        done.append(request)

    controller = make(slow, Listed(A, B, C))
    async with running(controller):
        await asyncio.sleep(1)

    assert done == [A]
    assert now() == 10
    assert [record.message for record in caplog.records] == [
        "Starting EventSource",
        "Starting Controller",
        "Starting workers",
        "Shutdown signal received, waiting for all workers to finish",
        "All workers finished",
    ]
    farewell = vars(caplog.records[-1])
    assert (farewell["dropped"], farewell["ready"]) == (2, 2)
    assert farewell["requests"] == [f"default/{name} (priority 0; ready; listed)" for name in "bc"]


async def test_cancelling_cuts_the_work_off_and_leaves_nothing_behind(caplog: pytest.LogCaptureFixture) -> None:
    """After the grace period a running reconcile gets CancelledError and its request counts as dropped."""
    caplog.set_level(logging.INFO)
    cut_off: list[Request] = []

    async def hang(request: Request) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cut_off.append(request)

    task = asyncio.create_task(make(hang, Listed(A)).run())
    await asyncio.sleep(1)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert cut_off == [A]
    assert vars(caplog.records[-1])["requests"] == ["default/a (priority 0; ready; listed)"]
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_nothing_is_dropped_without_a_line(caplog: pytest.LogCaptureFixture) -> None:
    """On stop, dropped retries and timers are logged by urgency; a request added later is logged as dropped."""
    caplog.set_level(logging.INFO)

    async def moody(request: Request) -> Result | None:
        if request == A:
            raise ValueError("no")
        return Result(requeue_after=timedelta(hours=1))

    controller = make(moody, Listed(A, B))
    async with running(controller):
        await asyncio.sleep(1.5)
    controller.enqueue(C, priority=7)

    farewell = vars(caplog.records[-2])
    assert (farewell["message"], farewell["dropped"], farewell["ready"]) == ("All workers finished", 2, 0)
    assert farewell["requests"] == [
        "default/a (priority 0; in 1.5 s; retry 2 after ValueError: no)",
        "default/b (priority 0; in 3598.5 s; requeued after 1:00:00)",
    ]
    late = vars(caplog.records[-1])
    assert (late["message"], late["controller"], late["request"], late["priority"]) == (
        "Dropping a request: the controller has stopped",
        "thing",
        "default/c",
        7,
    )


async def test_the_queue_is_shown_every_ten_seconds_at_the_verbosity_of_go(caplog: pytest.LogCaptureFixture) -> None:
    """At V(5), or by its own logger, the queue is logged every ten seconds with its causes; otherwise no task runs."""

    async def slow(request: Request) -> None:
        await asyncio.sleep(25)

    with caplog.at_level(parse_level("4")):
        async with running(make(slow, Listed(A, B))):
            assert not any(task.get_name() == "thing/dump" for task in asyncio.all_tasks())
            await asyncio.sleep(30)
    assert "workqueue_items" not in caplog.messages

    with caplog.at_level(parse_level("5"), "pyctrl.controller.queue"):
        async with running(make(slow, Listed(A, B))):
            await asyncio.sleep(30)
    dumps = [vars(record) for record in caplog.records if record.getMessage() == "workqueue_items"]
    assert [(dumped["controller"], dumped["count"]) for dumped in dumps] == [("thing", 1), ("thing", 1), ("thing", 0)]
    assert dumps[0]["items"] == [{"key": "default/b", "priority": 0, "readyIn": 0.0, "causes": ["listed"]}]


async def test_stopping_while_sources_sync_ends_at_once() -> None:
    """A controller that waits for its sources stops at once."""
    async with running(make(nothing, Listed(A, after=100))) as calls:
        await asyncio.sleep(5)

    assert calls == []
    assert now() == 5


async def test_no_workers_is_refused() -> None:
    """Zero workers are refused."""
    with pytest.raises(BuilderError, match="at least one worker, got workers=0"):
        ControllerOptions(workers=0)


async def test_a_seeded_random_repeats_reconcile_ids() -> None:
    """A seeded random source makes the reconcile ids repeatable."""

    async def ids() -> list[object]:
        found = []

        async def look(request: Request) -> None:
            found.append(current_log_context()["reconcileID"])

        async with running(make(look, Listed(A, B))):
            await asyncio.sleep(1)
        return found

    assert await ids() == await ids()


async def test_the_log_fields_of_a_reconcile_are_not_those_of_the_one_before() -> None:
    """The log lines of a cluster-scoped object do not have the namespace of the object before it."""
    fields: list[dict[str, object]] = []

    async def reconcile(request: Request) -> None:
        fields.append(dict(current_log_context()))

    async with running(make(reconcile, Listed(A, Request("", "node")), workers=1)):
        await asyncio.sleep(1)

    assert [each.get("namespace") for each in fields] == ["default", None]


async def test_a_controller_that_runs_again_waits_for_its_sources_again() -> None:
    """In its second run, as in the next term of a leader, a controller reconciles only once its sources are synced."""
    controller = make(nothing, Listed(A, after=5))
    for _ in range(2):
        began = now()
        async with running(controller) as calls:
            await asyncio.sleep(10)
        assert [at - began for at, _ in calls] == [5]
        calls.clear()


async def test_a_source_in_another_cluster_that_fails_does_not_end_the_controller() -> None:
    """With `OnSyncFailure.END` a failing source ends a controller of the own cluster, and none of another cluster."""

    class Failing(Source):
        async def run(self, queue: RequestSink) -> None:
            raise OSError("connection refused")

    for cluster, ends in (("", True), ("north", False)):
        controller = Controller("thing", Scripted(nothing), [Failing()], kind=THING, random=Random(1), cluster=cluster)
        controller.on_sync_failure = OnSyncFailure.END
        task = asyncio.create_task(controller.run())
        await asyncio.sleep(60)
        assert task.done() is ends
        task.cancel()
        await asyncio.wait([task])
