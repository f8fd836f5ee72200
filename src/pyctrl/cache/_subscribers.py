"""Subscriptions to the changes of an informer, and its list of listeners."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import Self

from pyctrl._time_slices import TimeSlice
from pyctrl.cache._changes import Change, Created, Synced
from pyctrl.cache._record import Record
from pyctrl.cache._store_writer import StoreListener

__all__ = ["Subscribers", "Subscription"]


class Subscription:
    """The changes of a kind, from the state at the beginning of the block: ``async for change in subscription``.

    First comes `Created` for every object that exists, marked as initial, then `Synced`, then each change. No change is
    lost or merged: those that are not taken yet are kept.
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
        if self._changes:  # without this a loop over a long first list would never suspend
            slice_ = self._slice = self._slice or TimeSlice.current()
            if slice_.is_over(asyncio.get_running_loop().time()):
                await slice_.renew()
        while not self._changes:
            self._has_changes.clear()
            await self._has_changes.wait()
        return self._changes.popleft()

    def __len__(self) -> int:
        """Return the number of changes that are not taken yet."""
        return len(self._changes)

    def push(self, change: Change) -> None:
        """Take a change from the informer."""
        self._changes.append(change)
        self._has_changes.set()


class Subscribers:
    """The listeners of an informer: subscriptions, and listeners that are called synchronously.

    Args:
        replay: returns the present objects, for listeners that are added later.
    """

    def __init__(self, replay: Callable[[], Iterable[Record]]) -> None:
        self._replay = replay
        #: The listeners; store writers read this list.
        self.listeners: list[StoreListener] = []
        self._is_synced = False

    def add(self, listener: StoreListener, *, replays: bool = True) -> None:
        """Add a listener, and notify it of the present objects first, if it ``replays``."""
        # No await in here: the replay and the changes that follow are one sequence.
        for record in self._replay() if replays else ():
            listener.push(Created(record, initial=True))
        if self._is_synced and replays:
            listener.push(Synced())
        self.listeners.append(listener)

    def remove(self, listener: StoreListener) -> None:
        """Remove a listener."""
        self.listeners.remove(listener)

    def notify_synced(self) -> None:
        """Notify all listeners, and those that are added later, that the first list is complete."""
        self._is_synced = True
        for listener in self.listeners:
            listener.push(Synced())
