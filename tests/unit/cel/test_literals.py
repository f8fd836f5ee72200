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


def test_each_entry_of_a_map_has_its_error() -> None:
    """Every key and value of another type than the first is an error of its own, in the order of the entries."""
    error = compile_error("{'a': 1, 2: 'b', 'c': 'd'}.size() == 3")
    found = [line.partition("<input>:1:")[2] for line in error.splitlines() if "<input>" in line]
    assert found == [
        "10: expected type 'string' but found 'int'",
        "13: expected type 'int' but found 'string'",
        "23: expected type 'int' but found 'string'",
    ]
    found = [line for line in compile_error("[1, 'a', 'b'].size() == 3").splitlines() if "<input>" in line]
    assert len(found) == 1
