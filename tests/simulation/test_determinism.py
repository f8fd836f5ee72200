"""The same seed and schedule are the same history, byte for byte, in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from random import Random

import pytest

from pyctrl.simulation import Schedule
from pyctrl.simulation._plans import systematic
from pyctrl.simulation._scenarios import FunctionScenario
from pyctrl.simulation._simulation import Simulation
from tests.simulation._operators import add_operators, options_of, story_of

FAULTS = 6


def shown(seed: int) -> str:
    """Return a history without faults, what could be tried, and a history with some of it; with two replicas."""
    scenario = FunctionScenario(story_of(seed)).run
    simulation = Simulation(
        name="histories", program=add_operators, scenario=scenario, replicas=2, options=options_of(seed)
    )
    calm = simulation.run(Schedule(seed=seed, shuffle=True))
    plans = systematic(calm, replicas=2)
    faults = [fault for plan in Random(seed).sample(plans, FAULTS) for fault in plan.schedule]
    wild = simulation.run(Schedule(tuple(faults), seed=seed, shuffle=True))
    errors = calm.error + wild.error
    assert not errors
    return "\n".join((*calm.history.lines(), *map(str, plans), str(wild.schedule), *wild.history.lines()))


@pytest.mark.slow(reason="four histories of two replicas, in two processes")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("seed", [3])
def test_a_history_is_the_same_in_another_process(seed: int) -> None:
    """Neither the order of sets nor what another process draws changes a history, also not with faults and shuffled."""
    code = f"import sys; from {__name__} import shown; sys.stdout.write(shown({seed}))"
    first, second = (
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": number, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            text=True,
            check=False,
        )
        for number in ("1", "2")
    )
    assert first.returncode == 0, first.stderr
    assert "FaultApplied" in first.stdout
    different = [
        (one, other)
        for one, other in zip(first.stdout.splitlines(), second.stdout.splitlines(), strict=False)
        if one != other
    ]
    assert not different, different[0]
    assert first.stdout == second.stdout
