"""Evaluation of expressions over one object, for tests."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.cel import DYN, INT, MATCH_CONDITION, CompileFailed, Environment, EvaluationFailed

SELF: dict[str, Any] = {"i": 5, "s": "abc", "l": ["x-a", "x-b"], "m": {"x": 1}, "n": None}


def environment() -> Environment:
    """Return an environment with the variables of match conditions, `self` of any type and the int `n`."""
    return Environment({**MATCH_CONDITION, "self": DYN, "n": INT})


def evaluated(text: str) -> Any:
    """Return the value of an expression over `SELF`."""
    return environment().compile(text).evaluate({"self": SELF})


def evaluation_error(text: str) -> str:
    """Return the error of the evaluation of an expression over `SELF`."""
    with pytest.raises(EvaluationFailed) as failed:
        evaluated(text)
    return str(failed.value)


def compile_error(text: str) -> str:
    """Return the error of the compilation of an expression."""
    with pytest.raises(CompileFailed, match="^(compilation|program instantiation) failed") as failed:
        environment().compile(text)
    return str(failed.value)
