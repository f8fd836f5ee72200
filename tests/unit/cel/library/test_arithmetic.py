"""Arithmetic and ordering operators: 64-bit numbers."""

from __future__ import annotations

import pytest

from tests.unit.cel._expressions import evaluated, evaluation_error

VALUES = {
    "7 / -2": -3,
    "-7 % 3": -1,
}
ERRORS = {
    "1 / (self.i - 5) == 1": "division by zero",
    "self.i + 9223372036854775807 > 0": "integer overflow",
}


@pytest.mark.parametrize("text", VALUES)
def test_values_of_expressions(text: str) -> None:
    """Expressions have the values that cel-go computes."""
    assert evaluated(text) == VALUES[text]


@pytest.mark.parametrize("text", ERRORS)
def test_errors_of_evaluations(text: str) -> None:
    """Evaluation errors have cel-go's messages."""
    assert evaluation_error(text) == ERRORS[text]
