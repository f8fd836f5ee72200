"""Who is next: the policy of the queue, in one place."""

from __future__ import annotations

from collections import OrderedDict
from datetime import timedelta
from heapq import heapify, heappop, heappush

from msgspec import Struct

from pyctrl.controller._request import Request

__all__ = ["LOW_PRIORITY", "PriorityHeap"]

#: Of the initial list and of resyncs, as in controller-runtime: what happens now goes before what was there.
LOW_PRIORITY = -100


class _Position(Struct, gc=False):
    priority: int
    sequence: int
    since: float


class PriorityHeap:
    """The requests that are ready, handed out by priority and, within one priority, first come first served.

    Nothing starves: while somebody has waited for longer than ``patience``, every ``share``-th turn goes to the one
    that has waited longest, whatever its priority. (controller-runtime is strict: with enough traffic, the initial
    list never gets through. Plain ageing is no cure: 10 s into a start with 50,000 objects all of them would be
    old, and changes that happen now would wait behind them.)
    """

    def __init__(self, *, patience: timedelta = timedelta(seconds=10), share: int = 5) -> None:
        self._patience = patience.total_seconds()
        self._share = share
        self._overtaken = 0  # turns in a row that went past somebody impatient
        self._sequence = 0
        #: Who is in line, in order of `since`. The queue looks here whether anybody is: `__len__` takes longer.
        self.positions: OrderedDict[Request, _Position] = OrderedDict()
        self._heap: list[tuple[int, int, Request]] = []  # entries whose sequence is not their place's are stale

    def __len__(self) -> int:
        return len(self.positions)

    def put(self, request: Request, priority: int, now: float) -> bool:
        """Put a request in line and say whether it is new in it.

        One that is in line already can only rise, to the end of the higher priority.
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
        """Take who is next out of the line: the request, its priority, and since when it was ready."""
        if len(self.positions) == 1:  # nobody to choose from
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
        """Send one away, if it is in line."""
        self.positions.pop(request, None)

    def clear(self) -> None:
        """Send everybody away."""
        self.positions.clear()
        self._heap.clear()
        self._overtaken = 0

    def priorities(self) -> dict[int, int]:
        """Return how many are in line at each priority."""
        counts: dict[int, int] = {}
        for position in self.positions.values():
            counts[position.priority] = counts.get(position.priority, 0) + 1
        return counts

    def oldest(self) -> float | None:
        """Return since when the one that has waited longest is ready."""
        return next(iter(self.positions.values())).since if self.positions else None

    def _tidy(self) -> None:
        """Bring a live entry to the top of the heap; make the heap anew when most of it is stale."""
        if len(self._heap) > 2 * len(self.positions) + 64:
            self._heap = [
                (-position.priority, position.sequence, request) for request, position in self.positions.items()
            ]
            heapify(self._heap)
        while (position := self.positions.get(self._heap[0][2])) is None or position.sequence != self._heap[0][1]:
            heappop(self._heap)
