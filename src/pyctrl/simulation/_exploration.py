"""What an exploration is asked for, and what it tells while it runs: the seam between the explorer and its callers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from pyctrl.simulation._report import Attempt, Report, Story
from pyctrl.simulation._saved_failures import SavedFailures
from pyctrl.simulation._schedule import Schedule

__all__ = ["ExploreOptions", "ExploreProgress", "Explorer"]


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


class Explorer(Protocol):
    """Explores a program."""

    def __call__(
        self,
        program: Callable[..., object],
        scenario: Any,
        *,
        name: str,
        options: ExploreOptions,
        progress: ExploreProgress,
        saved: SavedFailures | None,
    ) -> Report:
        """Try plans until the budget is spent or the progress is stopped, and return what was found.

        Args:
            program: Adds its controllers to a manager: called with the manager, or with the manager and the world.
            scenario: What users do, in any form of `scenario_of`; None: one made from the samples and the schema.
            name: The program's name.
            options: What to explore.
            progress: Is told what is tried and found.
            saved: Failures of earlier sessions, which are tried first.

        Raises:
            CommandFailed: The program fails without faults; the message says how.
        """
        ...
