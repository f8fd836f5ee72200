"""The simulation is judged by small operators: it finds each known mistake, and raises no alarm without it.

By default an operator meets the faults of the family that shows its mistake, and the operator without the mistake
meets the fault that was found. `PYCTRL_HUNT=10000` hunts each mistake for at most 60 s of CPU with the faults of all
families, and runs so many histories of each operator without its mistake.
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta

import pytest

from pyctrl.simulation import Explore, ExploreOptions, SimulationFailed, explore_program
from tests.simulation.operators import CASES, Case

HUNT = int(os.environ.get("PYCTRL_HUNT", "0"))  # runs of each operator without its mistake
FOUND_WITHIN = 100  # runs of the family that shows the mistake; it ends with the first failure

cases = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


@pytest.mark.slow(reason="ten to a hundred runs of an operator, of a twentieth of a second")
@pytest.mark.timeout(180)
@cases
def test_a_mistake_is_found_told_and_gone_when_it_is_fixed(case: Case) -> None:
    """A fault breaks an operator with a mistake, the story names it, and the fixed operator survives the fault."""
    options = ExploreOptions(only=(case.family or "crash",), runs=FOUND_WITHIN, replicas=case.replicas)
    found = explore_program(case.buggy, case.scenario, options=options, stops_at_first=True)
    assert found.stories, f"none of {len(found.attempts)} faults breaks it"
    assert case.story in str(found.stories[0])

    again = replace(options, replay=found.stories[0].schedule)
    fixed = explore_program(case.fixed, case.scenario, options=again)
    assert not fixed.stories, fixed.stories[0]


if HUNT:

    @pytest.mark.slow(reason="a hunt with all faults")
    @pytest.mark.timeout(600)
    @cases
    def test_a_mistake_is_found_among_all_faults(explore: Explore, case: Case) -> None:
        """The fixture finds a mistake within a minute of CPU, and its story names it."""
        with pytest.raises(SimulationFailed):
            explore(case.buggy, case.scenario, budget=timedelta(seconds=60), replicas=case.replicas)

    @pytest.mark.slow(reason="thousands of histories")
    @pytest.mark.timeout(0)
    @cases
    def test_no_fault_breaks_the_operator_without_the_mistake(explore: Explore, case: Case) -> None:
        """The operator without the mistake raises no alarm, whatever happens."""
        explore(case.fixed, case.scenario, budget=HUNT, replicas=case.replicas)
