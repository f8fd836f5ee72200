"""Type conversions of CEL: values, errors, and long texts."""

from __future__ import annotations

import pytest

from pyctrl.cel import DYN, Environment, EvaluationFailed
from tests.unit.cel._expressions import environment, evaluated, evaluation_error

LONG = 200_000


@pytest.mark.parametrize("function", ["quantity", "double", "int", "duration"])
@pytest.mark.parametrize("text", ["0" * LONG + "!", "1" * LONG + "!", "0" * LONG + "1" * LONG + ".!"])
def test_conversions_take_linear_time(function: str, text: str) -> None:
    """Conversions of long texts, which clients can send, take linear time."""
    program = Environment({"self": DYN}).compile(f"{function}(self) == {function}('1{'s' * (function == 'duration')}')")
    with pytest.raises(EvaluationFailed):
        program.evaluate({"self": text})


VALUES = {
    "string(1.5) + string(1e30)": "1.51e+30",
    f"int('{'0' * 5000}7')": 7,
    "double('1.5e3') + double('-.5') + double('0x1p4')": 1515.5,
}


@pytest.mark.parametrize("text", VALUES)
def test_values_of_expressions(text: str) -> None:
    """Conversions have the values that cel-go computes."""
    assert evaluated(text) == VALUES[text]


def test_a_text_that_is_no_number() -> None:
    """The error names both types, as cel-go's."""
    assert evaluation_error("int(self.s) == 1") == "type conversion error from 'string' to 'int'"


DIGITS = "9" * 5000


@pytest.mark.parametrize("function", ["int", "uint", "double", "duration", "semver"])
@pytest.mark.parametrize("text", [DIGITS, f"{DIGITS}s", f"{DIGITS}.0.0", f"0x{DIGITS}p1", "\N{SUPERSCRIPT TWO}"])
def test_numbers_of_any_length_are_errors_of_the_expression(function: str, text: str) -> None:
    """5,000 digits exceed Python's limit of conversions; the rule fails, not the server."""
    with pytest.raises(EvaluationFailed):
        environment().compile(f"{function}(self.text) == {function}(self.text)").evaluate({"self": {"text": text}})
