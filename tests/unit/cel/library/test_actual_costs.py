"""Costs of single calls; `test_cost_planner.py` compares whole expressions with cel-go."""

from __future__ import annotations

from pyctrl.cel._library.actual_costs import cost_of_call, equality_cost


def test_a_call_costs_one_unless_it_depends_on_its_arguments() -> None:
    """An overload that is chosen at run time costs 1; some functions have one cost for all overloads."""
    assert cost_of_call("size", ()) is None
    assert cost_of_call("_+_", ()) is None
    upper, check = cost_of_call("upperAscii", ()), cost_of_call("check", ())
    assert upper is not None
    assert upper(["a" * 50], "") == 5
    assert check is not None
    assert check([], None) == 350_000


def test_equality_costs_the_smaller_size() -> None:
    """A tenth for each character or item, rounded up."""
    assert equality_cost("a" * 50, "b" * 21) == 3
    assert equality_cost(1, 2) == 1
    assert equality_cost("", "b") == 0
