"""Helpers for asyncio tasks: a deadline that can expire early, cancellation, and unwrapping of exception groups."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

__all__ = ["Deadline", "end", "until_first_ends", "unwrap", "unwrapped"]


class Deadline:
    """A deadline for several consecutive waits, which can expire early.

    The time starts with its creation. With ``patience=None`` it expires only by `expire`; with zero, at once.
    """

    def __init__(self, patience: timedelta | None) -> None:
        loop = asyncio.get_running_loop()
        self._over: asyncio.Future[None] = loop.create_future()
        self._timer: asyncio.TimerHandle | None = None
        #: Whether `expire` has ended it before its time.
        self.is_early: bool = False
        if patience is not None and patience <= timedelta(0):
            self._over.set_result(None)
        elif patience is not None:
            self._timer = loop.call_later(patience.total_seconds(), self._over.set_result, None)

    @property
    def is_over(self) -> bool:
        """Whether the deadline has passed."""
        return self._over.done()

    def expire(self) -> None:
        """Expire now, which ends all waits."""
        self.close()
        if not self._over.done():
            self.is_early = True
            self._over.set_result(None)

    def close(self) -> None:
        """Cancel the timer."""
        if self._timer is not None:
            self._timer.cancel()

    async def wait(self, futures: Iterable[asyncio.Future[Any]]) -> set[asyncio.Future[Any]]:
        """Wait until all futures are done or the deadline has passed; return those that are not done."""
        pending = {future for future in futures if not future.done()}
        while pending and not self._over.done():
            await asyncio.wait({*pending, self._over}, return_when=asyncio.FIRST_COMPLETED)
            pending = {future for future in pending if not future.done()}
        return pending


async def end(
    tasks: Collection[asyncio.Task[Any]],
    *,
    others: Collection[asyncio.Task[Any]] = (),
    patience: timedelta | None = None,
) -> set[asyncio.Task[Any]]:
    """Cancel tasks and wait until they and ``others`` have ended; return those that have not after ``patience``.

    A cancellation of the caller takes effect after the wait, because otherwise a second Ctrl-C would leave tasks that
    are not awaited. Results and errors stay in the tasks.
    """
    deadline = Deadline(patience)
    cancelled: asyncio.CancelledError | None = None
    for task in tasks:
        task.cancel()
    tasks = (*tasks, *others)
    while not deadline.is_over and not all(task.done() for task in tasks):
        try:
            await deadline.wait(tasks)
        except asyncio.CancelledError as error:
            cancelled = error
    deadline.close()
    if cancelled is not None:
        raise cancelled
    return {task for task in tasks if not task.done()}


async def until_first_ends(*works: Coroutine[Any, Any, object]) -> None:
    """Run coroutines until the first of them ends, and cancel the others; raise the first error."""
    tasks = [asyncio.get_running_loop().create_task(work) for work in works]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await end(tasks)
    for task in tasks:
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error


def unwrap(error: BaseException) -> BaseException:
    """Return the single error in a (nested) exception group, or the error itself."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


@contextmanager
def unwrapped() -> Iterator[None]:
    """Raise the single error of an ExceptionGroup instead of the group: a TaskGroup wraps even a single error."""
    try:
        yield
    except BaseExceptionGroup as group:
        error = unwrap(group)
        if error is group:
            raise
        raise error from error.__cause__  # keeps its cause, and keeps the group from being printed as its context
