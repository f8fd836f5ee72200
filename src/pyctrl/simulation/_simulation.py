"""One operator and one scenario, which can be run with any schedule."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

from pyctrl.api import Key
from pyctrl.apiserver import ApiServer
from pyctrl.dev import Requirements, find_requirements
from pyctrl.manager import LeaderElection
from pyctrl.program import install_definitions
from pyctrl.rbac import compare
from pyctrl.simulation._extension_requests import register_operator, serve_extensions
from pyctrl.simulation._handle_points import HandlePoints
from pyctrl.simulation._history import History, Logged, RestPhase
from pyctrl.simulation._injector import Branch, Injector
from pyctrl.simulation._invariant_checks import InvariantChecks
from pyctrl.simulation._invariants import Invariant
from pyctrl.simulation._loop import SimulationLoop, current_process
from pyctrl.simulation._process import Process, Setup
from pyctrl.simulation._run import Run, State
from pyctrl.simulation._schedule import Schedule
from pyctrl.simulation._step_faults import StepFaults
from pyctrl.simulation._webhook_calls import WebhookCalls
from pyctrl.simulation._world import CutShort, World
from pyctrl.simulation._world_faults import LEASE
from pyctrl.testing import VirtualTimeError

__all__ = ["Simulation", "takes_two"]

QUIET = 60.0  # seconds that are watched at the end; longer if reconciles ask to run again later
SCENARIO_LIMIT = timedelta(days=1)  # ten seconds of CPU; what takes longer goes round in circles
HISTORY = 100_000  # events that the API server keeps, so that a process can be shown any older state


@dataclass(kw_only=True)
class Simulation:
    """An operator, a scenario, and how they are run. It holds no state of a run.

    Attributes:
        name: The program's name.
        program: Adds its controllers to a manager: called with the manager, or with the manager and the `World`.
        scenario: What users do: an async function that is called with the client and the `World`; it ends its steps.
        replicas: How many processes run; more than one elect a leader.
        options: Arguments of the operator's `Manager`.
        invariants: What must always, or eventually, hold.
        fingerprint: Makes a text of a state that is equal for states that are equal modulo identity.
    """

    name: str
    program: Callable[..., object]
    scenario: Callable[..., Any]
    replicas: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)
    invariants: Sequence[Invariant] = ()
    fingerprint: Callable[[State], str] | None = None

    def run(
        self,
        schedule: Schedule = Schedule(),  # noqa: B008 (frozen)
        *,
        expected: Sequence[str] = (),
        branch: Branch | None = None,
        ended: Callable[[Run], None] | None = None,
        cuts_short: bool = True,
    ) -> Run:
        """Run the scenario with a schedule, from the begin to the end, in virtual time.

        Args:
            schedule: The faults.
            expected: The fingerprints of the states at rest without faults, one for each step and one for the end.
            branch: Forks at points, see `Branch`.
            cuts_short: Whether to leave out steps of the scenario once no fault is left and the world is as in the
                reference: it goes on like it.
            ended: Called with the run before the world is taken down, which a forked child does not wait for.

        Raises:
            CommandFailed: The program cannot be set up.
        """
        history = History()
        injector = Injector(schedule, history, branch)
        run = Run(schedule=schedule, history=history, initial=State({}))
        shuffle = Random(f"{schedule.seed}/order") if schedule.shuffle else None
        try:
            with _logging_to(history), asyncio.Runner(loop_factory=lambda: SimulationLoop(shuffle=shuffle)) as runner:
                runner.run(_Execution(self, injector, run, expected, ended, cuts_short=cuts_short).run())
        except VirtualTimeError as error:
            run.error = f"{type(error).__name__}: {error}"
            run.schedule, run.points, run.unused = injector.schedule, injector.points, injector.unused
        return run

    def setup_of(self, world: World | None) -> Setup:
        """Return the setup function with the world filled in, if it takes one."""
        if takes_two(self.program):
            return lambda manager: self.program(manager, world)
        return self.program


class _Execution:
    """One run in progress."""

    def __init__(
        self,
        simulation: Simulation,
        injector: Injector,
        run: Run,
        expected: Sequence[str],
        ended: Callable[[Run], None] | None,
        *,
        cuts_short: bool,
    ) -> None:
        self._cuts_short = cuts_short
        self._simulation, self._injector, self._run = simulation, injector, run
        self._history, self._expected, self._ended = run.history, expected, ended

    async def run(self) -> None:
        run, injector, seed = self._run, self._injector, self._run.schedule.seed
        random = Random(seed)
        webhooks = WebhookCalls()
        server = ApiServer(random=random, history=HISTORY, webhooks=webhooks)
        creation = World.create(seed=seed, server=server, random=random, injector=injector, history=self._history)
        async with creation as world:
            webhooks.connect(world)
            world.cuts_short = self._cuts_short
            world.expected, world.fingerprint = self._expected, self._simulation.fingerprint
            requirements = await self._furnish(world)
            run.initial = world.state()
            step_faults = StepFaults(world)
            run.foreign, world.faults.on_step_fault = step_faults.foreign, step_faults.apply
            invariants = InvariantChecks(world, self._simulation.invariants)
            self._start(world)
            if requirements.registrations:
                await register_operator(world, requirements.registrations)
            run.error = await self._play(world)
            injector.is_armed = False
            await step_faults.end()
            await self._end(world)
            await invariants.end()
            run.schedule, run.points, run.unused = injector.schedule, injector.points, injector.unused
            run.undeclared, run.custom = _undeclared(world), invariants.broken
            if self._ended is not None:
                self._ended(run)

    async def _furnish(self, world: World) -> Requirements:
        """Install the kinds of the program; wait until the cluster has come to rest."""
        setup = self._simulation.setup_of(world)
        requirements = await find_requirements(setup, name="operator", account=Key("default", "operator"))
        await install_definitions(world.client, requirements.definitions)
        serve_extensions(world, requirements.services)
        await world.wait_until_idle()
        world.states.begin()
        self._history.entries.clear()
        return requirements

    def _start(self, world: World) -> None:
        simulation = self._simulation
        for number in range(1, simulation.replicas + 1):
            name = f"operator-{number}"
            election = (
                LeaderElection(name=LEASE, namespace="default", identity=name) if simulation.replicas > 1 else None
            )
            process = Process(world, name, simulation.setup_of(world), simulation.options, election)
            world.processes.append(process)
            process.start()
        self._injector.is_armed = True
        HandlePoints(world).begin()

    async def _play(self, world: World) -> str:
        """Play the scenario; return its error, or ""."""
        limit = asyncio.timeout(SCENARIO_LIMIT.total_seconds())
        try:
            async with limit:
                await self._simulation.scenario(world.client, world)
        except CutShort:
            self._run.cut_after = len(world.steps)
        except VirtualTimeError:
            raise
        except TimeoutError as error:
            if limit.expired():
                return f"TimeoutError: the scenario did not end within {SCENARIO_LIMIT} of virtual time"
            return f"TimeoutError: {error}"
        except Exception as error:  # noqa: BLE001 - of the scenario: the oracle judges it
            return f"{type(error).__name__}: {error}"
        return ""

    async def _end(self, world: World) -> None:
        """Let the world come to rest without faults, and watch whether it stays so."""
        run = self._run
        run.faults_over_at = world.now if self._injector.schedule.faults else 0.0
        await world.rest(RestPhase.FAULTS_OVER)
        run.quiet_from = world.now
        await world.stay(QUIET if run.cut_after else max(QUIET, 2 * world.longest_requeue))
        run.error = run.error or world.repetitions.spinning
        run.end = world.state()
        run.steps = world.steps


def _undeclared(world: World) -> tuple[str, ...]:
    """Return the accesses of the operator that its wiring does not declare."""
    found: dict[str, None] = {}
    for process in world.processes:
        if process.manager is not None:
            missing = compare(process.manager.grants(), process.accesses.asked).missing
            found.update(dict.fromkeys(map(str, missing)))
    return tuple(found)


def takes_two(function: Callable[..., Any]) -> bool:
    """Return whether a function has a second positional parameter without a default."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except ValueError:
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(positional) >= 2 and positional[1].default is inspect.Parameter.empty


class _LogHandler(logging.Handler):
    def __init__(self, history: History) -> None:
        super().__init__(logging.WARNING)
        self._history = history

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        process = current_process.get().partition(".")[0]
        if not process:  # of the cluster's own controllers
            return
        self._history.add(
            Logged(
                process=process,
                level=record.levelname,
                logger=record.name,
                message=record.getMessage(),
                error=f"{type(error).__name__}: {error}" if error is not None else "",
            )
        )


@contextmanager
def _logging_to(history: History) -> Iterator[None]:
    """Put what the operator's process logs at WARNING and above into the history, and nowhere else."""
    logger = logging.getLogger("pyctrl")
    handler = _LogHandler(history)
    handlers, propagates = logger.handlers[:], logger.propagate
    logger.handlers, logger.propagate = [handler], False
    try:
        yield
    finally:
        logger.handlers, logger.propagate = handlers, propagates
