"""Validators of literals."""

from __future__ import annotations

import pytest

from tests.unit.cel._expressions import compile_error

COMPILE_ERRORS = {
    "[1, 'a'].size() == 2": "1:5: expected type 'int' but found 'string'",
    "duration('soon') == duration('1s')": "1:10: invalid duration argument",
}


@pytest.mark.parametrize("text", COMPILE_ERRORS)
def test_errors_of_compilations(text: str) -> None:
    """Compilation errors have line, column and cel-go's messages."""
    assert COMPILE_ERRORS[text] in compile_error(text)
