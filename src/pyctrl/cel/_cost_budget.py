"""Limits of the cost of evaluations, which are kube-apiserver's, and the budget that several evaluations share.

An evaluation on an event loop has a patience besides: when its cost exceeds that, it ends with `LongEvaluation`, and
the caller evaluates again elsewhere.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "MATCH_CONDITIONS_BUDGET",
    "PER_CALL_LIMIT",
    "RUNTIME_BUDGET",
    "SHORT_EVALUATION",
    "CostBudget",
    "LongEvaluation",
    "OutOfBudget",
    "Patience",
]


PER_CALL_LIMIT: Final = 1_000_000  # of one evaluation, some 0.1 seconds in cel-go
RUNTIME_BUDGET: Final = 10_000_000  # of all rules of an object, or all expressions of a policy
MATCH_CONDITIONS_BUDGET: Final = 2_500_000  # of the match conditions of one webhook or policy
SHORT_EVALUATION: Final = 50_000  # of what is evaluated on an event loop: at most some 25 ms here


class OutOfBudget(Exception):
    """Raised if the evaluation of expressions costs more than the server allows; the text is kube-apiserver's."""

    def __init__(self) -> None:
        super().__init__("validation failed due to running out of cost budget, no further validation rules will be run")


class CostBudget:
    """The cost that the evaluations of several expressions may have together."""

    def __init__(self, remaining: int) -> None:
        self._remaining = remaining

    @property
    def is_spent(self) -> bool:
        """Whether nothing remains."""
        return self._remaining == 0

    def spend(self, cost: int) -> None:
        """Take a cost from the budget.

        Raises:
            OutOfBudget: The cost is more than what remains.
        """
        if cost > self._remaining:
            raise OutOfBudget
        self._remaining -= cost


class LongEvaluation(Exception):
    """Raised if evaluations cost more than their patience. They have no result yet, and no effects."""


class Patience:
    """The cost that evaluations on an event loop may have together."""

    def __init__(self, remaining: int = SHORT_EVALUATION) -> None:
        self.remaining: int = remaining

    def spend(self, cost: int) -> None:
        """Take a cost from what remains.

        Raises:
            LongEvaluation: The cost is more than that.
        """
        if cost > self.remaining:
            raise LongEvaluation
        self.remaining -= cost
