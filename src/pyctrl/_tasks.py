"""Small tools around tasks: wait with a deadline that can be brought forward, end tasks, unwrap groups of one."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

__all__ = ["Deadline", "end", "unwrap", "unwrapped"]


class Deadline:
    """A moment until which one waits for several things in turn; it may be brought forward to now.

    Made when the waiting begins. ``patience=None`` waits for ever, unless `expire` is called; without any it is over at
    once.
    """

    def __init__(self, patience: timedelta | None) -> None:
        loop = asyncio.get_running_loop()
        self._over: asyncio.Future[None] = loop.create_future()
        self._timer: asyncio.TimerHandle | None = None
        if patience is not None and patience <= timedelta(0):
            self._over.set_result(None)
        elif patience is not None:
            self._timer = loop.call_later(patience.total_seconds(), self.expire)

    @property
    def is_over(self) -> bool:
        """Whether the moment has come."""
        return self._over.done()

    def expire(self) -> None:
        """Let the moment be now: whoever waits stops waiting."""
        self.close()
        if not self._over.done():
            self._over.set_result(None)

    def close(self) -> None:
        """Take the timer back: nobody waits any more."""
        if self._timer is not None:
            self._timer.cancel()

    async def wait(self, futures: Iterable[asyncio.Future[Any]]) -> set[asyncio.Future[Any]]:
        """Wait until all are done or the moment has come; return those that are not done."""
        pending = {future for future in futures if not future.done()}
        while pending and not self._over.done():
            await asyncio.wait({*pending, self._over}, return_when=asyncio.FIRST_COMPLETED)
            pending = {future for future in pending if not future.done()}
        return pending


async def end(tasks: Collection[asyncio.Task[Any]], *, patience: timedelta | None = None) -> set[asyncio.Task[Any]]:
    """Cancel tasks and wait until they have ended; return those that have not after ``patience``.

    When the caller is cancelled meanwhile, that takes effect once the waiting is over: otherwise a second Ctrl-C
    would leave tasks behind that nobody awaits. Results and errors stay in the tasks.
    """
    deadline = Deadline(patience)
    cancelled: asyncio.CancelledError | None = None
    for task in tasks:
        task.cancel()
    while not deadline.is_over and not all(task.done() for task in tasks):
        try:
            await deadline.wait(tasks)
        except asyncio.CancelledError as error:
            cancelled = error
    deadline.close()
    if cancelled is not None:
        raise cancelled
    return {task for task in tasks if not task.done()}


def unwrap(error: BaseException) -> BaseException:
    """Return the one error inside of groups of one, or the error itself."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


@contextmanager
def unwrapped() -> Iterator[None]:
    """Let an ExceptionGroup of one leave the block as that one: a TaskGroup wraps even a single error."""
    try:
        yield
    except BaseExceptionGroup as group:
        error = unwrap(group)
        if error is group:
            raise
        raise error from error.__cause__  # keeps its cause, and keeps the group from being printed as its context
