"""Faults of a world: of its API server, of the view of its processes, of their clocks and of their votes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING

from pyctrl.client import HttpRequest
from pyctrl.errors import ConnectionFailed
from pyctrl.simulation._history import ObjectId
from pyctrl.simulation._loop import simulation_loop
from pyctrl.simulation._process import RESTART_AFTER, Process, ProcessState
from pyctrl.simulation._schedule import Fault, FaultKind, Occasion
from pyctrl.simulation._step_faults import MEDDLING

if TYPE_CHECKING:
    from pyctrl.simulation._world import World

__all__ = ["LEASE", "WorldFaults"]

LEASE = "simulation"
BEHIND_FOR = 20.0  # seconds; kube-apiserver's watch cache is behind by seconds at most, unless it is partitioned
HIDDEN_FOR = 60.0  # seconds until a hidden event is given up
VOTES_CUT_FOR = 120.0  # seconds; a replica that is alone gets its Lease again

OF_ONE = frozenset({FaultKind.LOSE_LEADERSHIP, FaultKind.FREEZE})
OF_WORLD = frozenset({FaultKind.RESTART_SERVER, FaultKind.RESTORE_BACKUP, FaultKind.COMPACT, FaultKind.JUMP_CLOCK})


class WorldFaults:
    """What is wrong in a world at present, and what a scenario can do to it.

    A scenario calls `restart_server`, `restore_backup`, `compact` and `jump_clock`. The rest is what schedules do.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        #: Does what a fault at a step of the scenario asks for, if it is meddling.
        self.on_step_fault: Callable[[Fault], Awaitable[None]] | None = None
        #: Whether a user changed objects of the operator, which may notice it only when it looks again.
        self.has_meddled: bool = False
        self._hidden: dict[tuple[str, str], ObjectId] = {}
        self._stale: dict[str, float] = {}
        self._votes_cut: set[str] = set()
        self._lasts_until = 0.0
        self._version_at_rest = world.server.storage.version
        self._backup = world.server.storage.backup()

    # -- how long they last ------------------------------------------------------------------------------------

    @property
    def are_lasting(self) -> bool:
        """Whether a fault that lasts is not over: events are held back, or a process cannot vote or is frozen."""
        frozen = any(process.state is ProcessState.FROZEN for process in self._world.processes)
        return self._world.now < self._lasts_until or bool(self._hidden) or bool(self._votes_cut) or frozen

    def last_until(self, when: float) -> None:
        """Note that a fault lasts until a time."""
        self._lasts_until = max(self._lasts_until, when)

    def note_rest(self) -> None:
        """Note that a step of the scenario is over: a server that is behind shows this state."""
        self._version_at_rest = self._world.server.storage.version

    def note_change(self, target: ObjectId, by: str) -> None:
        """Note a change of an object; it may end what is hidden."""
        if by == "user":
            self._backup = self._world.server.storage.backup()
        for key, held in list(self._hidden.items()):
            if held == target:
                self._unhide(key)

    # -- faults ------------------------------------------------------------------------------------------------

    def apply(self, fault: Fault, process: Process) -> None:
        """Do what a fault of the server, the network or a whole process asks for; others are done where they happen."""
        match fault.kind:
            case FaultKind.CRASH:
                process.kill()
            case FaultKind.STALE:
                self._stale[process.name] = self._world.now + fault.seconds
                self.last_until(self._stale[process.name])
            case FaultKind.LOSE_LEADERSHIP:
                self.cut_votes(process)
            case FaultKind.TEAR:
                process.link.tear()
            case FaultKind.RESTART_SERVER:
                self.restart_server()
            case FaultKind.RESTORE_BACKUP:
                self.restore_backup()
            case FaultKind.COMPACT:
                self.compact()
            case FaultKind.JUMP_CLOCK:
                self.jump_clock(timedelta(seconds=fault.seconds))
            case FaultKind.FREEZE if fault.point.occasion is not Occasion.WRITE:
                process.freeze(fault.seconds)

    async def apply_at_step(self, fault: Fault) -> None:
        """Do what a fault at a step of the scenario asks for."""
        self._world.touch()
        if fault.kind is FaultKind.TIME_TRAVEL:
            for process in self._world.processes:
                process.kill(behind=self.behind())
        elif self.on_step_fault is not None and fault.kind in MEDDLING:
            self.has_meddled = True
            await self.on_step_fault(fault)
        else:
            for process in self._world.processes[:1] if fault.kind in OF_ONE else self._world.processes:
                self.apply(fault, process)
                if fault.kind in OF_WORLD:
                    break

    def behind(self) -> tuple[int, float]:
        """Return the version and the seconds of a server that is behind: its state before the current step."""
        self.last_until(self._world.now + BEHIND_FOR + RESTART_AFTER)
        return self._version_at_rest, BEHIND_FOR

    def stale_until(self, process: Process) -> float:
        """Return the time until which no event reaches a process."""
        return self._stale.get(process.name, 0.0)

    def compact(self) -> None:
        """Break all watches and drop the server's history, so that they cannot resume."""
        for process in self._world.processes:
            if process.is_alive:
                process.link.tear()
        self._world.server.compact()

    def restart_server(self, seconds: float = 5.0) -> None:
        """Let the API server be away for some seconds; it keeps its objects, and loses its history for watches."""
        self.last_until(self._world.now + seconds)
        for process in self._world.processes:
            if process.is_alive:
                process.link.cut()
                self._world.call_later(seconds, process.link.heal)
        self._world.server.compact()

    def restore_backup(self, seconds: float = 5.0) -> None:
        """Let the API server come back with its objects as they were after the last write of the user."""
        self.restart_server(seconds)
        with self._world.acting_as_user():
            self._world.server.storage.restore(self._backup)

    def jump_clock(self, by: timedelta) -> None:
        """Set the wall clock of all processes of the operator forward, or back."""
        skew = simulation_loop().skew
        for process in self._world.processes:
            name = process.context_name
            skew[name] = skew.get(name, timedelta(0)) + by

    def hide(self, process: Process, target: ObjectId) -> None:
        """Keep a process from watching a resource until an object has changed again; then it has to list."""
        key = process.name, target.resource
        self._hidden[key] = target
        self._world.call_later(HIDDEN_FOR, lambda: self._unhide(key))

    def _unhide(self, key: tuple[str, str]) -> None:
        if self._hidden.pop(key, None) is not None:
            plural, _, group = key[1].partition(".")
            self._world.server.storage.collection(group, plural).compact(self._world.server.storage.version)

    def raise_if_hidden(self, resource: str, process: Process, request: HttpRequest) -> None:
        """Refuse a watch of a resource that is hidden from a process.

        Raises:
            ConnectionFailed: It is hidden.
        """
        if (process.name, resource) in self._hidden:
            raise ConnectionFailed(f"simulation: no connection for {request}")

    # -- leadership --------------------------------------------------------------------------------------------

    def holder_of_lease(self) -> str:
        """Return the holder that the operator's Lease names, or ""."""
        stored = self._world.server.storage.collection("coordination.k8s.io", "leases").find("default", LEASE)
        return "" if stored is None else str(stored.decode()["spec"].get("holderIdentity") or "")

    def cut_votes(self, process: Process) -> None:
        """Keep a process from renewing its Lease until another one holds it, or for `VOTES_CUT_FOR`."""
        self._votes_cut.add(process.name)
        self._world.call_later(VOTES_CUT_FOR, lambda: self._votes_cut.discard(process.name))

    def is_lease_link_cut(self, process: Process) -> bool:
        """Return whether a process cannot reach the Lease."""
        if process.name in self._votes_cut and self.holder_of_lease() not in ("", process.name):
            self._votes_cut.discard(process.name)
        return process.name in self._votes_cut
