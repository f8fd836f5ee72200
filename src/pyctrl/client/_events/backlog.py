"""What is told and not yet written: decides for each event whether it is new, a repetition, or one too many."""

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

QUEUE = 1000  # events that wait to be created (maxQueuedEvents of client-go's tools/events)
NOTE_BYTES = 1024  # of a note (NoteLengthLimit of kube-apiserver's validation)
DROP_WARNING_SECONDS = 60.0  # between two lines about events that are dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class EventStatistics:
    """What became of events since the beginning."""

    #: Events of which something is not on the server yet: that they are, or how often.
    waiting: int = 0
    #: Requests that the server accepted: events created, and counts written.
    written: int = 0
    #: Events told again, which count up one that is known.
    repeated: int = 0
    #: Events left out because there were too many about one object.
    limited: int = 0
    #: Events lost because too many waited.
    dropped: int = 0
    #: Events that the server refused, or failed to take 12 times.
    refused: int = 0


class RecordedEvent(Struct, frozen=True, kw_only=True):
    """What a recorder was told."""

    controller: str
    instance: str
    type: str
    reason: str
    action: str
    obj: Object
    message: str
    related: Object | None


class EventBacklog:
    """Takes in what recorders are told, and gives out what is to be written. Knows no server; ``now`` is loop time."""

    def __init__(self, random: Random) -> None:
        self.schedule: WriteSchedule = WriteSchedule()
        self._random = random
        self._correlator = EventCorrelator()
        self._series = OpenSeries()
        self._complain_at = -inf
        self._repeated = self._limited = self._dropped = 0

    def take_in(self, told: RecordedEvent, now: float, moment: datetime) -> None:
        """Let an event wait to be written, or count it as one that is not.

        Args:
            told: the event.
            now: seconds of a clock that never goes back.
            moment: the wall time that is written down.
        """
        regarding = reference_to(told.obj)
        related = reference_to(told.related) if told.related is not None else {}
        subject = (told.controller, *_identity(regarding))
        group = (*subject, told.type, told.reason, told.action, *_identity(related))
        key, note = self._correlator.combine(group, truncate(told.message, NOTE_BYTES), now)
        series = self._series.again(key, now, moment)
        if series is not None:
            self._repeated += 1
            self.plan(series, now)
        elif self._may_begin(subject, now):
            series = PendingEvent(
                namespace=regarding.get("namespace", "default"),
                name=self.new_name(told.obj.metadata.name, moment),
                content=_content(told, note, regarding, related, moment),
                last_told=now,
                last_observed=moment,
            )
            self._series.begin(key, series)
            self.plan(series, now)

    def plan(self, series: PendingEvent, now: float) -> None:
        """Schedule what of an event is not settled; one that is being tried is planned when that is over."""
        at = series.next_write(now)
        if at is not None and not series.tries:
            self.schedule.put(series, at)

    def new_name(self, about: str, moment: datetime) -> str:
        """Return a name for an Event that nobody has: the object's with the time, or a uuid where that is no name."""
        name = self._correlator.new_name(about, moment)
        return name if is_event_name(name) else str(UUID(int=self._random.getrandbits(128), version=4))

    def statistics(self, *, written: int, refused: int) -> EventStatistics:
        """Return the counts, with those of the writer."""
        return EventStatistics(
            waiting=len(self.schedule),
            written=written,
            repeated=self._repeated,
            limited=self._limited,
            dropped=self._dropped,
            refused=refused,
        )

    def _may_begin(self, subject: EventGroup, now: float) -> bool:
        if not self._correlator.may_speak(subject, now):
            self._limited += 1
            return False
        if self.schedule.new < QUEUE:
            return True
        self._dropped += 1
        if now >= self._complain_at:
            self._complain_at = now + DROP_WARNING_SECONDS
            log.warning("Too many events wait to be written, dropping new ones", extra={"dropped": self._dropped})
        return False


def _identity(reference: dict[str, str]) -> EventGroup:
    """Return what names an object, whatever its version: a change of its status does not make its events new."""
    return tuple(reference.get(field, "") for field in ("apiVersion", "kind", "namespace", "name", "uid"))


def _content(
    told: RecordedEvent, note: str, regarding: dict[str, str], related: dict[str, str], moment: datetime
) -> dict[str, object]:
    content: dict[str, object] = {
        "eventTime": format_micro_time(moment),
        "type": told.type,
        "reason": told.reason,
        "action": told.action,
        "note": truncate(note, NOTE_BYTES),
        "regarding": regarding,
        "reportingController": told.controller,
        "reportingInstance": told.instance,
    }
    return {**content, "related": related} if related else content
