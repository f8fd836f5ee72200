"""The simulation is judged by small operators: it finds each known mistake, and raises no alarm without it.

By default each operator meets the faults of the family that shows its mistake. `PYCTRL_HUNT=10000` runs so many
histories of each operator without a mistake, with all families and the search, and hunts each mistake for 60 s of CPU
with all families. docs/simulation.md shows how to do this for your own operator.
"""

from __future__ import annotations

import os
from datetime import timedelta

import pytest

from pyctrl.simulation import Explore, SimulationFailed
from tests.simulation.operators import CASES, Case

HUNT = int(os.environ.get("PYCTRL_HUNT", "0"))  # runs of each operator without a mistake

#: Runs by default: the family of a case shows its mistake in fewer. All of both tests take less than a minute of CPU.
FINDS_WITHIN, HOLDS_FOR = 40, 5
PATIENCE = timedelta(seconds=60)

pytestmark = [
    pytest.mark.slow(reason="each is ten to forty runs of an operator, of a twentieth of a second"),
    pytest.mark.timeout(7200 if HUNT else 180),
]
cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@cases
def test_a_mistake_is_found_and_told(explore: Explore, case: Case) -> None:
    """An operator with a known mistake is broken by a fault, and the story names the mistake."""
    with pytest.raises(SimulationFailed) as broken:
        if HUNT:
            explore(case.buggy, case.scenario, budget=PATIENCE, replicas=case.replicas)
        else:
            only = case.family or "crash"
            explore(case.buggy, case.scenario, only=only, budget=FINDS_WITHIN, replicas=case.replicas)
    assert case.story in str(broken.value)


@cases
def test_without_the_mistake_there_is_no_alarm(explore: Explore, case: Case) -> None:
    """The same operator without its mistake survives."""
    if HUNT:
        explore(case.fixed, case.scenario, budget=HUNT, replicas=case.replicas)
    else:
        only = case.family or "crash"
        explore(case.fixed, case.scenario, only=only, budget=HOLDS_FOR, replicas=case.replicas)
