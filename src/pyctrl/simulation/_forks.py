"""Tries many schedules: one run goes on without faults, and at each point a child process is forked for each fault.

So all schedules share what comes before their first fault, and no run sees another one's memory. Where ``os.fork`` is
missing, every schedule runs from the begin in this process; its history is the same.
"""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import select
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NoReturn, TypeVar

from pyctrl.simulation._lines import LineTracer
from pyctrl.simulation._report import Attempt, Plan, RunOutcome
from pyctrl.simulation._run import ProblemKind, Run, RunProblem
from pyctrl.simulation._schedule import Point, Schedule
from pyctrl.simulation._simulation import Simulation

__all__ = ["HANG_SECONDS", "Tries", "in_child"]

HANG_SECONDS = 60  # of CPU; a run takes a twentieth of a second, and thousands of objects some seconds

Judge = Callable[[Run], RunOutcome]


@dataclass(slots=True)
class _Child:
    plan: Plan
    pid: int
    pipe: int
    received: bytearray


class Tries:
    """Runs plans and judges them.

    Args:
        simulation: The operator and its scenario.
        expected: The fingerprints of the reference's states at rest.
        judge: Makes the outcome of a run; called in the process in which it ran.
        jobs: How many children run at the same time.
        trace: Whether to trace which lines of the program ran, which makes runs slower.
    """

    def __init__(
        self, simulation: Simulation, expected: Sequence[str], judge: Judge, *, jobs: int = 1, trace: bool = False
    ) -> None:
        self.simulation, self.expected, self.judge = simulation, expected, judge
        self.jobs, self.trace = jobs, trace

    def run(self, plans: Iterable[Plan], tried: Callable[[Attempt], bool]) -> None:
        """Try plans, in the order of their first points.

        Args:
            plans: What to try.
            tried: Called with each attempt; if it returns False, no further plan is begun.
        """
        by_base: dict[Schedule, list[Plan]] = defaultdict(list)
        for plan in plans:
            by_base[plan.schedule.with_faults(())].append(plan)
        for base, group in by_base.items():
            goes_on = _Wave(self, base, group, tried).run() if hasattr(os, "fork") else self._in_process(group, tried)
            if not goes_on:
                return

    def _in_process(self, plans: Sequence[Plan], tried: Callable[[Attempt], bool]) -> bool:
        return all(tried(Attempt(plan, self.outcome_of(plan.schedule))) for plan in plans)

    def outcome_of(self, schedule: Schedule) -> RunOutcome:
        """Run one schedule from the begin, in this process."""
        return self.judge(self.simulation.run(schedule, expected=self.expected))


