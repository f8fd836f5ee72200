"""Who is told of changes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Self

from pyctrl._time_slices import TimeSlice
from pyctrl.cache._changes import Change, Created, Synced
from pyctrl.cache._record import Record
from pyctrl.cache._store_writer import Listener

__all__ = ["Subscribers", "Subscription"]


class Subscription:
    """The changes of a kind, from the state at the beginning of the block: ``async for change in subscription``.

    First comes `Created` for every object that is there, marked as initial, then `Synced`, then whatever happens. No
    change is lost or merged: what is not taken is kept.
    """

    def __init__(self, subscribers: Subscribers) -> None:
        self._subscribers = subscribers
        self._changes: deque[Change] = deque()
        self._has_changes = asyncio.Event()
        self._slice: TimeSlice | None = None  # of the loop that takes the changes

    def __enter__(self) -> Self:
        self._subscribers.add(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._subscribers.remove(self)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change:
        if self._changes:  # a loop over a long first list would never suspend
            slice_ = self._slice = self._slice or TimeSlice.current()
            if slice_.is_over(asyncio.get_running_loop().time()):
                await slice_.renew()
        while not self._changes:
            self._has_changes.clear()
            await self._has_changes.wait()
        return self._changes.popleft()

    def __len__(self) -> int:
        """Return how many changes wait to be taken."""
        return len(self._changes)

    def push(self, change: Change) -> None:
        """Take a change from the informer."""
        self._changes.append(change)
        self._has_changes.set()


class Subscribers:
    """Those whom an informer tells of changes: subscriptions, and listeners that do not wait to be asked.

    Args:
        replay: what is there now, for those who come later.
    """

    def __init__(self, replay: Callable[[], Iterable[Record]]) -> None:
        self._replay = replay
        #: Those who are told; the list that feeds look at.
        self.listeners: list[Listener] = []
        self._is_synced = False

    def add(self, listener: Listener) -> None:
        """Begin to tell somebody; first of what is there."""
        # no await in here: what is replayed and what follows are one sequence
        for record in self._replay():
            listener.push(Created(record, initial=True))
        if self._is_synced:
            listener.push(Synced())
        self.listeners.append(listener)

    def remove(self, listener: Listener) -> None:
        """Tell somebody no longer."""
        self.listeners.remove(listener)

    def notify_synced(self) -> None:
        """Tell everybody, also those who come later, that the first list is complete."""
        self._is_synced = True
        for listener in self.listeners:
            listener.push(Synced())
