"""Requests taken by a worker, and their outcomes."""

from __future__ import annotations

from datetime import timedelta

from pyctrl.controller import Request
from pyctrl.controller._workqueue.work_item import Done, Retry, Terminal, WorkItem


def item() -> WorkItem:
    """Return a request that was ready for a second and a half."""
    return WorkItem(Request("default", "a"), 0, (), 0, waited_seconds=1.5)


def test_without_an_outcome_the_request_becomes_ready_again() -> None:
    """An item without an outcome becomes ready again."""
    assert item().outcome is None
    assert item().waited == timedelta(seconds=1.5)


def test_outcomes_tell_success_retry_and_giving_up_apart() -> None:
    """A success may have a delay and a priority; a failure keeps its error."""
    done, later, failed, given_up = item(), item(), item(), item()
    error = ValueError("no")
    done.succeed()
    later.succeed(requeue_after=timedelta(hours=1), priority=-5)
    failed.fail(error)
    given_up.give_up(error)
    assert done.outcome == Done(None, None)
    assert later.outcome == Done(timedelta(hours=1), -5)
    assert failed.outcome == Retry(error)
    assert given_up.outcome == Terminal(error)


def test_the_last_outcome_counts() -> None:
    """The last outcome counts: a failure after a success is a failure."""
    taken = item()
    taken.succeed()
    taken.fail(error := ValueError("no"))
    assert taken.outcome == Retry(error)
