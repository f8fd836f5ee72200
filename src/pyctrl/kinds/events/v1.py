# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of events/v1 and their parts."""

from pydantic import Field

from pyctrl.api import MicroTime, Time
from pyctrl.kinds._builtin import Kind, Part
from pyctrl.kinds.core.v1 import EventSource, ObjectReference

__all__ = ["Event", "EventSeries"]


class EventSeries(Part):
    """`series` of Event."""

    count: int = 0
    last_observed_time: MicroTime | None = None


class Event(Kind, group="events.k8s.io", version="v1", plural="events", short_names=("ev",)):
    """Event of events.k8s.io/v1."""

    action: str | None = None
    deprecated_count: int | None = None
    deprecated_first_timestamp: Time | None = None
    deprecated_last_timestamp: Time | None = None
    deprecated_source: EventSource = Field(default_factory=EventSource)
    event_time: MicroTime | None = None
    note: str | None = None
    reason: str | None = None
    regarding: ObjectReference = Field(default_factory=ObjectReference)
    related: ObjectReference | None = None
    reporting_controller: str | None = None
    reporting_instance: str | None = None
    series: EventSeries | None = None
    type: str | None = None
