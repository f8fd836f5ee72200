"""A controller for every cluster of a fleet: one each, that comes and goes with its cluster."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import Context, copy_context
from datetime import timedelta
from types import MappingProxyType

from pyctrl._log import log_context
from pyctrl._metrics import MetricFamily
from pyctrl._tasks import end
from pyctrl.controller._controller import Controller
from pyctrl.controller._managed_cluster import ManagedCluster
from pyctrl.controller._state import ControllerState
from pyctrl.rbac import Permission

__all__ = ["FleetController"]

log = logging.getLogger("pyctrl.controller")

#: Between lives of a controller that has failed: the clusters beside it go on, and so does the manager.
RESTART_SECONDS = (1.0, 60.0)


class FleetController:
    """Runs the same controller in each cluster of a fleet; made by the Builder, run by the manager.

    Each cluster has its own queue, workers and reconciler, so that none of them waits for another, and what a
    reconciler remembers is about one cluster. When a cluster leaves, its controller takes nothing in any more, finishes
    what it has begun within the fleet's grace period, and says what it drops. One that fails is run again after 1 to
    60 seconds.
    """

    def __init__(self, make: Callable[[ManagedCluster], Controller], blueprint: ManagedCluster) -> None:
        self._make = make
        prototype = make(blueprint)  # which finds mistakes of wiring now, and not when a cluster comes
        self.name: str = prototype.name
        #: What it needs in each cluster, declared under the name of the fleet, and what it needs elsewhere.
        self.rbac: tuple[Permission, ...] = prototype.rbac
        #: Whether it runs on the leader only.
        self.only_leader: bool = prototype.only_leader
        self._controllers: dict[str, Controller] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._context: Context = copy_context()
        self._asked_to_stop = asyncio.Event()

    @property
    def controllers(self) -> Mapping[str, Controller]:
        """The controllers of the clusters that are there, by the name of the cluster."""
        return MappingProxyType(self._controllers)

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return the numbers of all of them, each with the name of its cluster."""
        for controller in self._controllers.values():
            yield from controller.collect_metrics()

    # --- what the fleet tells ---

    def engage(self, cluster: ManagedCluster) -> None:
        """Make the controller of a cluster, whose informers begin at once, and run it if this runs."""
        controller = self._controllers[cluster.client.cluster] = self._make(cluster)
        self._start(controller)

    async def disengage(self, cluster: ManagedCluster, patience: timedelta | None) -> None:
        """Let the controller of a cluster end: in order for as long as ``patience`` lasts, then at once."""
        controller = self._controllers.pop(cluster.client.cluster, None)
        task = self._tasks.get(cluster.client.cluster)
        if controller is None or task is None:
            return
        if controller.state is not ControllerState.STOPPED:  # it waits to be run again
            controller.ask_to_stop()
            await asyncio.wait([task], timeout=None if patience is None else patience.total_seconds())
        await end([task])

    # --- its own life ---

    async def run(self) -> None:
        """Run the controllers of all clusters that are there and that come, until asked to stop."""
        self._asked_to_stop = asyncio.Event()
        self._context = copy_context()  # elected work is marked in it, and clusters are told of by who is not elected
        async with asyncio.TaskGroup() as self._group:
            try:
                for controller in self._controllers.values():
                    self._start(controller)
                await self._asked_to_stop.wait()
            finally:
                self._group = None

    def ask_to_stop(self) -> None:
        """Let each controller finish what it has begun; then `run` returns."""
        for controller in self._controllers.values():
            if controller.state not in (ControllerState.NOT_STARTED, ControllerState.STOPPED):
                controller.ask_to_stop()
        self._asked_to_stop.set()

    def _start(self, controller: Controller) -> None:
        if self._group is None or self._asked_to_stop.is_set():
            return
        name = f"{self.name} in {controller.cluster}"
        task = self._group.create_task(self._run_controller(controller), name=name, context=self._context.copy())
        self._tasks[controller.cluster] = task
        task.add_done_callback(lambda ended: self._forget(controller.cluster, ended))

    def _forget(self, cluster: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(cluster) is task:
            del self._tasks[cluster]

    async def _run_controller(self, controller: Controller) -> None:
        pause, longest = RESTART_SECONDS
        with log_context(cluster=controller.cluster):
            while True:
                try:
                    return await controller.run()
                except Exception as error:
                    facts = {"controller": controller.name, "error": str(error), "again_in_seconds": pause}
                    log.exception("A controller failed, running it again", extra=facts)
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._asked_to_stop.wait()
                        return None
                pause = min(longest, 2 * pause)
