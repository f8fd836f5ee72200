"""A request in the hands of a worker, and how its turn went."""

from __future__ import annotations

from datetime import timedelta
from typing import ClassVar

from msgspec import Struct

from pyctrl.controller._causes import Cause
from pyctrl.controller._request import Request

__all__ = ["Done", "Outcome", "Retry", "Terminal", "WorkItem"]


class Done(Struct, frozen=True):
    """It worked; perhaps it wants to run again."""

    requeue_after: timedelta | None
    priority: int | None


class Retry(Struct, frozen=True):
    """It did not work, and may next time."""

    error: BaseException


class Terminal(Struct, frozen=True):
    """It did not work, and will not before something changes."""

    error: BaseException | None


Outcome = Done | Retry | Terminal


class WorkItem(Struct):
    """A request that has been handed to a worker. Say how it went before the ``async with`` ends.

    A turn about which nothing was said (the worker was cancelled) goes back in line as it came.
    """

    request: Request
    priority: int
    causes: tuple[Cause, ...]
    #: Failures in a row before this turn.
    failures: int
    #: How many seconds it was ready before a worker took it.
    waited_seconds: float = 0.0
    #: When it was handed to the worker, and when the work was over, by the loop's clock: asked for once, used by all.
    began: float = 0.0
    ended: float | None = None
    outcome: Outcome | None = None

    _nothing_more: ClassVar[Outcome] = Done(None, None)  # nearly all end so

    @property
    def waited(self) -> timedelta:
        """How long it was ready before a worker took it."""
        return timedelta(seconds=self.waited_seconds)

    def succeed(self, *, requeue_after: timedelta | None = None, priority: int | None = None) -> None:
        """It worked. Its failures are forgotten; with ``requeue_after`` it runs again after that at the latest."""
        is_all = requeue_after is None and priority is None
        self.outcome = self._nothing_more if is_all else Done(requeue_after, priority)

    def fail(self, error: BaseException) -> None:
        """It did not work: it runs again after the limiter's backoff."""
        self.outcome = Retry(error)

    def give_up(self, error: BaseException | None = None) -> None:
        """It did not work and will not by trying again: it runs when something changes."""
        self.outcome = Terminal(error)
