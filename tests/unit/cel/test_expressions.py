"""Traversal of syntax trees."""

from __future__ import annotations

from pyctrl.cel._expressions import parts, walk
from pyctrl.cel._parser import parse


def test_children_come_in_the_order_of_evaluation() -> None:
    """The target of a method comes before its arguments."""
    found = list(parts(parse("a.f(1, b)")))
    assert [type(each).__name__ for each in found] == ["Identifier", "Constant", "Identifier"]
    assert [each.at for each in found] == sorted(each.at for each in found)


def test_walk_yields_the_outermost_first() -> None:
    """Every descendant is yielded once."""
    nodes = list(walk(parse("a.b.c")))
    assert [getattr(each, "field", None) or getattr(each, "name", None) for each in nodes] == ["c", "b", "a"]
