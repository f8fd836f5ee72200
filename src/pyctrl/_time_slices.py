"""Time slices: how long code that never waits may run before the event loop serves I/O, timers and signals."""

from __future__ import annotations

import asyncio
from collections import deque
from weakref import WeakKeyDictionary

__all__ = ["SLICE", "STEPS", "TimeSlice"]

#: Seconds in one turn of the loop. A probe, a lease renewal or a signal waits no longer than this and one step.
SLICE = 0.005  # Go preempts a goroutine after 10 ms
#: Steps in one turn of the loop, whatever they take: in virtual time no step takes any. 200 reconciles that do nothing
#: take 4 ms, and what the turn costs by itself (some 10 µs) is 0.3 % of that.
STEPS = 200


class TimeSlice:
    """What remains of the current time slice of an event loop.

    Work whose steps may never suspend awaits `step` after each of them. Where that costs too much, it asks `is_over`
    and awaits `renew` when the slice is over.

    All such work of a loop shares one slice (see `current`), so that twenty busy controllers hold up the loop no longer
    than one does. Those who wait get one slice after the other, in the order in which they came. Once the loop has
    turned by itself, the next step begins a new slice.
    """

    def __init__(self) -> None:
        self._steps = 0
        self._ends = 0.0
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._is_running = False  # a step has been made since the loop turned

    @staticmethod
    def current() -> TimeSlice:
        """Return the slice that all work of the running loop shares; a task asks once and keeps it."""
        loop = asyncio.get_running_loop()
        found = _slices.get(loop)
        if found is None:
            found = _slices[loop] = TimeSlice()
        return found

    async def step(self) -> None:
        """Count a step that has just ended, and wait for the next slice if it was the last of this one."""
        if self.is_over(asyncio.get_running_loop().time()):
            await self.renew()

    def is_over(self, now: float) -> bool:
        """Count a step that ended at ``now``, by the loop's clock, and return whether it was the last of the slice."""
        if not self._is_running:
            self._begin(now)
        self._steps += 1
        return self._steps >= STEPS or now >= self._ends

    async def renew(self) -> None:
        """Wait for the next slice, while the loop serves everything else that is ready."""
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[None] = loop.create_future()
        self._waiters.append(waiter)
        if not self._is_running:
            self._begin(loop.time())
        await waiter

    def _begin(self, now: float) -> None:
        self._steps, self._ends, self._is_running = 0, now + SLICE, True
        asyncio.get_running_loop().call_soon(self._turn)

    def _turn(self) -> None:
        """Give a new slice to who has waited longest, in each turn of the loop."""
        self._is_running = False
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():  # else it was cancelled
                waiter.set_result(None)
                self._begin(asyncio.get_running_loop().time())  # after that: the next turn is the waiter's
                return


#: By loop. A slice refers to no loop: that would keep its loop for ever.
_slices: WeakKeyDictionary[asyncio.AbstractEventLoop, TimeSlice] = WeakKeyDictionary()
