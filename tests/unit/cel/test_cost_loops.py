"""Costs of macros, which are added once for each iteration."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.cel._counted import counted


@pytest.mark.parametrize(
    ("text", "value", "cost"),
    [
        ("self.l.all(x, x > 0)", True, 17),
        ("self.l.all(x, x > 1)", False, 9),
        ("self.l.all(x, x < 3)", False, 17),
        ("self.l.exists(x, x == 2)", True, 17),
        ("self.l.exists(x, x == 3)", True, 20),
        ("self.l.exists(x, x > 5)", False, 20),
        ("[].all(x, x > 0)", True, 1),
        ("self.o.all(x, x.s != 'y')", "no such key: s", 17),
        ("self.o.exists(x, x.s == 'zz')", True, 20),
        ("self.o.exists(x, x.s == 'y')", "no such key: s", 20),
        ("self.l.all(x, self.l.all(y, x + y > 0))", True, 80),
        ("self.l.all(i, x, i < x)", True, 20),
        ("self.m.all(k, v, v > 0)", True, 12),
        ("self.d.all(x, x)", "no such overload", 14),
        ("self.l.exists_one(x, x == 2)", True, 11),
        ("self.l.exists_one(x, x > 1)", False, 13),
        ("self.o.exists_one(x, x.s == 'x')", "no such key: s", 11),
        ("self.d.exists_one(x, x)", "no such overload", 6),
        ("self.l.map(x, x * 2)", [2, 4, 6], 44),
        ("self.l.map(x, 1)", [1, 1, 1], 8),
        ("self.l.map(x, x > 1, x * 2)", [4, 6], 36),
        ("self.l.filter(x, x > 1)", [2, 3], 34),
        ("self.l.filter(x, x > 5)", [], 8),
        ("self.o.map(x, x.s)", "no such key: s", 41),
        ("self.o.filter(x, x.s == 'x')", "no such key: s", 21),
        ("self.d.filter(x, x)", "no such overload", 5),
        ("self.l.transformList(i, x, i + x)", [1, 3, 5], 47),
        ("self.t.map(x, x + 'a')", ["aa", "bba", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbba"], 47),
        ("self.t.exists(x, x.startsWith('bb') && x.contains('b'))", True, 19),
    ],
)
def test_a_macro_has_the_cost_of_its_loop(text: str, value: Any, cost: int) -> None:
    """The value, error and cost are those of the loop into which the macro expands, also if an iteration fails."""
    assert counted(text) == (value, cost)
