"""pytest plugin: the fixture ``explore``, and the marker ``replay``.

pytest loads it in every project where pyctrl is installed, so everything is imported on use.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pyctrl.simulation._invariants import Invariant
    from pyctrl.simulation._report import Report
    from pyctrl.simulation._schedule import Schedule

__all__ = ["Explore", "SimulationFailed"]

BUDGET = timedelta(seconds=20)  # of CPU; systematic plans first, then a search

#: The explorations of a session, for its summary.
REPORTS = pytest.StashKey[list[tuple[str, "Report"]]]()

MARKER = "replay(schedule): try only this schedule, as a story of the fixture explore prints it"


class SimulationFailed(AssertionError):
    """Raised when a fault breaks the operator under test. Its message is the story."""

    __module__ = "pyctrl.simulation"  # as pytest prints it


class Explore:
    """The fixture ``explore``: tries every fault against an operator, and fails the test with the story of what breaks.

    def test_survives(explore: Explore) -> None:
        explore(add_podset, scenario)
    """

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request

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
            SimulationFailed: The operator does not survive; the message is the story.
            CommandFailed: The program cannot be set up.
            pytest.UsageError: PYCTRL_SIMULATION_BUDGET is no budget.
            ValueError: A family or a schedule does not exist.
        """
        __tracebackhide__ = True
        from pyctrl.simulation._exploration import ExploreOptions
        from pyctrl.simulation._explorer import explore_program
        from pyctrl.simulation._saved_failures import SavedFailures

        replay, saved = self._replay(), _saved_at(self._request)
        seconds, runs = limits_of(budget, os.environ.get("PYCTRL_SIMULATION_BUDGET", ""))
        report = explore_program(
            program,
            scenario,
            options=ExploreOptions(
                seconds=seconds, runs=runs, seed=seed, only=_families(only), replay=replay, replicas=replicas
            ),
            invariants=invariants,
            manager_options=manager_options,
            saved=SavedFailures(saved) if saved is not None and replay is None else None,
            stops_at_first=True,
        )
        self._request.config.stash.setdefault(REPORTS, []).append((self._request.node.nodeid, report))
        unreached = [fault for attempt in report.attempts for fault in attempt.outcome.unused]
        if replay is not None and unreached and not report.stories:
            raise SimulationFailed(f"the run has no such point, so nothing was replayed: {'; '.join(unreached)}")
        if report.stories:
            raise SimulationFailed(str(report.stories[0]))
        return report

    def _replay(self) -> Schedule | None:
        """Return the schedule of the marker ``replay``, if the test has it."""
        from pyctrl.simulation._schedule import Schedule

        marker = self._request.node.get_closest_marker("replay")
        if marker is None:
            return None
        if len(marker.args) != 1 or marker.kwargs:
            raise pytest.UsageError(f'expected @pytest.mark.replay("SCHEDULE"), as a story prints it; got {marker}')
        return Schedule.parse(marker.args[0])


def _families(only: Collection[str] | str) -> tuple[str, ...]:
    from pyctrl.simulation._plans import FAMILIES

    families = (only,) if isinstance(only, str) else tuple(only)
    known = (*FAMILIES, "random")
    for family in families:
        if family not in known:
            raise ValueError(f"only= takes families of plans, {', '.join(known)}; got {family!r}")
    return families


def limits_of(budget: timedelta | int | None, environment: str) -> tuple[float | None, int | None]:
    """Return the seconds of CPU and the number of runs of a budget.

    Args:
        budget: The budget of the test.
        environment: What replaces it, if not empty: ``60s``, ``5m``, ``2h``, a number of runs, or ``none``.

    Raises:
        pytest.UsageError: The environment's is none of these.
    """
    if budget is not None and not isinstance(budget, timedelta | int):
        raise TypeError(f"budget= takes a timedelta, a number of runs, or None; got {budget!r}")
    match = re.fullmatch(r"(?P<time>\d+(?:\.\d+)?)(?P<unit>[smh])|(?P<runs>\d+)|none|", environment.strip().lower())
    if match is None:
        raise pytest.UsageError(
            f"PYCTRL_SIMULATION_BUDGET: expected a time such as 60s, a number of runs, or none; got {environment!r}"
        )
    if match["time"]:
        return float(match["time"]) * {"s": 1, "m": 60, "h": 3600}[match["unit"]], None
    if match["runs"]:
        return None, int(match["runs"])
    if isinstance(budget, timedelta) and not environment:
        return budget.total_seconds(), None
    return None, budget if isinstance(budget, int) and not environment else None


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line("markers", MARKER)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say what was tried, with a line for each exploration."""
    reports = config.stash.get(REPORTS, [])
    if not reports:
        return
    from pyctrl.simulation._reporting import summary_line

    terminalreporter.section("simulation")
    for nodeid, report in reports:
        terminalreporter.write_line(f"{nodeid}: {summary_line(report)}")


@pytest.fixture
def explore(request: pytest.FixtureRequest) -> Explore:
    """Explorer of an operator under faults; see `pyctrl.simulation.Explore`."""
    return Explore(request)


def _saved_at(request: pytest.FixtureRequest) -> Path | None:
    """Return where the failures of a test are kept, in pytest's cache; None if that is turned off."""
    cache: pytest.Cache | None = getattr(request.config, "cache", None)
    if cache is None:
        return None
    return cache.mkdir("pyctrl-simulation") / (re.sub(r"[^\w.\[\]-]+", "-", request.node.nodeid) + ".txt")
