"""Types of expressions, and type errors."""

from __future__ import annotations

import pytest

from tests.unit.cel._expressions import compile_error

COMPILE_ERRORS = {
    "foo == 1": "1:1: undeclared reference to 'foo' (in container '')",
    "n + 'a'": "1:3: found no matching overload for '_+_' applied to '(int, string)'",
    "n.foo": "1:2: type 'int' does not support field selection",
    "ip('1.1.1.1').foo == 1": "1:14: type 'net.IP' does not support field selection",
    "quantity('1').foo == 1": "1:14: unexpected failed resolution of 'kubernetes.Quantity'",
    "optional.of(1).foo == 1": "1:20: found no matching overload for '_==_' applied to '(optional_type(dyn), int)'",
    "request.foo == 1": "1:8: undefined field 'foo'",
}


@pytest.mark.parametrize("text", COMPILE_ERRORS)
def test_errors_of_compilations(text: str) -> None:
    """Compilation errors have line, column and cel-go's messages."""
    assert COMPILE_ERRORS[text] in compile_error(text)
