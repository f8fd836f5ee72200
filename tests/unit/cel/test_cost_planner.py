"""Actual costs of evaluations, compared with cel-go's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pyctrl.cel import DYN, PER_CALL_LIMIT, Environment, EvaluationFailed

RECORDED = json.loads((Path(__file__).parent / "actual_costs.json").read_text())
ENVIRONMENT = Environment({"self": DYN})


@pytest.mark.parametrize("text", RECORDED["costs"])
def test_an_evaluation_has_the_cost_of_cel_go(text: str) -> None:
    """The costs are recorded from cel-go with Kubernetes' libraries."""
    _, cost = ENVIRONMENT.compile(text).evaluate_with_cost({"self": RECORDED["self"]})
    assert cost == RECORDED["costs"][text]


@pytest.mark.parametrize("text", ["self.l.map(x, x + 'a')", "self.b || self.nix", "self.i > 2 ? 'big' : 'small'"])
def test_the_value_is_that_of_a_plain_evaluation(text: str) -> None:
    """Counting the cost does not change the result."""
    program = ENVIRONMENT.compile(text)
    assert program.evaluate_with_cost({"self": RECORDED["self"]})[0] == program.evaluate({"self": RECORDED["self"]})


def test_an_error_is_the_value() -> None:
    """A failed evaluation has a cost, too."""
    value, cost = ENVIRONMENT.compile("self.nix == 1").evaluate_with_cost({"self": {}})
    assert isinstance(value, EvaluationFailed)
    assert (str(value), cost) == ("no such key: nix", 3)


def test_an_expensive_evaluation_is_stopped() -> None:
    """The limit of one evaluation cannot be caught in the expression."""
    program = ENVIRONMENT.compile("true || self.all(x, self.all(y, x + y >= 0))")
    assert program.evaluate_with_cost({"self": list(range(500))})[0] is True
    value, cost = ENVIRONMENT.compile("self.all(x, self.all(y, x + y >= 0)) || true").evaluate_with_cost(
        {"self": list(range(500))}
    )
    assert str(value) == "operation cancelled: actual cost limit exceeded"
    assert PER_CALL_LIMIT < cost < PER_CALL_LIMIT + 10_000
