"""Evaluation of checked expressions: selection, optional values, short circuits."""

from __future__ import annotations

import pytest

from tests.unit.cel._expressions import compile_error, evaluated, evaluation_error

VALUES = {
    "has(self.nothing)": False,
    "self.?nothing.orValue(3)": 3,
    "self.i > 2 ? 'big' : 'small'": "big",
    "false && self.nothing": False,
    "self.nothing || true": True,
    "type(self.i) == int": True,
}
ERRORS = {
    "self.nothing == 1": "no such key: nothing",
}
COMPILE_ERRORS = {
    "int('1.5') == n": "program instantiation failed: type conversion error from 'string' to 'int'",
}


@pytest.mark.parametrize("text", VALUES)
def test_values_of_expressions(text: str) -> None:
    """Expressions have the values that cel-go computes."""
    assert evaluated(text) == VALUES[text]


@pytest.mark.parametrize("text", ERRORS)
def test_errors_of_evaluations(text: str) -> None:
    """Evaluation errors have cel-go's messages."""
    assert evaluation_error(text) == ERRORS[text]


@pytest.mark.parametrize("text", COMPILE_ERRORS)
def test_errors_of_compilations(text: str) -> None:
    """Compilation errors have line, column and cel-go's messages."""
    assert COMPILE_ERRORS[text] in compile_error(text)
