"""Events as told so far: one that is told again counts up, and is written again when that is worth a request."""

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

FINISH_SECONDS = 360.0  # a series that was silent for so long is over (finishTime of client-go's tools/events)
# A count that goes on is written when it has doubled, and this long after the last time. client-go's tools/events takes
# 30 minutes and nothing before, so that kubectl shows "x2" for an error that happens every second; this is the rate of
# its older recorder (1 / defaultSpamQPS).
REFRESH_SECONDS = 300.0
REMEMBERED = 4096  # series that may still be told again (maxLruCacheEntries of client-go's older recorder)


class PendingEvent(Struct, eq=False, kw_only=True):
    """One Event: what is told, how often, and how much of that is settled."""

    namespace: str
    name: str
    content: dict[str, Any]
    last_told: float
    last_observed: datetime
    count: int = 1
    #: The count that was written or given up; 0 before the first attempt has come to an end.
    settled: int = 0
    settled_at: float = 0.0
    is_created: bool = False
    #: Requests since it was last settled; when there was more than one, an earlier one may have created it.
    tries: int = 0

    def series(self) -> dict[str, Any]:
        """Return what the Event says of its repetitions."""
        return {"count": self.count, "lastObservedTime": format_micro_time(self.last_observed)}

    def to_wire(self) -> dict[str, Any]:
        """Return the whole Event."""
        metadata = {"name": self.name, "namespace": self.namespace}
        repeated = {"series": self.series()} if self.count > 1 else {}
        return {"metadata": metadata, **self.content, **repeated}

    def settle(self, count: int, now: float) -> None:
        """Take note that a count needs no further request."""
        self.settled, self.settled_at, self.tries = count, now, 0

    def next_write(self, now: float) -> float | None:
        """Return when the count is to be written, or None when it is settled."""
        if self.count == self.settled:
            return None
        return now if self.count >= 2 * self.settled else self.settled_at + REFRESH_SECONDS


class OpenSeries:
    """The series that may still be told again, the latest last."""

    def __init__(self) -> None:
        self._open: OrderedDict[EventGroup, PendingEvent] = OrderedDict()

    def again(self, key: EventGroup, now: float, moment: datetime) -> PendingEvent | None:
        """Count an event up, if it was told within the last six minutes."""
        series = self._open.get(key)
        if series is None or now - series.last_told > FINISH_SECONDS:
            return None
        series.count += 1
        series.last_told, series.last_observed = now, moment
        self._open.move_to_end(key)
        return series

    def begin(self, key: EventGroup, series: PendingEvent) -> None:
        """Remember an event, and forget those that are over."""
        self._open[key] = series
        self._open.move_to_end(key)
        while len(self._open) > REMEMBERED or self._is_over(next(iter(self._open.values())), series.last_told):
            self._open.popitem(last=False)

    @staticmethod
    def _is_over(series: PendingEvent, now: float) -> bool:
        return now - series.last_told > FINISH_SECONDS


class _ScheduledWrite(NamedTuple):
    at: float
    number: int  # no two have the same, so that events are never compared
    series: PendingEvent


class WriteSchedule:
    """Which event is to be written when. Each is in it once, at the earliest of the times it was put in for."""

    def __init__(self) -> None:
        self._turns: list[_ScheduledWrite] = []
        self._numbers = itertools.count()
        self._due: dict[PendingEvent, float] = {}
        self._unsettled: set[PendingEvent] = set()

    def put(self, series: PendingEvent, at: float) -> None:
        """Let an event be written at a time, if it is not to be written earlier anyway."""
        if self._due.get(series, inf) <= at:
            return
        self._due[series] = at
        if not series.settled:
            self._unsettled.add(series)
        heapq.heappush(self._turns, _ScheduledWrite(at, next(self._numbers), series))

    def take(self, until: float) -> PendingEvent | None:
        """Take out the first that is due by a time."""
        while self._turns and self._turns[0].at <= until:
            turn = heapq.heappop(self._turns)
            if self._due.get(turn.series) == turn.at:  # otherwise it has had an earlier turn
                del self._due[turn.series]
                self._unsettled.discard(turn.series)
                return turn.series
        return None

    @property
    def next_at(self) -> float | None:
        """When to look again, or None when nothing waits."""
        return self._turns[0].at if self._turns else None

    @property
    def new(self) -> int:
        """How many events wait that nobody has tried to write yet."""
        return len(self._unsettled)

    def __len__(self) -> int:
        return len(self._due)
