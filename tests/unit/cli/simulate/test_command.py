"""Arguments of `pyctrl simulate`."""

from __future__ import annotations

import pytest

from pyctrl.cli._simulate.budget import Budget
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_help import arguments_of


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--budget soon", "'soon' is not a duration; 90s, 15m or 1h30m was expected"),
        ("--budget 0", "0 is not positive; a number of runs or a duration above 0 was expected"),
        ("--only crashes", "crash"),
        ("--replay crash-now", "a fault begins with one of crash-before"),
        ("--replicas 0", "replicas"),
        ("-j 0", "for -j. Must be >= 1"),
        ("-o yaml", 'Choose from: "text", "json", "html"'),
    ],
)
def test_misuse_is_one_line(run: Run, line: str, said: str) -> None:
    """An invalid value is one line on stderr, with exit code 2."""
    ran = run("simulate", "web.py", *line.split(maxsplit=1))
    assert (ran.code, ran.out) == (2, "")
    message, hint = ran.err.splitlines()
    assert message.startswith("pyctrl simulate: ")
    assert said in message
    assert hint == "Try 'pyctrl simulate --help'."


def test_the_default_budget() -> None:
    """The help shows the default budget as a duration."""
    (budget,) = [each for each in arguments_of(("simulate",)) if "--budget" in each.names]
    assert str(Budget(seconds=60.0)) == "1m"
    assert str(Budget(runs=500)) == "500"
    assert budget.parameter.metavar == "DURATION|RUNS"


def test_the_families_are_those_of_the_plans() -> None:
    """`--only` accepts every family of systematic plans, and random."""
    from pyctrl.cli._simulate.command import Family
    from pyctrl.simulation._plans import FAMILIES

    assert Family.__args__ == (*FAMILIES, "random")  # type: ignore[attr-defined]
