"""String formats: matching of long texts."""

from __future__ import annotations

import pytest

from pyctrl._validation.formats import is_of_format

LONG = 200_000


@pytest.mark.parametrize("text", ["1" * LONG, "1." * LONG, "1 " * LONG, "1h" * LONG + "!"])
def test_durations_take_linear_time(text: str) -> None:
    """Texts come from clients: a pattern that backtracks would not end here."""
    assert not is_of_format("duration", text)
