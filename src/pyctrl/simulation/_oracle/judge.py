"""The judgement of a run: what must not be, found without knowing what the operator does."""

from __future__ import annotations

from collections.abc import Iterator

from pyctrl.simulation._oracle.conduct import (
    error_problems,
    finalizer_problems,
    leader_problems,
    never_works,
    run_problems,
)
from pyctrl.simulation._oracle.end_state import end_state_problems
from pyctrl.simulation._oracle.facts import RunFacts
from pyctrl.simulation._oracle.ownership import foreign_problems, orphan_problems
from pyctrl.simulation._oracle.quiet import quiet_problems
from pyctrl.simulation._oracle.reference import Reference
from pyctrl.simulation._run import Run, RunProblem

__all__ = ["judge"]


def judge(reference: Reference, run: Run) -> list[RunProblem]:
    """Return what is wrong with a run; the most telling problem first, and nothing if all is well.

    The states of a run that did not come to its end are not compared.

    Args:
        reference: The operator without faults.
        run: A run of the same scenario.
    """
    return list(_problems(reference, run))


def _problems(reference: Reference, run: Run) -> Iterator[RunProblem]:
    facts = RunFacts(run, reference.normaliser)
    if run is reference.facts[0].run:
        yield from never_works(facts)
    yield from run_problems(run)
    yield from leader_problems(run)
    yield from foreign_problems(facts, reference.facts)
    if not run.error:
        yield from orphan_problems(facts, reference)
        yield from finalizer_problems(facts, reference)
        yield from end_state_problems(facts, reference)
        yield from quiet_problems(run, facts.activity, [each.activity for each in reference.facts])
    yield from error_problems(facts, reference.facts)
