"""Limits of the cost of evaluations, which are kube-apiserver's, and the budget that several evaluations share."""

from __future__ import annotations

from typing import Final

__all__ = ["MATCH_CONDITIONS_BUDGET", "PER_CALL_LIMIT", "RUNTIME_BUDGET", "CostBudget", "OutOfBudget"]


PER_CALL_LIMIT: Final = 1_000_000  # of one evaluation, some 0.1 seconds in cel-go
RUNTIME_BUDGET: Final = 10_000_000  # of all rules of an object, or all expressions of a policy
MATCH_CONDITIONS_BUDGET: Final = 2_500_000  # of the match conditions of one webhook or policy


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
