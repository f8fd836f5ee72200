"""What becomes of a recorded event before it is written: it starts a series, is counted, or is dropped."""

from __future__ import annotations

from datetime import UTC, datetime
from random import Random
from uuid import UUID

from pyctrl.client._events.backlog import EventBacklog, RecordedEvent
from tests.unit.client.events._bench import config_map

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)


def recorded(about: str = "shop", *, reason: str = "Failed") -> RecordedEvent:
    """Return an event about a ConfigMap."""
    return RecordedEvent(
        controller="shops",
        instance="shops-host",
        type="Warning",
        reason=reason,
        action="Reconcile",
        obj=config_map(about),
        message="Unable to open",
        related=None,
    )


def test_a_repeated_event_is_counted_and_not_queued_again() -> None:
    """An event that is recorded three times waits as one event with a count of three."""
    backlog = EventBacklog(Random(1))
    for now in range(3):
        backlog.add(recorded(), now, MOMENT)
    event = backlog.schedule.take(3.0)
    assert event is not None
    assert event.to_wire()["series"]["count"] == 3
    counts = backlog.statistics(written=4, refused=5)
    assert (counts.waiting, counts.repeated, counts.written, counts.refused) == (0, 2, 4, 5)


def test_events_beyond_the_rate_of_their_object_are_counted_as_limited() -> None:
    """The 26th event of an object at once is dropped by its rate limit, and another object's event is not."""
    backlog = EventBacklog(Random(1))
    for n in range(26):
        backlog.add(recorded(reason=f"Reason{n}"), 0.0, MOMENT)
    backlog.add(recorded("other"), 0.0, MOMENT)
    counts = backlog.statistics(written=0, refused=0)
    assert (counts.waiting, counts.limited, counts.dropped) == (26, 1, 0)


def test_a_full_queue_drops_new_events() -> None:
    """The queue holds a thousand new events, and the next one is dropped and counted."""
    backlog = EventBacklog(Random(1))
    for n in range(1001):
        backlog.add(recorded(f"shop-{n}"), 0.0, MOMENT)
    counts = backlog.statistics(written=0, refused=0)
    assert (counts.waiting, counts.limited, counts.dropped) == (1000, 0, 1)


def test_an_object_whose_name_no_event_may_have_gives_its_events_a_uuid() -> None:
    """An Event is called after its object if that is a valid name, and by a UUID otherwise."""
    backlog = EventBacklog(Random(1))
    assert backlog.new_name("shop", MOMENT).startswith("shop.")
    assert UUID(backlog.new_name("system:node", MOMENT)).version == 4
