"""Result of an exploration as data: what was tried, what failed, and the story of each failure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pyctrl.simulation._run import Run, RunProblem
from pyctrl.simulation._schedule import Schedule
from pyctrl.simulation._story_text import story_text

__all__ = ["Attempt", "Plan", "Report", "RunOutcome", "Story"]


@dataclass(frozen=True, slots=True)
class Plan:
    """A schedule to try, and the family it belongs to.

    Attributes:
        family: crash, error, event, stale, leadership, meddling, external, server, clock, webhook, saved or random.
        schedule: The faults.
    """

    family: str
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """What one run showed; small, because it may come from another process.

    Attributes:
        problems: Empty if all was well.
        fingerprints: Hashes of the states that the world had at rest, modulo identity.
        lines: Lines of the program that ran, ``FILE:LINE``; empty if they were not traced.
        unused: Faults whose point never came, as text.
        story: The story of the failure, if it was asked for.
    """

    problems: tuple[RunProblem, ...] = ()
    fingerprints: frozenset[str] = frozenset()
    lines: frozenset[str] = frozenset()
    unused: tuple[str, ...] = ()
    story: Story | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """A plan that was tried, and its outcome. ``seconds`` is CPU time."""

    plan: Plan
    outcome: RunOutcome
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Story:
    """A failure, told for people.

    Attributes:
        title: One line: what is wrong in the end.
        events: At most ten lines: what happened, with times, objects, versions and source lines.
        problems: What the oracle found in the shrunk run.
        diff: The difference of the end states, as lines of a unified diff; or "".
        guess: The probable mistake, and what to do; or "".
        schedule: The shrunk schedule, whose text replays it.
    """

    title: str
    events: tuple[str, ...]
    problems: tuple[RunProblem, ...]
    diff: str
    guess: str
    schedule: Schedule

    def __str__(self) -> str:
        return story_text(self)


@dataclass(slots=True)
class Report:
    """What an exploration tried and found.

    Attributes:
        program: The program's name.
        reference: The run without faults.
        attempts: In the order in which they were tried.
        stories: One for each failure that differs from the others; empty if the operator survived.
        planned: The number of systematic plans; fewer were tried if the budget ran out.
        seconds: CPU time in all.
        seed: The seed of the exploration.
    """

    program: str
    reference: Run
    attempts: Sequence[Attempt] = field(default_factory=list)
    stories: Sequence[Story] = field(default_factory=list)
    planned: int = 0
    seconds: float = 0.0
    seed: int = 0
