"""Writes whose answers have not come: the server may still execute them, so another replica must wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

__all__ = ["UnansweredWrites"]


class _Write(NamedTuple):
    slot: int
    until: float


class UnansweredWrites:
    """The writes of a replica that the server may still execute.

    A reconcile that is cancelled ends at once, and its write may be on the way. Only its answer shows that it is over.

    Args:
        keep_for: how long a write counts. A write is no longer guaranteed to come before those of other replicas when
            the Lease that it relied on is over, so waiting for longer has no use.
        changed: called when a write is answered, or has failed.
    """

    def __init__(self, keep_for: timedelta, changed: Callable[[], None] = lambda: None) -> None:
        self._keep_seconds, self._changed = keep_for.total_seconds(), changed
        self._writes: dict[asyncio.Task[Any], _Write] = {}

    def add(self, answer: asyncio.Task[Any], slot: int = 0) -> None:
        """Count a write, in a slot, until its task ends."""
        self._writes[answer] = _Write(slot, asyncio.get_running_loop().time() + self._keep_seconds)
        answer.add_done_callback(self._end)

    def _end(self, answer: asyncio.Task[Any]) -> None:
        del self._writes[answer]
        self._changed()

    @property
    def slots(self) -> int:
        """The slots of the writes."""
        now, slots = asyncio.get_running_loop().time() if self._writes else 0.0, 0
        for write in self._writes.values():
            if now < write.until:
                slots |= 1 << write.slot
        return slots

    def next_deadline(self, slots: int) -> list[float]:
        """Return when the writes in some slots no longer count."""
        return [write.until for write in self._writes.values() if slots >> write.slot & 1]

    async def wait(self, seconds: float) -> bool:
        """Wait until all are answered; return False if some are not answered in time."""
        if not self._writes:
            return True
        _done, pending = await asyncio.wait(self._writes, timeout=seconds)
        return not pending
