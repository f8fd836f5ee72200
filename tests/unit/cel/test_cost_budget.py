"""Budgets of evaluations, and the patience of those on an event loop."""

from __future__ import annotations

import pytest

from pyctrl.cel import (
    COST_LIMIT_EXCEEDED,
    INT,
    SHORT_EVALUATION,
    CostBudget,
    Environment,
    EvaluationFailed,
    LongEvaluation,
    OutOfBudget,
    Patience,
    list_of,
)

PROGRAM = Environment({"n": list_of(INT)}).compile("n.all(x, n.all(y, x + y >= 0))")
COST_OF_TEN = 752


def test_a_budget_is_spent_to_the_last_unit() -> None:
    """What costs more than what remains is refused, and takes nothing."""
    budget = CostBudget(5)
    budget.spend(3)
    with pytest.raises(OutOfBudget):
        budget.spend(3)
    assert not budget.is_spent
    budget.spend(2)
    assert budget.is_spent


def test_evaluations_share_a_patience() -> None:
    """The costs of evaluations with the same patience add up, and the first beyond it has no result."""
    patience = Patience(2 * COST_OF_TEN)
    for _ in range(2):
        assert PROGRAM.evaluate_with_cost({"n": list(range(10))}, patience) == (True, COST_OF_TEN)
    with pytest.raises(LongEvaluation):
        PROGRAM.evaluate_with_cost({"n": [1]}, patience)


def test_a_patience_ends_an_evaluation_early() -> None:
    """An evaluation ends soon after its cost exceeds the patience, long before the limit of a cluster."""
    with pytest.raises(LongEvaluation):
        PROGRAM.evaluate_with_cost({"n": list(range(100_000))}, Patience())
    assert SHORT_EVALUATION < 100_000


def test_the_limit_of_a_cluster_holds_without_patience() -> None:
    """Without a patience an expensive evaluation fails as in a cluster."""
    value, cost = PROGRAM.evaluate_with_cost({"n": list(range(400))})
    assert isinstance(value, EvaluationFailed)
    assert (str(value), cost > 1_000_000) == (COST_LIMIT_EXCEEDED, True)
    value, _ = PROGRAM.evaluate_with_cost({"n": list(range(400))}, Patience(2_000_000))
    assert str(value) == COST_LIMIT_EXCEEDED
