"""Time slices, after which code that never suspends yields to the event loop's I/O, timers and signals."""

from __future__ import annotations

import asyncio
from collections import deque
from contextvars import ContextVar
from weakref import WeakKeyDictionary

__all__ = ["SLICE", "STEPS", "TimeSlice", "simulated_process"]

#: Seconds in one iteration of the loop. A probe, a lease renewal or a signal waits at most this long, plus one step.
SLICE = 0.005  # Go preempts a goroutine after 10 ms
#: The maximum of steps in one iteration of the loop, needed because steps take no virtual time. 200 reconciles without
#: work take 4 ms; the iteration itself (about 10 µs) adds 0.3 %.
STEPS = 200


class TimeSlice:
    """The current time slice of an event loop.

    Code with steps that may never suspend awaits `step` after each of them. Where that is too expensive, it calls
    `is_over`, and awaits `renew` when the slice is over.

    All such code of a loop shares one slice (see `current`), so that twenty busy controllers block the loop no longer
    than one does. Waiting tasks get one slice each, in order. After the loop has run another iteration, the next step
    begins a new slice.
    """

    def __init__(self) -> None:
        self._steps = 0
        self._ends = 0.0
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._is_running = False  # whether there was a step in this iteration of the loop

    @staticmethod
    def current() -> TimeSlice:
        """Return the shared slice of the running loop and process; a task calls this once and keeps the result."""
        slices = _slices.setdefault(asyncio.get_running_loop(), {})
        return slices.setdefault(simulated_process.get(), TimeSlice())

    async def step(self) -> None:
        """Count a completed step, and wait for the next slice if this one is over."""
        if self.is_over(asyncio.get_running_loop().time()):
            await self.renew()

    def is_over(self, now: float) -> bool:
        """Count a step that ended at ``now``, on the loop's clock, and return whether the slice is over."""
        if not self._is_running:
            self._begin(now)
        self._steps += 1
        return self._steps >= STEPS or now >= self._ends

    async def renew(self) -> None:
        """Wait for the next slice, while the loop runs everything else that is ready."""
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
        """Give a new slice to the task that has waited longest, in each iteration of the loop."""
        self._is_running = False
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():  # else it was cancelled
                waiter.set_result(None)
                self._begin(asyncio.get_running_loop().time())  # after set_result: the waiter runs next
                return


#: The process that a task belongs to if a simulation runs several in one loop. One that stands still keeps its slice.
simulated_process: ContextVar[str] = ContextVar("pyctrl_simulated_process", default="")

#: By loop and process. A slice must not refer to its loop, which would keep the loop alive.
_slices: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, TimeSlice]] = WeakKeyDictionary()
