"""Durations in Go's format."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pyctrl.api import Duration, Model, format_duration, parse_duration
from pyctrl.errors import DecodeError


class Spec(Model):
    timeout: Duration = timedelta(seconds=5)


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("1h30m0s", timedelta(hours=1, minutes=30)),
        ("72h0m0s", timedelta(days=3)),
        ("1.5s", timedelta(seconds=1.5)),
        ("300ms", timedelta(milliseconds=300)),
        ("1.5ms", timedelta(microseconds=1500)),
        ("7µs", timedelta(microseconds=7)),
        ("-1m30s", timedelta(seconds=-90)),
        ("0s", timedelta(0)),
    ],
)
def test_a_duration_is_written_as_go_writes_it(text: str, length: timedelta) -> None:
    """A duration in Go's output format is parsed and printed unchanged."""
    assert format_duration(length) == text
    assert parse_duration(text) == length
    assert Spec(timeout=length).to_wire() == {"timeout": text}


@pytest.mark.parametrize(("text", "seconds"), [("0", 0), ("90m", 5400), ("1h.5m", 3630), ("+2s", 2), ("999ns", 1e-6)])
def test_a_duration_may_be_written_otherwise(text: str, seconds: float) -> None:
    """Go's other input formats are parsed; fractions of a microsecond are rounded."""
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["1d", "1h 30m", "h", "", "PT1H", "5"])
def test_what_is_no_duration_is_told_with_the_units(text: str) -> None:
    """The error for a text that Go cannot parse names the units and an example."""
    with pytest.raises(ValueError, match=r"is not a duration: expected numbers with the units h, m, s.*1h30m"):
        parse_duration(text)


def test_a_number_is_no_duration() -> None:
    """A number is refused, as by the API server."""
    with pytest.raises(DecodeError, match="a duration is a text such as 1h30m, not 0"):
        Spec.from_wire({"timeout": 0})


def test_a_duration_beyond_pythons_is_told() -> None:
    """A duration beyond Python's range is an error."""
    with pytest.raises(ValueError, match="is longer than 999999999 days"):
        parse_duration("999999999999999h")
