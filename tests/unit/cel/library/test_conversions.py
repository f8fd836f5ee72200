"""Type conversions of CEL: parsing of long texts."""

from __future__ import annotations

import pytest

from pyctrl.cel import DYN, Environment, EvaluationFailed

LONG = 200_000


@pytest.mark.parametrize("function", ["quantity", "double", "int", "duration"])
@pytest.mark.parametrize("text", ["0" * LONG + "!", "1" * LONG + "!", "0" * LONG + "1" * LONG + ".!"])
def test_conversions_take_linear_time(function: str, text: str) -> None:
    """Texts come from clients: a pattern that backtracks would not end here."""
    program = Environment({"self": DYN}).compile(f"{function}(self) == {function}('1{'s' * (function == 'duration')}')")
    with pytest.raises(EvaluationFailed):
        program.evaluate({"self": text})
