"""Backlog of recorded events. It starts new events, counts repeated ones, and drops excess ones."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime
from math import inf
from random import Random
from uuid import UUID

from msgspec import Struct

from pyctrl.api import Object, format_micro_time, reference_to
from pyctrl.client._events.correlator import EventCorrelator, EventGroup
from pyctrl.client._events.series import OpenSeries, PendingEvent, WriteSchedule
from pyctrl.client._events.texts import is_event_name, truncate

__all__ = ["EventBacklog", "EventStatistics", "RecordedEvent"]

log = logging.getLogger("pyctrl.events")

QUEUE = 1000  # events to be created (maxQueuedEvents of client-go's tools/events)
NOTE_BYTES = 1024  # of a note (NoteLengthLimit of kube-apiserver's validation)
DROP_WARNING_SECONDS = 60.0  # between two warnings about dropped events


@dataclass(frozen=True, slots=True, kw_only=True)
class EventStatistics:
    """Counts of an `EventWriter` since its start."""

    #: Events whose creation or count has not been written yet.
    waiting: int = 0
    #: Accepted requests: created events and updated counts.
    written: int = 0
    #: Repeated events, which increment the count of a series.
    repeated: int = 0
    #: Events dropped by the rate limit of their object.
    limited: int = 0
    #: Events dropped because the queue was full.
    dropped: int = 0
    #: Events that the server rejected, or that failed 12 times.
    refused: int = 0


class RecordedEvent(Struct, frozen=True, kw_only=True):
    """An event as recorded."""

    controller: str
    instance: str
    type: str
    reason: str
    action: str
    obj: Object
    message: str
    related: Object | None


class EventBacklog:
    """Queue of events between recorders and the writer. It does no I/O; ``now`` is loop time."""

    def __init__(self, random: Random) -> None:
        self.schedule: WriteSchedule = WriteSchedule()
        self._random = random
        self._correlator = EventCorrelator()
        self._series = OpenSeries()
        self._next_drop_warning = -inf
        self._repeated = self._limited = self._dropped = 0

    def add(self, event: RecordedEvent, now: float, moment: datetime) -> None:
        """Schedule an event to be written, or count it as dropped.

        Args:
            event: the event.
            now: seconds of a monotonic clock.
            moment: the wall-clock time to write.
        """
        regarding = reference_to(event.obj)
        related = reference_to(event.related) if event.related is not None else {}
        subject = (event.controller, *_identity(regarding))
        group = (*subject, event.type, event.reason, event.action, *_identity(related))
        key, note = self._correlator.combine(group, truncate(event.message, NOTE_BYTES), now)
        series = self._series.again(key, now, moment)
        if series is not None:
            self._repeated += 1
            self.plan(series, now)
        elif self._may_begin(subject, now):
            series = PendingEvent(
                namespace=regarding.get("namespace", "default"),
                name=self.new_name(event.obj.metadata.name, moment),
                content=_content(event, note, regarding, related, moment),
                last_recorded=now,
                last_observed=moment,
            )
            self._series.begin(key, series)
            self.plan(series, now)

    def plan(self, series: PendingEvent, now: float) -> None:
        """Schedule the next write of an event, unless there is none or a write is in progress."""
        at = series.next_write(now)
        if at is not None and not series.tries:
            self.schedule.put(series, at)

    def new_name(self, about: str, moment: datetime) -> str:
        """Return a unique name for an Event: the object's with the time, or a UUID if that is no valid name."""
        name = self._correlator.new_name(about, moment)
        return name if is_event_name(name) else str(UUID(int=self._random.getrandbits(128), version=4))

    def statistics(self, *, written: int, refused: int) -> EventStatistics:
        """Return the counts of the backlog and the given ones of the writer."""
        return EventStatistics(
            waiting=len(self.schedule),
            written=written,
            repeated=self._repeated,
            limited=self._limited,
            dropped=self._dropped,
            refused=refused,
        )

    def _may_begin(self, subject: EventGroup, now: float) -> bool:
        if not self._correlator.is_allowed(subject, now):
            self._limited += 1
            return False
        if self.schedule.new < QUEUE:
            return True
        self._dropped += 1
        if now >= self._next_drop_warning:
            self._next_drop_warning = now + DROP_WARNING_SECONDS
            log.warning("Event queue full, dropping new events", extra={"dropped": self._dropped})
        return False


def _identity(reference: dict[str, str]) -> EventGroup:
    """Return the identity of an object without its resource version, so that updates do not start new series."""
    return tuple(reference.get(field, "") for field in ("apiVersion", "kind", "namespace", "name", "uid"))


def _content(
    event: RecordedEvent, note: str, regarding: dict[str, str], related: dict[str, str], moment: datetime
) -> dict[str, object]:
    content: dict[str, object] = {
        "eventTime": format_micro_time(moment),
        "type": event.type,
        "reason": event.reason,
        "action": event.action,
        "note": truncate(note, NOTE_BYTES),
        "regarding": regarding,
        "reportingController": event.controller,
        "reportingInstance": event.instance,
    }
    return {**content, "related": related} if related else content
