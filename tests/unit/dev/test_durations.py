"""Durations in words."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pyctrl.dev._durations import ago, duration_text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *(
            (0, "0 ms"),
            (0.0001, "<1 ms"),
            (0.0123, "12 ms"),
            (1, "1 s"),
            (2.94, "2.9 s"),
            (47.3, "47 s"),
            (119, "119 s"),
        ),
        *((120, "2 m"), (7199, "120 m"), (7300, "2 h"), (86399.469708, "24 h"), (200_000, "2 d")),
    ],
)
def test_durations_have_one_unit(seconds: float, text: str) -> None:
    """A duration has one unit and at most three digits."""
    assert duration_text(seconds) == duration_text(timedelta(seconds=seconds)) == text


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "now"), (1.9, "1 s ago"), (130, "2 m ago"), (7300, "2 h ago")])
def test_ages_are_whole_seconds(seconds: float, text: str) -> None:
    """An age below two minutes is in whole seconds."""
    assert ago(seconds) == text
