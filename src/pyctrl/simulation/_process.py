"""A replica of the operator as a process: it can be started, stopped, killed at any await, frozen and thawed."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from random import Random
from typing import TYPE_CHECKING, Any

from pyctrl._log import current_log_context
from pyctrl.client import Config, Transport
from pyctrl.controller import Controller, Request, Result
from pyctrl.errors import LeadershipLost
from pyctrl.manager import LeaderElection, Preflight
from pyctrl.program import APIServerOptions, ProgramManager, WebhookOptions, run_setup
from pyctrl.simulation._cache_reads import CacheReads
from pyctrl.simulation._history import ProcessChanged, Reconciled
from pyctrl.simulation._loop import simulation_loop
from pyctrl.simulation._network import NetworkLink
from pyctrl.simulation._operator_transport import OperatorTransport
from pyctrl.testing import AccessRecorder

if TYPE_CHECKING:
    from pyctrl.simulation._world import World
    from pyctrl.webhook import Webhooks

__all__ = ["RESTART_AFTER", "Process", "ProcessState", "Setup"]

#: Adds the operator's controllers to its manager.
Setup = Callable[[Any], object]

#: Seconds until a container that ended runs again: kubelet's first back-off is 10 s, the first restart has none.
RESTART_AFTER = 1.0


class ProcessState(StrEnum):
    """What a process does."""

    RUNNING = "running"
    FROZEN = "frozen"
    KILLED = "killed"
    ENDED = "ended"


@dataclass(slots=True, eq=False)
class Process:
    """One replica of the operator, wired by its setup function as in production.

    Its manager, client and cache are those of production; only its connection is simulated. A process that is killed
    runs no further line of code, not even a ``finally``; its open connections close, and requests under way arrive.

    Attributes:
        world: The world that it belongs to.
        name: Its name, such as ``operator-1``.
        setup: Adds its controllers to a manager.
        options: Arguments of the `Manager`.
        leader_election: How it elects a leader; None: it always runs.
        incarnation: How often it was started.
    """

    world: World
    name: str
    setup: Setup
    options: Mapping[str, Any] = field(default_factory=dict)
    leader_election: LeaderElection | None = None
    incarnation: int = 0
    state: ProcessState = ProcessState.ENDED
    manager: ProgramManager | None = None
    accesses: AccessRecorder = field(default_factory=AccessRecorder)
    _link: NetworkLink | None = None
    _task: asyncio.Task[None] | None = None
    _is_wanted: bool = False

    @property
    def context_name(self) -> str:
        """The name of this incarnation, to which its tasks belong."""
        return f"{self.name}.{self.incarnation}"

    @property
    def link(self) -> NetworkLink:
        """Its connection.

        Raises:
            RuntimeError: It has not been started.
        """
        if self._link is None:
            raise RuntimeError(f"process {self.name} has not been started: call start() first")
        return self._link

    @property
    def webhooks(self) -> tuple[Webhooks, ...]:
        """The webhooks that it serves."""
        return self.manager.webhooks if self.manager is not None else ()

    @property
    def is_alive(self) -> bool:
        """Whether it runs or is frozen."""
        return self.state in (ProcessState.RUNNING, ProcessState.FROZEN)

    @property
    def leads(self) -> bool | None:
        """Whether the Lease names this process; None without leader election."""
        return None if self.leader_election is None else self.world.faults.holder_of_lease() == self.name

    def start(self, *, behind: tuple[int, float] | None = None) -> None:
        """Start the process. It is started again whenever it ends, until it is stopped.

        Args:
            behind: Its lists and watches show a state of the server at this version for so many seconds.
        """
        if self.is_alive:
            return
        self._is_wanted = True
        self.incarnation += 1
        self.state = ProcessState.RUNNING
        self.world.note(ProcessChanged(process=self.name, state="started"))
        random = Random(f"{self.world.seed}/{self.context_name}")
        self._task = simulation_loop().start_task(self.context_name, self._live(random, behind), self.context_name)
        self._task.add_done_callback(self._done)

    def ask_to_stop(self) -> None:
        """Send it SIGTERM: it stops gracefully, and is not started again."""
        self._is_wanted = False
        if self.manager is not None and self.is_alive:
            self.manager.ask_to_stop()
        elif self._task is not None and self.is_alive:
            self._task.cancel()

    def kill(self, *, restart_after: float | None = RESTART_AFTER, behind: tuple[int, float] | None = None) -> None:
        """Send it SIGKILL, and start it again after so many seconds; None: never."""
        if not self.is_alive:
            return
        self.world.note(ProcessChanged(process=self.name, state="killed"))
        simulation_loop().freeze(self.context_name)
        if self._link is not None:
            self._link.close()
        self.world.forget_process(self)
        self.state = ProcessState.KILLED
        self._is_wanted = restart_after is not None
        if restart_after is not None:
            self.world.call_later(restart_after, lambda: self._start_again(behind))

    def freeze(self, seconds: float) -> None:
        """Let it stand still for so many seconds, as after SIGSTOP, a paused VM, or a starved CPU."""
        if self.state is not ProcessState.RUNNING:
            return
        self.world.note(ProcessChanged(process=self.name, state="frozen", text=f"for {seconds:g} s"))
        self.state = ProcessState.FROZEN
        simulation_loop().freeze(self.context_name)
        self.world.call_later(seconds, self.thaw)

    def thaw(self) -> None:
        """Let a frozen process go on."""
        if self.state is ProcessState.FROZEN:
            self.world.note(ProcessChanged(process=self.name, state="goes on"))
            self.state = ProcessState.RUNNING
            simulation_loop().thaw(self.context_name)

    def _start_again(self, behind: tuple[int, float] | None = None) -> None:
        if self._is_wanted and not self.world.has_ended:
            self.start(behind=behind)

    async def bury(self) -> None:
        """End everything that is left of the process, without any effect on the world."""
        self._is_wanted = False
        if self._link is not None:
            self._link.close()
        loop = simulation_loop()
        for incarnation in range(1, self.incarnation + 1):
            name = f"{self.name}.{incarnation}"
            loop.thaw(name)
            for _ in range(100):  # a `finally` may wait again
                left = [task for task in loop.tasks_of(name) if not task.done()]
                if not left:
                    break
                for task in left:
                    task.cancel()
                await asyncio.sleep(0)

    # -- its life ----------------------------------------------------------------------------------------------

    async def _live(self, random: Random, behind: tuple[int, float] | None) -> None:
        options: dict[str, Any] = {
            "preflight": Preflight.OFF,
            "blocked_loop_warning": None,
            "grace_period": timedelta(seconds=30),
            "leader_election": self.leader_election,
            **self.options,
        }
        config = self.accesses.recorded(self._config(random, behind))
        async with ProgramManager(config, random=random, **options) as manager:
            manager.webhook_options = WebhookOptions(enabled=False)
            manager.apiserver_options = APIServerOptions(enabled=False)
            run_setup(self.setup, manager, "the program")
            reads = CacheReads(manager.cache)
            for controller in manager.controllers:
                self._observe(controller, reads)
            self.manager = manager
            await manager.run(handle_signals=False)

    def _config(self, random: Random, behind: tuple[int, float] | None) -> Config:
        def wrap(carrier: Transport) -> Transport:
            link = NetworkLink(self.context_name, carrier, self.world.network, random)
            self._link = link
            return OperatorTransport(self.world, self, link, behind=behind)

        return dataclasses.replace(self.world.config, wrap_transport=wrap)

    def _done(self, task: asyncio.Task[None]) -> None:
        if self.state is ProcessState.KILLED or task is not self._task:
            return
        error = None if task.cancelled() else task.exception()
        self.state, self.manager = ProcessState.ENDED, None
        self.world.forget_process(self)
        text = "" if error is None else f"{type(error).__name__}: {error}"
        state = "ended" if error is None or isinstance(error, LeadershipLost) else "failed"
        self.world.note(ProcessChanged(process=self.name, state=state, text=text))
        if self._is_wanted and not self.world.has_ended:
            self.world.call_later(RESTART_AFTER, self._start_again)

    def _observe(self, controller: Controller, reads: CacheReads) -> None:
        """Note every reconcile of a controller, which is a point at which faults may happen."""
        inner = controller.reconciler.reconcile

        async def reconcile(request: Request) -> Result | None:
            name, key = controller.name, f"{request.namespace}/{request.name}".lstrip("/")
            causes = current_log_context().get("causes")
            found = causes if isinstance(causes, tuple) else ()
            await self.world.reconcile_starts(self, name, key, tuple(map(str, found)))
            result, error = "", ""
            try:
                outcome: Result | None = await inner(request)
                result = _text_of(outcome)
                self.world.note_requeue(outcome)
            except asyncio.CancelledError:
                result = "cancelled"
                raise
            except BaseException as raised:
                error = f"{type(raised).__name__}: {raised}"
                raise
            else:
                return outcome
            finally:
                entry = Reconciled(process=self.name, controller=name, request=key, result=result, error=error)
                entry.reads = reads.take(f"{name} {key}")
                self.world.reconcile_ended(self, entry)

        controller.reconciler.reconcile = reconcile  # type: ignore[method-assign]


def _text_of(result: Result | None) -> str:
    if result is None or result.requeue_after is None:
        return "done"
    return f"requeue after {result.requeue_after.total_seconds():g} s"
