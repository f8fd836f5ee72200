"""Macros with two variables, and `sortBy`."""

from __future__ import annotations

import pytest

from tests.unit.cel._expressions import evaluated

VALUES = {
    "['a', 'b'].transformMap(i, v, v + string(i))": {0: "a0", 1: "b1"},
    "['b', 'a'].sortBy(x, x)": ["a", "b"],
}


@pytest.mark.parametrize("text", VALUES)
def test_values_of_expressions(text: str) -> None:
    """Expressions have the values that cel-go computes."""
    assert evaluated(text) == VALUES[text]
