"""Go's `time.Parse`; the messages were observed on kube-apiserver 1.36 or follow Go's documentation."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest

from pyctrl._go.times import parse_rfc3339, parse_rfc3339_micro

LAYOUT, MICRO = "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05.000000Z07:00"


def test_times_are_parsed() -> None:
    """A time may have a fraction and any offset."""
    assert parse_rfc3339("2026-01-02T03:04:05Z") == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    east = timezone(timedelta(hours=2))
    assert parse_rfc3339("2026-01-02T03:04:05.25+02:00") == datetime(2026, 1, 2, 3, 4, 5, 250000, tzinfo=east)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("t", f'parsing time "t" as "{LAYOUT}": cannot parse "t" as "2006"'),
        (
            "2020-01-01T00:00:00",
            f'parsing time "2020-01-01T00:00:00" as "{LAYOUT}": cannot parse "" as "Z07:00"',
        ),
        ("2020-13-01T00:00:00Z", 'parsing time "2020-13-01T00:00:00Z": month out of range'),
        ("2021-02-29T00:00:00Z", 'parsing time "2021-02-29T00:00:00Z": day out of range'),
        ("2020-01-01T00:00:00Zulu", 'parsing time "2020-01-01T00:00:00Zulu": extra text: "ulu"'),
    ],
)
def test_other_texts_are_errors(text: str, problem: str) -> None:
    """The message is Go's."""
    with pytest.raises(ValueError, match=f"^{re.escape(problem)}$"):
        parse_rfc3339(text)


@pytest.mark.parametrize(
    ("text", "rest", "element"),
    [
        ("2026-01-01 00:00", " 00:00", "T"),
        ("2026-01-01T00:00:00Z", "Z", ".000000"),
        ("2026-01-01T00:00:00.1234567Z", "7Z", "Z07:00"),
    ],
)
def test_a_time_with_microseconds_has_six_digits(text: str, rest: str, element: str) -> None:
    """The error names the first part of the text that does not fit the layout."""
    assert parse_rfc3339_micro("2026-01-01T00:00:00.000001Z").microsecond == 1
    problem = f'parsing time "{text}" as "{MICRO}": cannot parse "{rest}" as "{element}"'
    with pytest.raises(ValueError, match=f"^{re.escape(problem)}$"):
        parse_rfc3339_micro(text)
