"""Compilation and evaluation of CEL expressions, and their errors."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.cel import (
    DYN,
    INT,
    MATCH_CONDITION,
    CompileFailed,
    Environment,
    EvaluationFailed,
)

SELF: dict[str, Any] = {"i": 5, "s": "abc", "l": ["x-a", "x-b"], "m": {"x": 1}, "n": None}
EVALUATED = {
    "self.i + 1 == 6 && self.s == 'abc'": True,
    "self.l.all(n, n.startsWith('x-'))": True,
    "self.l.exists(n, n == 'x-b')": True,
    "self.l.filter(n, n != 'x-b')": ["x-a"],
    "self.l.map(n, n + '!')": ["x-a!", "x-b!"],
    "self.l.exists_one(n, n == 'x-a')": True,
    "['a', 'b'].transformMap(i, v, v + string(i))": {0: "a0", 1: "b1"},
    "['b', 'a'].sortBy(x, x)": ["a", "b"],
    "has(self.nothing)": False,
    "self.?nothing.orValue(3)": 3,
    "self.i > 2 ? 'big' : 'small'": "big",
    "false && self.nothing": False,
    "self.nothing || true": True,
    "7 / -2": -3,
    "-7 % 3": -1,
    "string(1.5) + string(1e30)": "1.51e+30",
    "timestamp('2020-02-03T04:05:06.789Z').getMilliseconds()": 789,
    "duration('90m').getHours()": 1,
    "string(timestamp('2020-02-03T04:05:06Z') + duration('1h'))": "2020-02-03T05:05:06Z",
    "quantity('1Gi').isGreaterThan(quantity('1G'))": True,
    "ip('10.0.0.1').family()": 4,
    "cidr('10.0.0.0/8').containsIP('10.1.2.3')": True,
    "url('https://a.b:8080/c?d=e').getPort()": "8080",
    "semver('1.2.3').isLessThan(semver('1.10.0'))": True,
    "format.dns1123Label().validate('a').hasValue()": False,
    "'%s has %d'.format(['x', 3])": "x has 3",
    "type(self.i) == int": True,
    f"int('{'0' * 5000}7')": 7,
    "double('1.5e3') + double('-.5') + double('0x1p4')": 1515.5,
    f"semver('1.0.0-{'9' * 4999}').isLessThan(semver('1.0.0-{'9' * 5000}'))": True,
    "'baaac'.findAll('a*')": ["", "aaa", ""],
    "'a-b.9'.matches('^[0-9a-zA-Z-.]+$')": True,
}
NO_VALUE = {
    "self.nothing == 1": "no such key: nothing",
    "1 / (self.i - 5) == 1": "division by zero",
    "self.l[7] == ''": "index out of bounds: 7",
    "self.i + 9223372036854775807 > 0": "integer overflow",
    "self.s + 1 == 1": "no such overload",
    "int(self.s) == 1": "type conversion error from 'string' to 'int'",
    "[1, 2].exists(x, x / (x - 2) > 100)": "division by zero",
}
NO_PROGRAM = {
    "self.size( >": "1:12: Syntax error: mismatched input '>' expecting",
    "foo == 1": "1:1: undeclared reference to 'foo' (in container '')",
    "n + 'a'": "1:3: found no matching overload for '_+_' applied to '(int, string)'",
    "n.foo": "1:2: type 'int' does not support field selection",
    "request.foo == 1": "1:8: undefined field 'foo'",
    "[1, 'a'].size() == 2": "1:5: expected type 'int' but found 'string'",
    "duration('soon') == duration('1s')": "1:10: invalid duration argument",
    "int('1.5') == n": "program instantiation failed: type conversion error from 'string' to 'int'",
}


def environment() -> Environment:
    return Environment({**MATCH_CONDITION, "self": DYN, "n": INT})


@pytest.mark.parametrize("text", EVALUATED)
def test_an_expression_comes_to_a_value(text: str) -> None:
    """Operators, macros and Kubernetes' functions behave as on a cluster."""
    assert environment().compile(text).evaluate({"self": SELF}) == EVALUATED[text]


@pytest.mark.parametrize("text", NO_VALUE)
def test_an_expression_without_a_value_says_why(text: str) -> None:
    """Evaluation errors have cel-go's messages."""
    with pytest.raises(EvaluationFailed) as failed:
        environment().compile(text).evaluate({"self": SELF})
    assert str(failed.value) == NO_VALUE[text]


@pytest.mark.parametrize("text", NO_PROGRAM)
def test_an_expression_that_is_none_says_where(text: str) -> None:
    """Compilation errors have line, column and cel-go's messages."""
    with pytest.raises(CompileFailed, match="^(compilation|program instantiation) failed") as failed:
        environment().compile(text)
    assert NO_PROGRAM[text] in str(failed.value)


DIGITS = "9" * 5000


@pytest.mark.parametrize("function", ["int", "uint", "double", "duration", "semver"])
@pytest.mark.parametrize("text", [DIGITS, f"{DIGITS}s", f"{DIGITS}.0.0", f"0x{DIGITS}p1", "\N{SUPERSCRIPT TWO}"])
def test_numbers_of_any_length_are_errors_of_the_expression(function: str, text: str) -> None:
    """5,000 digits exceed Python's limit of conversions; the rule fails, not the server."""
    with pytest.raises(EvaluationFailed):
        environment().compile(f"{function}(self.text) == {function}(self.text)").evaluate({"self": {"text": text}})
