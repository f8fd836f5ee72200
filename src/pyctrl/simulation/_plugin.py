"""pytest plugin: the fixture ``explore``, and the marker ``replay``.

pytest loads it in every project where pyctrl is installed, so everything is imported on use.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from pyctrl.simulation._invariants import Invariant
    from pyctrl.simulation._report import Report

__all__ = ["Broken", "Explore"]

BUDGET = timedelta(seconds=20)  # of CPU; systematic plans first, then a search

MARKER = "replay(schedule): try only this schedule, as a story of the fixture explore prints it"


class Broken(AssertionError):
    """Raised when a fault breaks the operator under test. Its message is the story."""


class Explore(Protocol):
    """The fixture ``explore``: tries every fault against an operator, and fails the test with the story of what breaks.

    def test_survives(explore: Explore) -> None:
        explore(add_podset, scenario)
    """

    def __call__(
        self,
        program: Any,
        scenario: Any = None,
        *,
        only: Collection[str] | str = (),
        budget: timedelta | int | None = BUDGET,
        seed: int = 0,
        replicas: int = 1,
        invariants: Sequence[Invariant] = (),
        manager_options: Mapping[str, Any] | None = None,
    ) -> Report:
        """Explore an operator, and return what was tried.

        Args:
            program: Adds its controllers to a manager: called with the manager, or with the manager and the `World`.
                Or a reconciler class, a module, or the name of a program as `pyctrl run` takes it.
            scenario: What users do: an async function of the client, or of the client and the `World`; manifests and
                edits; a path of a YAML file. None: the samples are created, changed, deleted, and recreated.
            only: Families of plans to try, such as ``crash``; by default all.
            budget: The CPU time to spend, 20 seconds by default, or the number of runs; None: the systematic plans,
                however long they take, and no search. The environment variable ``PYCTRL_SIMULATION_BUDGET`` replaces
                it in all tests, such as ``10m``, ``3000`` or ``none``: more runs at night.
            seed: The seed of latencies, names and the search.
            replicas: How many processes of the operator run; with more than one they elect a leader.
            invariants: What must always, or eventually, hold.
            manager_options: Arguments of the operator's `Manager`, such as ``namespaces``.

        Raises:
            Broken: The operator does not survive; the message is the story.
            CommandFailed: The program cannot be set up.
            ValueError: A family or a schedule does not exist.
        """
        ...


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", MARKER)


@pytest.fixture
def explore(request: pytest.FixtureRequest) -> Explore:
    """Explorer of an operator under faults; see `pyctrl.simulation.Explore`."""
    return _explorer(request)


def _explorer(request: pytest.FixtureRequest) -> Explore:
    def call(
        program: Any,
        scenario: Any = None,
        *,
        only: Collection[str] | str = (),
        budget: timedelta | int | None = BUDGET,
        seed: int = 0,
        replicas: int = 1,
        invariants: Sequence[Invariant] = (),
        manager_options: Mapping[str, Any] | None = None,
    ) -> Report:
        __tracebackhide__ = True
        from pyctrl.simulation._exploration import ExploreOptions
        from pyctrl.simulation._explorer import explore_program
        from pyctrl.simulation._saved_failures import SavedFailures
        from pyctrl.simulation._schedule import Schedule

        kept = _saved_at(request)
        budget = environment_budget(os.environ.get("PYCTRL_SIMULATION_BUDGET", ""), budget)
        marker = request.node.get_closest_marker("replay")
        options = ExploreOptions(
            seconds=budget.total_seconds() if isinstance(budget, timedelta) else None,
            runs=budget if isinstance(budget, int) else None,
            seed=seed,
            only=(only,) if isinstance(only, str) else tuple(only),
            replay=Schedule.parse(marker.args[0]) if marker is not None else None,
            replicas=replicas,
        )
        report = explore_program(
            program,
            scenario,
            options=options,
            invariants=invariants,
            manager_options=manager_options,
            saved=SavedFailures(kept) if kept is not None and marker is None else None,
            stops_at_first=True,
        )
        if report.stories:
            raise Broken(str(report.stories[0]))
        return report

    return call


def environment_budget(text: str, given: timedelta | int | None) -> timedelta | int | None:
    """Return the budget that the environment asks for, or the given one."""
    from pyctrl.api import parse_duration

    if not text or text == "none":
        return None if text else given
    try:
        return int(text) if text.isdecimal() else parse_duration(text)
    except ValueError as error:
        message = "PYCTRL_SIMULATION_BUDGET: expected a number of runs, a duration such as 10m, or none"
        raise pytest.UsageError(f"{message}; got {text!r}") from error


def _saved_at(request: pytest.FixtureRequest) -> Path | None:
    """Return where the failures of a test are kept, in pytest's cache; None if that is turned off."""
    cache: pytest.Cache | None = getattr(request.config, "cache", None)
    if cache is None:
        return None
    return cache.mkdir("pyctrl-simulation") / (re.sub(r"[^\w.\[\]-]+", "-", request.node.nodeid) + ".txt")
