"""Comprehensions: the macros that run as loops."""

from __future__ import annotations

import pytest

from tests.unit.cel._expressions import evaluated, evaluation_error

VALUES = {
    "self.l.all(n, n.startsWith('x-'))": True,
    "self.l.exists(n, n == 'x-b')": True,
    "self.l.filter(n, n != 'x-b')": ["x-a"],
    "self.l.map(n, n + '!')": ["x-a!", "x-b!"],
    "self.l.exists_one(n, n == 'x-a')": True,
}
ERRORS = {
    "[1, 2].exists(x, x / (x - 2) > 100)": "division by zero",
    "self.n.all(x, true)": "got 'types.Null', expected iterable type",
    "self.n.all(k, v, true)": "got 'types.Null', expected iterable type",
}


@pytest.mark.parametrize("text", VALUES)
def test_values_of_expressions(text: str) -> None:
    """Expressions have the values that cel-go computes."""
    assert evaluated(text) == VALUES[text]


@pytest.mark.parametrize("text", ERRORS)
def test_errors_of_evaluations(text: str) -> None:
    """Evaluation errors have cel-go's messages."""
    assert evaluation_error(text) == ERRORS[text]
