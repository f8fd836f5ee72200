"""Durations as Go and kubectl print them."""

from __future__ import annotations

import pytest

from pyctrl._go.durations import human_duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (200, "3m20s"),
        (3600, "60m"),
        (3 * 3600, "3h"),
        (90000, "25h"),
        (259200, "3d"),
    ],
)
def test_durations_get_coarser_as_they_grow(seconds: int, text: str) -> None:
    """Ages have the format of kubectl."""
    assert human_duration(seconds) == text
