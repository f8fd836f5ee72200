"""Overload resolution at run time."""

from __future__ import annotations

import pytest

from tests.unit.cel._expressions import evaluated, evaluation_error

ERRORS = {
    "self.s + 1 == 1": "no such overload",
}


@pytest.mark.parametrize("text", ERRORS)
def test_errors_of_evaluations(text: str) -> None:
    """Evaluation errors have cel-go's messages."""
    assert evaluation_error(text) == ERRORS[text]


def test_the_values_choose_the_overload() -> None:
    """`+` of values of unknown type adds numbers and joins strings and lists."""
    values = [evaluated(text) for text in ("self.i + self.i", "self.s + self.s", "self.l + self.l")]
    assert values == [10, "abcabc", ["x-a", "x-b"] * 2]