class _Wave:
    """One run without faults, and the children that leave it."""

    def __init__(self, tries: Tries, base: Schedule, plans: Sequence[Plan], tried: Callable[[Attempt], bool]) -> None:
        self._tries, self._base, self._tried = tries, base, tried
        self._waiting: dict[Point, list[Plan]] = defaultdict(list)
        self._plans = plans
        for plan in plans:
            for point in dict.fromkeys(fault.point for fault in plan.schedule):
                self._waiting[point].append(plan)
        self._begun: set[int] = set()
        self._children: list[_Child] = []
        self._goes_on = True
        self._child_pipe = -1
        self._tracer: LineTracer | None = None

    def run(self) -> bool:
        """Run the wave; return whether to go on with others."""
        gc.collect()
        gc.freeze()  # children do not copy the pages of objects that the collector would visit
        try:
            tries = self._tries
            tries.simulation.run(self._base, expected=tries.expected, branch=self._branch, ended=self._ended)
            if self._child_pipe >= 0:  # a child whose loop failed comes here
                self._end_child(RunOutcome((RunProblem(ProblemKind.HANGS, "the run ended without a verdict"),)))
            while self._children:
                self._collect()
            for plan in self._plans:
                if id(plan) not in self._begun and self._goes_on:
                    self._goes_on = self._tried(Attempt(plan, RunOutcome(unused=tuple(map(str, plan.schedule)))))
        except BaseException as error:
            if self._child_pipe >= 0:
                self._end_child(_broken(error))
            self._kill_children()
            raise
        finally:
            gc.unfreeze()
        return self._goes_on

    # -- the parent --------------------------------------------------------------------------------------------

    def _branch(self, point: Point) -> Schedule | None:
        """Fork a child for each plan with a fault at a point; in a child, return its schedule."""
        for plan in self._waiting.pop(point, ()):
            if id(plan) in self._begun or not self._goes_on:
                continue
            while len(self._children) >= self._tries.jobs:
                self._collect()
            if self._may_begin() and self._fork(plan):
                return plan.schedule
        return None

    def _may_begin(self) -> bool:
        """Return whether another plan may begin; an outcome that was collected may have ended the wave."""
        return self._goes_on

    def _fork(self, plan: Plan) -> bool:
        """Fork a child; return True in it."""
        self._begun.add(id(plan))
        loop = asyncio.get_running_loop()
        reading, writing = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid:
            os.close(writing)
            self._children.append(_Child(plan, pid, reading, bytearray()))
            return False
        os.close(reading)
        asyncio._set_running_loop(loop)  # asyncio forgets it in a forked child, which goes on with it here
        self._become_child(writing)
        return True

    def _collect(self) -> None:
        """Wait until one child has ended, and hand over its outcome."""
        pipes = [child.pipe for child in self._children]
        ready, _, _ = select.select(pipes, (), (), None)
        for child in [each for each in self._children if each.pipe in ready]:
            chunk = os.read(child.pipe, 1 << 16)
            if chunk:
                child.received += chunk
                continue
            os.close(child.pipe)
            self._children.remove(child)
            _, status, usage = os.wait4(child.pid, 0)
            outcome = pickle.loads(child.received) if status == 0 and child.received else _died(status)
            attempt = Attempt(child.plan, outcome, usage.ru_utime + usage.ru_stime)
            self._goes_on = self._tried(attempt) and self._goes_on

    def _kill_children(self) -> None:
        for child in self._children:
            os.close(child.pipe)
            os.kill(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)
        self._children.clear()

    # -- the child ---------------------------------------------------------------------------------------------

    def _become_child(self, pipe: int) -> None:
        self._child_pipe = pipe
        self._children.clear()
        limit_child()
        if self._tries.trace:
            self._tracer = LineTracer()
            self._tracer.start()

    def _ended(self, run: Run) -> None:
        if self._child_pipe >= 0:
            lines = self._tracer.stop() if self._tracer is not None else frozenset()
            outcome = self._tries.judge(run)
            self._end_child(RunOutcome(outcome.problems, outcome.fingerprints, lines, outcome.unused, outcome.story))

    def _end_child(self, outcome: RunOutcome) -> NoReturn:
        with os.fdopen(self._child_pipe, "wb") as pipe:
            pipe.write(pickle.dumps(outcome))
        os._exit(0)


R = TypeVar("R")


def in_child(function: Callable[[], R]) -> R:
    """Call a function in a forked child, so that nothing of it is left, and return its result.

    Without ``os.fork`` it is called in this process.

    Raises:
        RuntimeError: The child died.
    """
    if not hasattr(os, "fork"):
        return function()
    reading, writing = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if not pid:
        os.close(reading)
        try:
            with os.fdopen(writing, "wb") as pipe:
                limit_child()
                pipe.write(pickle.dumps(function()))
            os._exit(0)
        finally:
            os._exit(1)  # the parent says that the child died
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        received = pipe.read()
    _, status = os.waitpid(pid, 0)
    if status or not received:
        raise RuntimeError(f"a simulated run died: {_died(status).problems[0].message}")
    result: R = pickle.loads(received)
    return result


def limit_child() -> None:
    """Let a child end when it hangs, and print nothing."""
    import resource

    gc.disable()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends its children
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (HANG_SECONDS, hard))  # SIGXCPU ends it
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)


def _died(status: int) -> RunOutcome:
    number = os.waitstatus_to_exitcode(status)
    why = f"it used {HANG_SECONDS} s of CPU" if number == -signal.SIGXCPU else f"its process ended with {number}"
    return RunOutcome((RunProblem(ProblemKind.HANGS, f"the run did not end: {why}"),))


def _broken(error: BaseException) -> RunOutcome:
    return RunOutcome((RunProblem(ProblemKind.HANGS, f"the run failed: {type(error).__name__}: {error}"),))
