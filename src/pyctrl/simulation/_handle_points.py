"""Points between two awaits: each iteration of the event loop in which a process of the operator does something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyctrl.simulation._loop import SimulationLoop, simulation_loop
from pyctrl.simulation._process import ProcessState
from pyctrl.simulation._schedule import Occasion

if TYPE_CHECKING:
    from pyctrl.simulation._world import World

__all__ = ["HandlePoints"]


class HandlePoints:
    """Reaches a point of `Occasion.HANDLE` before each iteration in which a process runs, if a fault may be there."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._loop: SimulationLoop = simulation_loop()
        self._seen: dict[str, int] = {}

    def begin(self) -> None:
        """Count from now on."""
        self._loop.on_iteration = self._iterate

    def _iterate(self, counts: dict[str, int]) -> None:
        world, injector = self._world, self._world.injector
        for process in world.processes:
            name = process.context_name
            count = counts.get(name, 0)
            if count == self._seen.get(name, 0) or process.state is not ProcessState.RUNNING:
                continue
            self._seen[name] = count
            if not injector.wants_handles:
                self._loop.on_iteration = None  # a run has thousands, so they are counted only for a reason
                return
            _, faults = injector.reached(Occasion.HANDLE, process.name, process.name)
            for fault in faults:
                world.faults.apply(fault, process)
