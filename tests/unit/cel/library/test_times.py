"""Timestamps and durations."""

from __future__ import annotations

import pytest

from tests.unit.cel._expressions import evaluated

VALUES = {
    "timestamp('2020-02-03T04:05:06.789Z').getMilliseconds()": 789,
    "duration('90m').getHours()": 1,
    "string(timestamp('2020-02-03T04:05:06Z') + duration('1h'))": "2020-02-03T05:05:06Z",
}


@pytest.mark.parametrize("text", VALUES)
def test_values_of_expressions(text: str) -> None:
    """Expressions have the values that cel-go computes."""
    assert evaluated(text) == VALUES[text]
