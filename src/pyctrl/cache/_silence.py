"""How long a server may be silent, looked at now and then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Self

__all__ = ["Silence"]


class Silence:
    """Lets a timeout expire, in whose block this is, once it is too late.

    When that is changes with each event. The timer is not moved along, which would cost as much as the event: it rings
    where it was set, and is set anew when it is not too late yet.

    Args:
        timeout: what ends the wait.
        too_late: returns the time, by the loop's clock, as it is now known; it only grows.
    """

    def __init__(self, timeout: asyncio.Timeout, too_late: Callable[[], float]) -> None:
        self._timeout = timeout
        self._too_late = too_late
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> Self:
        if not self._timeout.expired():  # else its time has run out in this very moment, and the cancellation is near
            self._timeout.reschedule(None)
            self._look()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        loop, due = asyncio.get_running_loop(), self._too_late()
        if loop.time() < due:
            self._timer = loop.call_at(due, self._look)
        else:
            self._timeout.reschedule(due)
