"""Evaluations whose cost is counted, over an object with a schema."""

from __future__ import annotations

from typing import Any

from pyctrl.cel import DYN, INT, STRING, Environment, EvaluationFailed, list_of, map_of, object_type

ITEM = object_type("Item", {"n": INT, "s": STRING})
SELF = object_type(
    "Self", {"l": list_of(INT), "t": list_of(STRING), "o": list_of(ITEM), "m": map_of(STRING, INT), "d": DYN}
)
OBJECT = {
    "l": [1, 2, 3],
    "t": ["a", "bb", "b" * 30],
    "o": [{"n": 1, "s": "x"}, {"n": 2}, {"n": 3, "s": "zz"}],
    "m": {"a": 1, "b": 2},
    "d": ["x", 1, None],
}


def counted(text: str) -> tuple[Any, int]:
    """Return the value of an expression, or the text of its error, and its cost."""
    value, cost = Environment({"self": SELF}).compile(text).evaluate_with_cost({"self": OBJECT})
    return str(value) if isinstance(value, EvaluationFailed) else value, cost
