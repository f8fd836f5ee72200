"""Series of repeated events, and the schedule of their writes."""

from __future__ import annotations

import heapq
import itertools
from collections import OrderedDict
from datetime import datetime
from math import inf
from typing import Any, NamedTuple

from msgspec import Struct

from pyctrl.api import format_micro_time
from pyctrl.client._events.correlator import EventGroup

__all__ = ["OpenSeries", "PendingEvent", "WriteSchedule"]

FINISH_SECONDS = 360.0  # without repetition until a series ends (finishTime of client-go's tools/events)
# A count is written when it has doubled, and this long after its last write. client-go's tools/events writes it only
# every 30 minutes, so that kubectl shows "x2" for an error that happens every second. This is the rate of its older
# recorder (1 / defaultSpamQPS).
REFRESH_SECONDS = 300.0
REMEMBERED = 4096  # open series (maxLruCacheEntries of client-go's older recorder)


class PendingEvent(Struct, eq=False, kw_only=True):
    """An Event, its count, and the count that has been written."""

    namespace: str
    name: str
    content: dict[str, Any]
    last_recorded: float
    last_observed: datetime
    count: int = 1
    #: The count that was written or given up; 0 before the first write has completed.
    settled: int = 0
    settled_at: float = 0.0
    is_created: bool = False
    #: Requests since the last settled write. If there was more than one, an earlier one may have created the Event.
    tries: int = 0

    def series(self) -> dict[str, Any]:
        """Return the ``series`` of the Event."""
        return {"count": self.count, "lastObservedTime": format_micro_time(self.last_observed)}

    def to_wire(self) -> dict[str, Any]:
        """Return the whole Event."""
        metadata = {"name": self.name, "namespace": self.namespace}
        repeated = {"series": self.series()} if self.count > 1 else {}
        return {"metadata": metadata, **self.content, **repeated}

    def settle(self, count: int, now: float) -> None:
        """Record that a count has been written or given up."""
        self.settled, self.settled_at, self.tries = count, now, 0

    def next_write(self, now: float) -> float | None:
        """Return when the count is due to be written, or None if it has been."""
        if self.count == self.settled:
            return None
        return now if self.count >= 2 * self.settled else self.settled_at + REFRESH_SECONDS


class OpenSeries:
    """The series that can still be repeated, the latest last."""

    def __init__(self) -> None:
        self._open: OrderedDict[EventGroup, PendingEvent] = OrderedDict()

    def again(self, key: EventGroup, now: float, moment: datetime) -> PendingEvent | None:
        """Increment the count of an event if it was recorded within the last six minutes."""
        series = self._open.get(key)
        if series is None or now - series.last_recorded > FINISH_SECONDS:
            return None
        series.count += 1
        series.last_recorded, series.last_observed = now, moment
        self._open.move_to_end(key)
        return series

    def begin(self, key: EventGroup, series: PendingEvent) -> None:
        """Add a series, and remove those that have ended."""
        self._open[key] = series
        self._open.move_to_end(key)
        while len(self._open) > REMEMBERED or self._is_over(next(iter(self._open.values())), series.last_recorded):
            self._open.popitem(last=False)

    @staticmethod
    def _is_over(series: PendingEvent, now: float) -> bool:
        return now - series.last_recorded > FINISH_SECONDS


class _ScheduledWrite(NamedTuple):
    at: float
    number: int  # unique, so that events are never compared
    series: PendingEvent


class WriteSchedule:
    """Schedule of writes. Each event is in it once, at the earliest of its requested times."""

    def __init__(self) -> None:
        self._heap: list[_ScheduledWrite] = []
        self._numbers = itertools.count()
        self._due: dict[PendingEvent, float] = {}
        self._unsettled: set[PendingEvent] = set()

    def put(self, series: PendingEvent, at: float) -> None:
        """Schedule the write of an event, unless it is scheduled earlier."""
        if self._due.get(series, inf) <= at:
            return
        self._due[series] = at
        if not series.settled:
            self._unsettled.add(series)
        heapq.heappush(self._heap, _ScheduledWrite(at, next(self._numbers), series))

    def take(self, until: float) -> PendingEvent | None:
        """Remove and return the first event that is due by a time."""
        while self._heap and self._heap[0].at <= until:
            write = heapq.heappop(self._heap)
            if self._due.get(write.series) == write.at:  # otherwise it was taken at an earlier time
                del self._due[write.series]
                self._unsettled.discard(write.series)
                return write.series
        return None

    @property
    def next_at(self) -> float | None:
        """The time of the next write, or None if there is none."""
        return self._heap[0].at if self._heap else None

    @property
    def new(self) -> int:
        """The number of events without a completed write."""
        return len(self._unsettled)

    def __len__(self) -> int:
        return len(self._due)
