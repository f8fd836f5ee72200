"""A controller in each cluster of a fleet."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import Context, copy_context
from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING

from pyctrl._log import log_context
from pyctrl._metrics import MetricFamily
from pyctrl._tasks import end
from pyctrl.controller._controller import Controller
from pyctrl.controller._managed_cluster import ManagedCluster
from pyctrl.controller._sharding.shard_key import ShardBy, ShardKey
from pyctrl.controller._state import ControllerState
from pyctrl.rbac import Permission

if TYPE_CHECKING:
    from pyctrl.controller._sharding.controller_shard import ShardAssignment

__all__ = ["FleetController"]

log = logging.getLogger("pyctrl.controller")

#: The first and the longest delay before a controller that has failed is run again.
RESTART_SECONDS = (1.0, 60.0)


class FleetController:
    """Runs the same controller in each cluster of a fleet. The Builder makes it, the manager runs it.

    Each cluster has its own queue, workers and reconciler, so that no cluster waits for another and the state of a
    reconciler is about one cluster. When a cluster leaves, its controller accepts no further requests, finishes its
    running reconciles within the fleet's grace period, and logs the requests that it drops. A controller that fails is
    run again after 1 to 60 seconds.
    """

    def __init__(self, make: Callable[[ManagedCluster], Controller], blueprint: ManagedCluster) -> None:
        self._make = make
        prototype = make(blueprint)  # finds mistakes of the wiring now, not when the first cluster joins
        self.name: str = prototype.name
        #: The permissions that it needs in each cluster, declared under the name of the fleet, and elsewhere.
        self.rbac: tuple[Permission, ...] = prototype.rbac
        #: Whether it runs on the leader only.
        self.only_leader: bool = prototype.only_leader
        #: Whether replicas may divide its requests.
        self.is_shareable: bool = prototype.is_shareable
        self._assignment: ShardAssignment | None = None
        self._key: ShardKey = ShardBy.UID
        self._controllers: dict[str, Controller] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._context: Context = copy_context()
        self._asked_to_stop = asyncio.Event()

    @property
    def controllers(self) -> Mapping[str, Controller]:
        """The controllers of the present clusters, by the name of the cluster."""
        return MappingProxyType(self._controllers)

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return the series of all controllers, each with the name of its cluster."""
        for controller in self._controllers.values():
            yield from controller.collect_metrics()

    def share(self, assignment: ShardAssignment, key: ShardKey) -> None:
        """Reconcile only the requests whose shard this replica has; called by its manager before it runs."""
        self._assignment, self._key, self.only_leader = assignment, key, False
        for controller in self._controllers.values():
            controller.share(assignment, key)

    # --- the clusters of the fleet ---

    def engage(self, cluster: ManagedCluster) -> None:
        """Make the controller of a cluster, whose informers start at once, and run it if this controller runs."""
        controller = self._controllers[cluster.client.cluster] = self._make(cluster)
        if self._assignment is not None:
            controller.share(self._assignment, self._key)
        self._start(controller)

    async def disengage(self, cluster: ManagedCluster, patience: timedelta | None) -> None:
        """Stop the controller of a cluster: gracefully within ``patience``, then at once."""
        controller = self._controllers.pop(cluster.client.cluster, None)
        try:
            await self._stop(controller, cluster.client.cluster, patience)
        finally:
            if controller is not None and controller.shard is not None and self._assignment is not None:
                self._assignment.release(controller.shard)

    async def _stop(self, controller: Controller | None, cluster: str, patience: timedelta | None) -> None:
        task = self._tasks.get(cluster)
        if controller is None or task is None:
            return
        if controller.state is not ControllerState.STOPPED:  # else it failed, and waits to be run again
            controller.ask_to_stop()
            await asyncio.wait([task], timeout=None if patience is None else patience.total_seconds())
        await end([task])

    # --- running ---

    async def run(self) -> None:
        """Run the controllers of all clusters, also of those that join later, until asked to stop."""
        self._asked_to_stop = asyncio.Event()
        self._context = copy_context()  # marks elected work; `engage` is called outside of it
        async with asyncio.TaskGroup() as self._group:
            try:
                for controller in self._controllers.values():
                    self._start(controller)
                await self._asked_to_stop.wait()
            finally:
                self._group = None

    def ask_to_stop(self) -> None:
        """Let each controller finish its running reconciles; then `run` returns."""
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
                    log.exception("Controller failed, it will be restarted", extra=facts)
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._asked_to_stop.wait()
                        return None
                pause = min(longest, 2 * pause)
