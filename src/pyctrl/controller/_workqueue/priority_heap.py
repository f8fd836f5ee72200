"""The order of ready requests: by priority, first in, first out, without starvation."""

from __future__ import annotations

from collections import OrderedDict
from datetime import timedelta
from heapq import heapify, heappop, heappush

from msgspec import Struct

from pyctrl.controller._request import Request

__all__ = ["LOW_PRIORITY", "PriorityHeap"]

#: The priority of the initial list and of resyncs, as in controller-runtime: new changes go first.
LOW_PRIORITY = -100


class _Position(Struct, gc=False):
    priority: int
    sequence: int
    since: float


class PriorityHeap:
    """The ready requests, in order of priority and, within a priority, first in, first out.

    No request starves: while one has waited for longer than ``patience``, every ``share``-th `pop` returns the one that
    has waited longest, whatever its priority. (controller-runtime has strict priorities: with enough traffic the
    initial list is never finished. Plain ageing does not help: 10 s after a start with 50,000 objects all of them would
    be old, and new changes would wait behind them.)
    """

    def __init__(self, *, patience: timedelta = timedelta(seconds=10), share: int = 5) -> None:
        self._patience = patience.total_seconds()
        self._share = share
        self._overtaken = 0  # pops in a row that overtook a request that has waited for longer than `patience`
        self._sequence = 0
        #: The ready requests, in order of `since`. The queue tests its truth value, which is faster than `__len__`.
        self.positions: OrderedDict[Request, _Position] = OrderedDict()
        self._heap: list[tuple[int, int, Request]] = []  # an entry whose sequence is not its position's is stale

    def __len__(self) -> int:
        return len(self.positions)

    def put(self, request: Request, priority: int, now: float) -> bool:
        """Add a request and return whether it is new.

        The priority of a request that is ready already can only rise; it then goes behind others of that priority.
        """
        position = self.positions.get(request)
        if position is not None and position.priority >= priority:
            return False
        self._sequence += 1
        heappush(self._heap, (-priority, self._sequence, request))
        if position is not None:
            position.priority, position.sequence = priority, self._sequence
            return False
        self.positions[request] = _Position(priority, self._sequence, now)
        return True

    def pop(self, now: float) -> tuple[Request, int, float]:
        """Remove the next request; return it with its priority and the time since which it was ready."""
        if len(self.positions) == 1:  # no choice
            request, position = self.positions.popitem()
            self._heap.clear()
            self._overtaken = 0
            return request, position.priority, position.since
        self._tidy()
        request = self._heap[0][2]
        oldest, position = next(iter(self.positions.items()))
        if oldest != request and position.since + self._patience < now:
            self._overtaken += 1
            if self._overtaken >= self._share:
                request = oldest
        if request == oldest:
            self._overtaken = 0
        position = self.positions.pop(request)
        return request, position.priority, position.since

    def remove(self, request: Request) -> None:
        """Remove a request, if it is ready."""
        self.positions.pop(request, None)

    def clear(self) -> None:
        """Remove all requests."""
        self.positions.clear()
        self._heap.clear()
        self._overtaken = 0

    def priorities(self) -> dict[int, int]:
        """Return the number of ready requests by priority."""
        counts: dict[int, int] = {}
        for position in self.positions.values():
            counts[position.priority] = counts.get(position.priority, 0) + 1
        return counts

    def oldest(self) -> float | None:
        """Return the time since which the oldest request is ready, or None."""
        return next(iter(self.positions.values())).since if self.positions else None

    def _tidy(self) -> None:
        """Remove stale entries from the top of the heap; rebuild the heap when most of it is stale."""
        if len(self._heap) > 2 * len(self.positions) + 64:
            self._heap = [
                (-position.priority, position.sequence, request) for request, position in self.positions.items()
            ]
            heapify(self._heap)
        while (position := self.positions.get(self._heap[0][2])) is None or position.sequence != self._heap[0][1]:
            heappop(self._heap)
