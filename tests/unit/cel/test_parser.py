"""Parse errors."""

from __future__ import annotations

import pytest

from tests.unit.cel._expressions import compile_error

COMPILE_ERRORS = {
    "self.size( >": "1:12: Syntax error: mismatched input '>' expecting",
}


@pytest.mark.parametrize("text", COMPILE_ERRORS)
def test_errors_of_compilations(text: str) -> None:
    """Compilation errors have line, column and cel-go's messages."""
    assert COMPILE_ERRORS[text] in compile_error(text)
