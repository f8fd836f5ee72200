"""A request that a worker has taken, and the outcome of its reconcile."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from msgspec import Struct

from pyctrl.controller._causes import ReconcileCause
from pyctrl.controller._request import Request

__all__ = ["Done", "Outcome", "Retry", "Terminal", "WorkItem"]


class Done(Struct, frozen=True):
    """The reconcile succeeded, perhaps with a delay for the next run."""

    requeue_after: timedelta | None
    priority: int | None


class Retry(Struct, frozen=True):
    """The reconcile failed and is retried."""

    error: BaseException


class Terminal(Struct, frozen=True):
    """The reconcile failed and is not retried before something changes."""

    error: BaseException | None


Outcome = Done | Retry | Terminal


class WorkItem(Struct):
    """A request that a worker has taken. The worker sets the outcome before the ``async with`` block ends.

    Without an outcome, as when the worker was cancelled, the request becomes ready again.
    """

    request: Request
    priority: int
    causes: tuple[ReconcileCause, ...]
    #: Failures in a row before this run.
    failures: int
    #: The seconds from ready to taken.
    waited_seconds: float = 0.0
    #: The times, by the loop's clock, at which it was taken and at which the reconcile ended.
    began: float = 0.0
    ended: float | None = None
    outcome: Outcome | None = None
    #: Whether its reconcile was cancelled because another replica takes the request.
    is_moved: bool = False

    _nothing_more: ClassVar[Outcome] = Done(None, None)  # shared: nearly every reconcile ends so

    @property
    def waited(self) -> timedelta:
        """The time from ready to taken."""
        return timedelta(seconds=self.waited_seconds)

    def succeed(self, *, requeue_after: timedelta | None = None, priority: int | None = None) -> None:
        """Set the outcome to success, which forgets failures; with ``requeue_after`` it runs again by then."""
        is_all = requeue_after is None and priority is None
        self.outcome = self._nothing_more if is_all else Done(requeue_after, priority)

    def fail(self, error: BaseException) -> None:
        """Set the outcome to a failure that is retried after the limiter's backoff."""
        self.outcome = Retry(error)

    def give_up(self, error: BaseException | None = None) -> None:
        """Set the outcome to a failure that is not retried before something changes."""
        self.outcome = Terminal(error)
