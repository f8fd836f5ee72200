"""The budget of the fixture ``explore``, and that of the environment for a night run."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pyctrl.simulation._plugin import environment_budget


@pytest.mark.parametrize(("text", "budget"), [("", 40), ("3000", 3000), ("10m", timedelta(minutes=10)), ("none", None)])
def test_the_environment_replaces_the_budget_of_a_test(text: str, budget: timedelta | int | None) -> None:
    """A number of runs, a duration, or none: all systematic plans. Without the variable the test's budget is kept."""
    assert environment_budget(text, 40) == budget


@pytest.mark.parametrize("text", ["much", "-3"])
def test_what_is_no_budget(text: str) -> None:
    """The error says what was expected."""
    with pytest.raises(pytest.UsageError, match=f"expected a number of runs, a duration .* got '{text}'"):
        environment_budget(text, 40)
