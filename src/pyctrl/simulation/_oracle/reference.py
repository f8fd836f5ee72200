"""Reference: what an operator does without faults, learned from runs of one scenario with several seeds."""

from __future__ import annotations

from collections.abc import Sequence

from pyctrl.simulation._history import ObjectId
from pyctrl.simulation._oracle.excuses import waiting_retries
from pyctrl.simulation._oracle.facts import RunFacts
from pyctrl.simulation._oracle.fingerprint import fingerprint
from pyctrl.simulation._oracle.learning import learn
from pyctrl.simulation._oracle.normal_form import EXTERNAL, Normaliser, NormalObject
from pyctrl.simulation._oracle.transitions import states_of
from pyctrl.simulation._run import Run, State

__all__ = ["Reference", "waits_for_retry"]


class Reference:
    """What an operator does without faults.

    Args:
        runs: Runs of one scenario without faults, with different seeds. What differs between them does not count in
            comparisons. At least one; with one, only what is known to differ does not count.

    Attributes:
        facts: What each run shows.
        normaliser: Brings states into the form in which they are compared.
        states: The states of the first run in this form: after each step, and the end.
        unstable: Objects that come and go without faults, such as the Jobs of a schedule. They are not compared.
    """

    def __init__(self, runs: Sequence[Run]) -> None:
        if not runs:
            raise ValueError("expected at least one run without faults, got none")
        lessons = learn(runs)
        self.normaliser: Normaliser = lessons.normaliser()
        self.unstable: frozenset[ObjectId] = frozenset(lessons.unstable)
        self.facts: list[RunFacts] = [RunFacts(run, self.normaliser) for run in runs]
        self.states: list[list[NormalObject]] = [list(self.normaliser.normalise(each)) for each in states_of(runs[0])]

    def left_after(self, steps: int) -> frozenset[ObjectId]:
        """Return the objects that are there after some steps; 0 for the end."""
        return frozenset(each.canonical for each in self.states[steps - 1]) | self.unstable

    def externals_after(self, steps: int) -> dict[ObjectId, bytes]:
        """Return the states of the external systems after some steps; 0 for the end."""
        found = self.states[steps - 1]
        return {each.canonical: each.content for each in found if each.canonical.resource == EXTERNAL}

    def fingerprint(self, state: State) -> str:
        """Return the hash of a state, as `fingerprint` does, without what was learned to differ between runs."""
        return fingerprint(state, self.normaliser, self.unstable)


def waits_for_retry(facts: RunFacts, reference: Reference) -> bool:
    """Return whether a reconcile waits for its retry, which a fault made fail, and not what the user wants."""
    usual = set[str]().union(*(each.activity.failed_last for each in reference.facts))
    return any(facts.text(key) not in usual for key in waiting_retries(facts.run))
