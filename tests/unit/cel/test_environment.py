"""Compilation and evaluation of an expression in an environment."""

from __future__ import annotations

from pyctrl.cel import BOOL
from tests.unit.cel._expressions import SELF, environment


def test_a_program_has_a_type_variables_and_a_value() -> None:
    """A program has its type and variables, and can be evaluated repeatedly."""
    program = environment().compile("self.i + 1 == 6 && self.s == 'abc'")
    assert program.type == BOOL
    assert (program.uses("self"), program.uses("n")) == (True, False)
    assert program.evaluate({"self": SELF}) is True
    assert program.evaluate({"self": {**SELF, "i": 6}}) is False
