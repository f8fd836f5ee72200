"""Costs that do not depend on values."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.cel._counted import counted


@pytest.mark.parametrize(
    ("text", "value", "cost"),
    [
        ("self.l[0] + self.l[1] * 2 > self.m['a']", True, 9),
        ("self.m.a == self.l[2]", False, 5),
        ("[1, self.l[0]].size()", 2, 13),
        ("{'a': self.l[0]}.size()", 1, 33),
        ("self.l[5] + self.l[0] > 1", "index out of bounds: 5", 6),
        ("self.l[0] / (self.l[0] - 1) > self.l[1]", "division by zero", 9),
        ("has(self.m.a) && self.m.a < 5", True, 4),
        ("self.t[0] == self.t[1]", False, 5),
        ("(self.o[1].s + 'a').size() > self.l[0]", "no such key: s", 8),
    ],
)
def test_an_expression_has_the_cost_of_its_parts(text: str, value: Any, cost: int) -> None:
    """The parts of an expression that succeeds are added at once; one that fails costs what was evaluated."""
    assert counted(text) == (value, cost)
