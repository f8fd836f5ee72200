"""Kills happen wherever a process can be interrupted."""

from __future__ import annotations

import asyncio
from collections import Counter

import pytest

from pyctrl.simulation import Attempt, Plan, RunOutcome, Schedule
from pyctrl.simulation._default_scenario import program_scenario
from pyctrl.simulation._forks import Tries
from pyctrl.simulation._history import ProcessChanged
from pyctrl.simulation._oracle import Reference, judge
from pyctrl.simulation._run import Run
from pyctrl.simulation._schedule import Fault, FaultKind, Occasion
from pyctrl.simulation._simulation import Simulation
from tests.simulation._flock import add_flocks

EACH_WRITE = (FaultKind.CRASH_BEFORE, FaultKind.CRASH_DURING, FaultKind.CRASH_AFTER)
KILLABLE = (Occasion.EVENT, Occasion.RECONCILE, Occasion.STEP, Occasion.HANDLE)


@pytest.mark.slow(reason="two hundred runs of a small operator")
@pytest.mark.timeout(300)
def test_a_process_is_killed_at_every_write_event_and_reconcile_and_between_all_awaits() -> None:
    """Each point of the reference is a kill that takes place, and none of them breaks the operator."""
    scenario = asyncio.run(program_scenario(add_flocks))
    simulation = Simulation(name="flocks", program=add_flocks, scenario=scenario.run)
    runs = [simulation.run(Schedule(seed=seed)) for seed in range(3)]
    reference, points = Reference(runs), runs[0].points
    simulation.fingerprint = reference.fingerprint
    faults = [Fault(kind, point) for point in points if point.occasion is Occasion.WRITE for kind in EACH_WRITE]
    faults += [Fault(FaultKind.CRASH, point) for point in points if point.occasion in KILLABLE]
    killed: Counter[Occasion] = Counter()

    def verdict(run: Run) -> RunOutcome:
        died = sum(each.state == "killed" for each in run.history.of(ProcessChanged))
        return RunOutcome(tuple(judge(reference, run)), fingerprints=frozenset([str(died)]))

    def tried(attempt: Attempt) -> bool:
        assert not attempt.outcome.problems, f"{attempt.plan.schedule}: {attempt.outcome.problems[0]}"
        assert attempt.outcome.fingerprints == {"1"}, f"{attempt.plan.schedule}: not one kill"
        killed.update(fault.point.occasion for fault in attempt.plan.schedule)
        return True

    expected = [reference.fingerprint(state) for state in runs[0].steps]
    Tries(simulation, expected, verdict).run([Plan("crash", Schedule((fault,))) for fault in faults], tried)

    reached = Counter(point.occasion for point in points)
    assert killed == {Occasion.WRITE: 3 * reached[Occasion.WRITE]} | {each: reached[each] for each in KILLABLE}
    assert min(killed.values()) > 3
