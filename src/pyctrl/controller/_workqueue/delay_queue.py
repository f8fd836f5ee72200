"""Deadlines of delayed requests, with one timer of the event loop for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Hashable
from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

__all__ = ["DelayQueue"]

Token = TypeVar("Token", bound=Hashable)


class DelayQueue(Generic[Token]):
    """Calls ``on_due(token)`` when the deadline of a token is over. It does not poll.

    Setting or cancelling is O(log n). Stale entries of the heap are skipped when they come to its top, and removed when
    they are the majority, so that a deadline that is moved every second does not make the heap grow.
    """

    def __init__(self, on_due: Callable[[Token], None]) -> None:
        self._on_due = on_due
        self._deadlines: dict[Token, tuple[float, int]] = {}
        self._heap: list[tuple[float, int, Token]] = []  # the number keeps tokens from being compared
        self._number = 0
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._deadlines)

    def set(self, token: Token, when: float) -> None:
        """Set the deadline of a token, in the loop's time, in place of an earlier one."""
        self._number += 1
        self._deadlines[token] = (when, self._number)
        heappush(self._heap, (when, self._number, token))
        self._arm_timer()

    def cancel(self, token: Token) -> None:
        """Cancel the deadline of a token."""
        if self._deadlines.pop(token, None) is not None and not self._deadlines:
            self.clear()  # no timer is needed any more

    def clear(self) -> None:
        """Cancel all deadlines."""
        self._deadlines.clear()
        self._heap.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm_timer(self) -> None:
        """Set the timer to the earliest entry, unless it is set to that already."""
        if len(self._heap) > 2 * len(self._deadlines) + 64:
            self._heap = [(when, number, token) for token, (when, number) in self._deadlines.items()]
            heapify(self._heap)
        if not self._heap:
            return
        when = self._heap[0][0]
        if self._timer is not None:
            if self._timer.when() <= when:
                return
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_at(when, self._fire)

    def _fire(self) -> None:
        timer, self._timer = self._timer, None
        # The loop calls up to one clock tick early: the time that the timer was set for counts as over.
        now = max(asyncio.get_running_loop().time(), timer.when() if timer is not None else 0.0)
        while self._heap and self._heap[0][0] <= now:
            when, number, token = heappop(self._heap)
            if self._deadlines.get(token) == (when, number):
                del self._deadlines[token]
                self._on_due(token)
        self._arm_timer()
