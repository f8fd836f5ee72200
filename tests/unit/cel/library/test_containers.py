"""Operators and functions of lists, maps and optional values."""

from __future__ import annotations

import pytest

from tests.unit.cel._expressions import evaluated, evaluation_error

ERRORS = {
    "self.l[7] == ''": "index out of bounds: 7",
}


@pytest.mark.parametrize("text", ERRORS)
def test_errors_of_evaluations(text: str) -> None:
    """Evaluation errors have cel-go's messages."""
    assert evaluation_error(text) == ERRORS[text]


def test_optional_indexes() -> None:
    """An optional index is empty if the list or map has no such element."""
    assert evaluated("self.l[?0].value()") == "x-a"
    assert evaluated("self.l[?7].hasValue() || self.m[?'y'].hasValue()") is False
    assert evaluated("'x' in self.m && 'x-b' in self.l && self.m['x'] == 1") is True
