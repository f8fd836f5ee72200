"""When a repeated event counts as the same, when its count is written, and in which order writes are due."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pyctrl.client._events.series import OpenSeries, PendingEvent, WriteSchedule

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
KEY = ("shop", "Failed")


def pending(name: str = "shop.1", *, count: int = 1) -> PendingEvent:
    """Return an event that was recorded at time 0."""
    return PendingEvent(
        namespace="default", name=name, content={"reason": "Failed"}, last_recorded=0, last_observed=MOMENT, count=count
    )


@pytest.mark.parametrize(("now", "count"), [(360.0, 2), (360.1, 1)])
def test_an_event_is_repeated_within_six_minutes(now: float, count: int) -> None:
    """An event increments the count of the same one within six minutes, and not later."""
    series, event = OpenSeries(), pending()
    series.begin(KEY, event)
    assert series.again(KEY, now, MOMENT) is (event if count == 2 else None)
    assert event.count == count


@pytest.mark.parametrize(("count", "settled", "due"), [(1, 0, 50.0), (4, 4, None), (7, 4, 310.0), (8, 4, 50.0)])
def test_a_count_is_written_when_it_has_doubled_or_after_five_minutes(
    count: int, settled: int, due: float | None
) -> None:
    """A doubled count is due now, a smaller increase five minutes after the last write, an unchanged count never."""
    event = pending(count=count)
    event.settle(settled, 10.0)
    assert event.next_write(50.0) == due


def test_an_event_has_a_series_from_its_second_occurrence_on() -> None:
    """An event that happened once is written without a series, and one that happened twice with its count."""
    metadata = {"name": "shop.1", "namespace": "default"}
    assert pending().to_wire() == {"metadata": metadata, "reason": "Failed"}
    series = {"count": 2, "lastObservedTime": "2026-01-01T00:00:00.000000Z"}
    assert pending(count=2).to_wire() == {"metadata": metadata, "reason": "Failed", "series": series}


def test_writes_are_taken_when_they_are_due_and_once_each() -> None:
    """The schedule gives the earliest event that is due, and an event that was put twice only at its earlier time."""
    schedule, early, late = WriteSchedule(), pending("early"), pending("late")
    schedule.put(late, 5.0)
    schedule.put(early, 9.0)
    schedule.put(early, 1.0)
    assert (len(schedule), schedule.new, schedule.next_at) == (2, 2, 1.0)
    assert [schedule.take(4.0), schedule.take(4.0)] == [early, None]
    assert [schedule.take(9.0), schedule.take(9.0)] == [late, None]
    assert (len(schedule), schedule.new) == (0, 0)
