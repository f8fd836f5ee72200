"""Explores an operator: reference runs, saved failures, systematic plans, then a search, until the budget is spent."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from types import ModuleType
from typing import Any

from pyctrl.controller import Builder, Reconciler
from pyctrl.errors import CommandFailed
from pyctrl.program import Target
from pyctrl.simulation._cpu_limit import UsedTooMuchCpu, cpu_limit
from pyctrl.simulation._default_scenario import program_scenario
from pyctrl.simulation._exploration import ExploreOptions, ExploreProgress
from pyctrl.simulation._forks import Tries, in_child
from pyctrl.simulation._invariants import Invariant
from pyctrl.simulation._oracle import Reference, judge
from pyctrl.simulation._plans import FAMILIES, systematic
from pyctrl.simulation._report import Attempt, Plan, Report, RunOutcome, Story
from pyctrl.simulation._run import Run, RunProblem
from pyctrl.simulation._saved_failures import SavedFailures
from pyctrl.simulation._scenarios import Scenario, scenario_of
from pyctrl.simulation._schedule import Schedule
from pyctrl.simulation._search import Search
from pyctrl.simulation._shrink import shrink
from pyctrl.simulation._simulation import Simulation
from pyctrl.simulation._story import alike, tell

__all__ = ["Exploration", "explore_program", "setup_of"]

REFERENCES = 3  # runs without faults, with different seeds: what differs between them does not count
WAVE = 64  # plans that share one run without faults: children live at the same time as many as there are jobs
SEARCH_WAVE = 24  # proposals; the search learns between two waves
SHRINK_ATTEMPTS = 60  # runs
REFERENCE_CPU = 60.0  # seconds of the first run; thousands of objects take some
STORIES = 8  # failures that are shrunk and told; more are mostly the same


class _Silent:
    """An `ExploreProgress` that does nothing."""

    is_stopped = False

    def planned(self, number: int) -> None: ...
    def tried(self, attempt: Attempt) -> None: ...
    def told(self, story: Story) -> None: ...


@dataclass(kw_only=True)
class Exploration:
    """What is explored, and what was found so far.

    Attributes:
        simulation: The operator and its scenario.
        options: What to explore.
        progress: Is told what is tried and found.
        saved: Failures of earlier sessions, which are tried first.
        stops_at_first: Whether to end with the first failure.
    """

    simulation: Simulation
    options: ExploreOptions
    progress: ExploreProgress = field(default_factory=_Silent)
    saved: SavedFailures | None = None
    stops_at_first: bool = False
    _attempts: list[Attempt] = field(default_factory=list)
    _failed: dict[str, Attempt] = field(default_factory=dict)
    _began: float = 0.0

    def explore(self) -> Report:
        """Explore until the budget is spent, and return what was found.

        Raises:
            CommandFailed: The program cannot be set up.
        """
        self._began = _cpu_seconds()
        seed = self.options.seed
        try:
            with cpu_limit(REFERENCE_CPU):
                runs = [self.simulation.run(Schedule(seed=seed))]
        except UsedTooMuchCpu as error:
            raise CommandFailed(f"the program does not come to its end without any fault: {error}") from None
        if not runs[0].error:
            runs += [self.simulation.run(Schedule(seed=seed + number)) for number in range(1, REFERENCES)]
        self._reference = Reference(runs)
        report = Report(program=self.simulation.name, reference=runs[0], seed=seed)
        problems = judge(self._reference, runs[0])
        if problems:
            report.stories = [tell(runs[0], runs[0], problems)]
            self._attempts.append(Attempt(Plan("reference", Schedule(seed=seed)), RunOutcome(tuple(problems))))
        else:
            self.simulation.fingerprint = self._reference.fingerprint
            self._expected = [self._reference.fingerprint(state) for state in runs[0].steps]
            report.planned = self._try_all(runs[0])
            report.stories = list(self._tell(runs[0]))
        report.attempts, report.seconds = self._attempts, self._seconds
        return report

    # -- trying ------------------------------------------------------------------------------------------------

    def _try_all(self, reference: Run) -> int:
        """Try plans until the budget is spent; return the number of the systematic ones."""
        options = self.options
        if options.replay is not None:
            self._try([Plan("replay", options.replay)])
            return 1
        families = [each for each in FAMILIES if not options.only or each in options.only]
        plans = [self._with_seed(plan) for plan in systematic(reference, families=families, replicas=options.replicas)]
        self.progress.planned(len(plans))
        kinds = {fault.kind for plan in plans for fault in plan.schedule}
        known = [each for each in (self.saved.schedules if self.saved else ()) if {f.kind for f in each} <= kinds]
        saved = [Plan("saved", schedule) for schedule in known]  # not of families that are left out
        waiting: Iterator[Plan] = iter((*saved, *plans))
        while self._goes_on and (wave := list(islice(waiting, WAVE))):
            self._try(wave)
        if self._goes_on and not (options.only and "random" not in options.only):
            self._search(reference, plans)
        return len(plans)

    def _search(self, reference: Run, plans: Sequence[Plan]) -> None:
        if self.options.seconds is None and self.options.runs is None:
            return  # a search never ends
        search = Search(reference, plans, seed=self.options.seed)
        for attempt in self._attempts:
            search.learn(attempt.plan, attempt.outcome)
        while self._goes_on:
            begun = len(self._attempts)
            self._try([self._with_seed(search.propose()) for _ in range(SEARCH_WAVE)], trace=True)
            for attempt in self._attempts[begun:]:
                search.learn(attempt.plan, attempt.outcome)

    def _with_seed(self, plan: Plan) -> Plan:
        return plan if plan.schedule.seed else replace(plan, schedule=replace(plan.schedule, seed=self.options.seed))

    def _try(self, plans: Iterable[Plan], *, trace: bool = False) -> None:
        tries = Tries(self.simulation, self._expected, self._outcome, jobs=self.options.jobs, trace=trace)
        tries.run(plans, self._tried)

    def _tried(self, attempt: Attempt) -> bool:
        self._attempts.append(attempt)
        if attempt.outcome.problems:
            self._failed.setdefault(_signature(attempt), attempt)
        elif self.saved is not None:
            self.saved.passed(attempt.plan.schedule, unused=attempt.outcome.unused)
        self.progress.tried(attempt)
        return self._goes_on

    @property
    def _seconds(self) -> float:
        return _cpu_seconds() - self._began

    @property
    def _goes_on(self) -> bool:
        options = self.options
        return not (
            self.progress.is_stopped
            or (self.stops_at_first and self._failed)
            or (options.runs is not None and len(self._attempts) >= options.runs)
            or (options.seconds is not None and self._seconds >= options.seconds)
        )

    def _outcome(self, run: Run, *, story_of: Run | None = None) -> RunOutcome:
        """Judge a run, in the process in which it ran; tell its story if a reference for it is given."""
        problems = judge(self._reference, run)
        return RunOutcome(
            problems=tuple(problems),
            fingerprints=frozenset(map(self._reference.fingerprint, run.steps)),
            unused=tuple(map(str, run.unused)),
            story=tell(story_of, run, problems) if story_of is not None and problems else None,
        )

    # -- telling -----------------------------------------------------------------------------------------------

    def _tell(self, reference: Run) -> Iterator[Story]:
        """Shrink failures and tell them, those that are alike once."""
        told: set[str] = set()
        for attempt in list(self._failed.values())[:STORIES]:
            schedule = attempt.plan.schedule
            if self.options.replay is None and not self.progress.is_stopped:
                kinds = {problem.kind for problem in attempt.outcome.problems[:1]}
                schedule = shrink(schedule, partial(self._fails, kinds), attempts=SHRINK_ATTEMPTS)
            outcome = in_child(partial(self._outcome_of, schedule, reference))
            story = outcome.story or _plain_story(attempt)
            if self.saved is not None:
                self.saved.failed(schedule)
            key = alike(story)
            if key not in told:
                told.add(key)
                self.progress.told(story)
                yield story
        if self.saved is not None:
            self.saved.write()

    def _fails(self, kinds: set[str], schedule: Schedule) -> bool:
        """Return whether a schedule fails in the same manner; False after the exploration was stopped."""
        if self.progress.is_stopped:
            return False
        outcome = in_child(lambda: self._outcome_of(schedule, None))
        return any(problem.kind in kinds for problem in outcome.problems)

    def _outcome_of(self, schedule: Schedule, story_of: Run | None) -> RunOutcome:
        run = self.simulation.run(schedule, expected=self._expected)
        return self._outcome(run, story_of=story_of)


def explore_program(
    program: Callable[..., object] | type[Reconciler[Any]] | ModuleType | str,
    scenario: Any = None,
    *,
    name: str = "",
    options: ExploreOptions = ExploreOptions(),  # noqa: B008 (frozen)
    progress: ExploreProgress | None = None,
    invariants: Sequence[Invariant] = (),
    manager_options: Mapping[str, Any] | None = None,
    saved: SavedFailures | None = None,
    stops_at_first: bool = False,
) -> Report:
    """Try faults against an operator until the budget is spent, and return what was found. See the page "Simulation".

    Args:
        program: Adds its controllers to a manager: called with the manager, or with the manager and the `World`. Or a
            reconciler class, a module, or the name of a program as `pyctrl run` takes it.
        scenario: What users do: an async function of the client, or of the client and the `World`; manifests and
            edits; a path of a YAML file. None: the program's samples are created, changed, deleted, and recreated.
        name: The program's name, for the report.
        options: What to explore.
        progress: Is told what is tried and found.
        invariants: What must always, or eventually, hold.
        manager_options: Arguments of the operator's `Manager`, such as ``namespaces``.
        saved: Failures of earlier sessions, which are tried first.
        stops_at_first: Whether to end with the first failure.

    Raises:
        CommandFailed: The program cannot be set up, or there is no scenario for it.
        RuntimeError: An event loop runs already.
    """
    _check_no_loop()
    setup = setup_of(program)
    found: Scenario = scenario_of(scenario) if scenario is not None else asyncio.run(program_scenario(setup))
    simulation = Simulation(
        name=name or getattr(program, "__name__", str(program)),
        program=setup,
        scenario=found.run,
        replicas=options.replicas,
        options=dict(manager_options or {}),
        invariants=invariants,
    )
    exploration = Exploration(simulation=simulation, options=options, saved=saved, stops_at_first=stops_at_first)
    if progress is not None:
        exploration.progress = progress
    return exploration.explore()


def setup_of(program: Any) -> Callable[..., object]:
    """Return the setup function of a program.

    Raises:
        TypeError: It is no program.
    """
    if isinstance(program, str):
        return Target.parse(program).find()
    if isinstance(program, ModuleType):
        return Target.parse(program.__name__).find()
    if isinstance(program, type) and issubclass(program, Reconciler):
        return lambda manager: Builder(manager).build(program())
    if callable(program):
        return program  # type: ignore[no-any-return]
    raise TypeError(
        "expected a program: a function that adds controllers to a manager, a Reconciler class, a module, or its name; "
        f"got {program!r}"
    )


def _check_no_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise RuntimeError("explore runs event loops of its own: call it from a plain function, not from an async one")


def _cpu_seconds() -> float:
    """Return the CPU seconds that this process and the children that it has waited for have used."""
    return sum(os.times()[:4])


def _signature(attempt: Attempt) -> str:
    """Return a text that is equal for failures that are probably alike."""
    kinds = sorted({problem.kind for problem in attempt.outcome.problems})
    faults = sorted({fault.kind for fault in attempt.plan.schedule})
    return f"{kinds} {faults}"


def _plain_story(attempt: Attempt) -> Story:
    """Return the story of a failure that does not happen again: the program is not deterministic."""
    problems: tuple[RunProblem, ...] = attempt.outcome.problems
    return Story(
        title=problems[0].message,
        events=("it did not happen again with the same schedule",),
        problems=problems,
        diff="",
        guess="the program depends on something outside of the simulation: a module's state, time, random or uuid",
        schedule=attempt.plan.schedule,
    )
