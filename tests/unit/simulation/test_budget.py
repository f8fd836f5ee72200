"""The budget of the fixture ``explore``, and that of the environment for a night run."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pyctrl.simulation._plugin import limits_of

Limits = tuple[float | None, int | None]


@pytest.mark.parametrize(
    ("budget", "limits"), [(timedelta(seconds=5), (5.0, None)), (40, (None, 40)), (None, (None, None))]
)
def test_the_budget_of_a_test(budget: timedelta | int | None, limits: Limits) -> None:
    """A budget is a CPU time, or a number of runs, or all systematic plans."""
    assert limits_of(budget, "") == limits


@pytest.mark.parametrize(("text", "limits"), [("3000", (None, 3000)), ("10m", (600.0, None)), ("none", (None, None))])
def test_the_environment_replaces_the_budget_of_a_test(text: str, limits: Limits) -> None:
    """A number of runs, a duration, or none: all systematic plans."""
    assert limits_of(40, text) == limits


@pytest.mark.parametrize("text", ["much", "-3"])
def test_what_is_no_budget(text: str) -> None:
    """The error says what was expected."""
    with pytest.raises(pytest.UsageError, match=f"PYCTRL_SIMULATION_BUDGET: expected .* got '{text}'"):
        limits_of(40, text)
