"""What an exploration is asked for, and what it tells while it runs: the seam between the explorer and its callers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from pyctrl.simulation._report import Attempt, Story
from pyctrl.simulation._schedule import Schedule

__all__ = ["ExploreOptions", "ExploreProgress"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOptions:
    """What to explore.

    Attributes:
        seconds: The budget of time; None: no limit, so that `runs` or the systematic plans end the exploration.
        runs: The budget of runs; None: no limit.
        seed: The seed of the reference runs and of the search.
        only: The families of plans to try; empty: all.
        replay: Try this schedule only.
        replicas: How many processes of the operator run.
        jobs: How many processes explore at the same time.
    """

    seconds: float | None = None
    runs: int | None = None
    seed: int = 0
    only: tuple[str, ...] = ()
    replay: Schedule | None = None
    replicas: int = 1
    jobs: int = 1


class ExploreProgress(Protocol):
    """Follows an exploration. All methods are called in the process that explores, between two runs."""

    @property
    def is_stopped(self) -> bool:
        """Whether to end the exploration now, and to report what was found so far."""
        ...

    def planned(self, number: int) -> None:
        """Called once after the reference runs, with the number of systematic plans."""
        ...

    def tried(self, attempt: Attempt) -> None:
        """Called after each run."""
        ...

    def told(self, story: Story) -> None:
        """Called for each story, when the schedule of its failure is shrunk."""
        ...
