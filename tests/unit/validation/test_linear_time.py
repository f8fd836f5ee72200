"""Texts of clients are judged in time linear in their length; an expression that goes back would not end here."""

from __future__ import annotations

import pytest

from pyctrl._validation.formats import is_of_format
from pyctrl.cel import DYN, Environment, EvaluationFailed

LONG = 200_000


@pytest.mark.parametrize("text", ["1" * LONG, "1." * LONG, "1 " * LONG, "1h" * LONG + "!"])
def test_durations(text: str) -> None:
    """The format duration of definitions."""
    assert not is_of_format("duration", text)


@pytest.mark.parametrize("function", ["quantity", "double", "int", "duration"])
@pytest.mark.parametrize("text", ["0" * LONG + "!", "1" * LONG + "!", "0" * LONG + "1" * LONG + ".!"])
def test_conversions_of_expressions(function: str, text: str) -> None:
    """Functions of CEL that read texts."""
    program = Environment({"self": DYN}).compile(f"{function}(self) == {function}('1{'s' * (function == 'duration')}')")
    with pytest.raises(EvaluationFailed):
        program.evaluate({"self": text})
