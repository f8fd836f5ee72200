"""Which events are combined, how many an object may have, and what Events are called."""

from __future__ import annotations

from datetime import UTC, datetime

from pyctrl.client._events.correlator import EventCorrelator

GROUP = ("shops", "ConfigMap", "shop", "Failed")


def test_the_tenth_different_message_within_ten_minutes_is_combined() -> None:
    """Nine different messages have an Event each, and the tenth one shares the Event of its group."""
    correlator = EventCorrelator()
    keys = {correlator.combine(GROUP, f"message {n}", 0.0) for n in range(9)}
    assert keys == {((*GROUP, f"message {n}"), f"message {n}") for n in range(9)}
    assert correlator.combine(GROUP, "another", 600.0) == (GROUP, "(combined from similar events): another")


def test_after_ten_minutes_without_an_event_a_group_begins_again() -> None:
    """A message that comes more than ten minutes after the last one of its group has an Event of its own."""
    correlator = EventCorrelator()
    for n in range(10):
        correlator.combine(GROUP, f"message {n}", 0.0)
    assert correlator.combine(GROUP, "another", 600.1) == ((*GROUP, "another"), "another")


def test_an_object_has_25_events_and_then_one_every_five_minutes() -> None:
    """The rate limit of an object allows 25 events at once, and one more for every 300 seconds."""
    correlator = EventCorrelator()
    assert [correlator.is_allowed(GROUP, 0.0) for _ in range(26)] == [True] * 25 + [False]
    assert correlator.is_allowed(("other",), 0.0)
    assert not correlator.is_allowed(GROUP, 150.0)
    assert [correlator.is_allowed(GROUP, 300.0) for _ in range(2)] == [True, False]
    assert [correlator.is_allowed(GROUP, 86400.0) for _ in range(26)] == [True] * 25 + [False]  # not those of a day


def test_names_differ_while_the_clock_stands_still_or_goes_back() -> None:
    """An Event is called as its object with the nanoseconds of its time, or with the next free number after them."""
    correlator = EventCorrelator()
    moments = [datetime(1970, 1, 1, 0, 0, second, tzinfo=UTC) for second in (1, 1, 0)]
    names = [correlator.new_name("shop", moment) for moment in moments]
    assert names == [f"shop.{10**9 + n:x}" for n in range(3)]
