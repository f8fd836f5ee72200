"""The operator as a process that is started, killed and restarted with only the state on the server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from random import Random
from typing import Any

from examples.podset.podset import PodSet, add_podset
from pyctrl.api import Key, KindLike
from pyctrl.cache import Created, Deleted, KindOptions, Selector, Updated
from pyctrl.client import Client, InProcessTransport
from pyctrl.cluster import Cluster
from pyctrl.controller import Controller, Request, Result
from pyctrl.errors import ControllerError, GracePeriodExceeded, NotSynced
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import ConfigMap, Pod
from pyctrl.manager import Group, Manager
from pyctrl.testing import FaultyTransport, RandomFaults, Rule
from tests.simulation._births import Births
from tests.simulation._flock import Flock, add_flocks
from tests.simulation._trace import Trace
from tests.simulation._wire import Socket, Wire

KINDS: tuple[type[Any], ...] = (PodSet, Deployment, Pod, Flock, ConfigMap)
NAMESPACES = ("default", "other")

SHARED: dict[type[Any], str] = {ConfigMap: "flock", Pod: "app=podSet"}  # labels of objects that may be watched twice

# What an operator may die of: a server that it cannot reach for longer than it cares to wait.
HONEST_DEATHS = (NotSynced, ControllerError, GracePeriodExceeded)


class Mirror:
    """Subscriber of one kind that checks that each change is a valid successor."""

    def __init__(self, manager: Manager, kind: KindLike) -> None:
        self._informer = manager.cache.informer(kind)
        #: Uid and version of each object, as told.
        self.objects: dict[Key, tuple[str, int]] = {}
        self._left: dict[str, int] = {}  # by uid, the version at which the object left

    async def run(self) -> None:
        """Receive changes until cancelled."""
        with self._informer.subscribe() as changes:
            async for change in changes:
                match change:
                    case Created(new):
                        assert new.key not in self.objects, f"{new.key} is created twice"
                        # it may leave one selector and appear in another, but never in an older state
                        assert new.version >= self._left.get(new.uid, 0), f"{new.key} comes back from the dead"
                        self.objects[new.key] = (new.uid, new.version)
                    case Updated(old, new):
                        assert self.objects.get(new.key) == (old.uid, old.version), f"{new.key} was not so before"
                        assert old.uid == new.uid, f"{new.key} is another object"
                        assert old.version < new.version, f"{new.key} goes back in time"
                        self.objects[new.key] = (new.uid, new.version)
                    case Deleted(old):
                        assert self.objects.pop(old.key)[0] == old.uid, f"{old.key} was another object"
                        self._left[old.uid] = old.version


class Process:
    """One run of the operator."""

    def __init__(
        self, cluster: Cluster, random: Random, random_faults: RandomFaults, births: Births, trace: Trace
    ) -> None:
        self._random = random
        self._busy: set[tuple[str, Request]] = set()
        self._manager: Manager | None = None
        self.mirrors: dict[KindLike, Mirror] = {}
        self.wire = Wire(InProcessTransport(cluster.server), random, births)
        self.faults = FaultyTransport(self.wire, random_faults=random_faults)
        self.socket = Socket(self.faults, "operator", trace, births)
        self.task = asyncio.create_task(self._live(), name="operator")

    @property
    def manager(self) -> Manager:
        """The manager, once it is created."""
        assert self._manager is not None, "the operator has not begun"
        return self._manager

    def ask_to_stop(self) -> None:
        """Request a graceful stop, or cancel a process that has hardly started."""
        if self._manager is None:
            self.task.cancel()
        else:
            self._manager.ask_to_stop()

    async def _live(self) -> None:
        grace = self._random.choice((0.0, 5.0, 30.0))
        some = self._random.choice((None, NAMESPACES))  # one watch for all namespaces, or one for each
        kinds: dict[KindLike, KindOptions] = {kind: self._draw_options(kind) for kind in KINDS}
        client = Client(self.socket, random=self._random)
        async with Manager(
            client=client, random=self._random, namespaces=some, kinds=kinds, grace_period=timedelta(seconds=grace)
        ) as self._manager:
            for add in (add_podset, add_flocks):
                self._guard(add(self._manager))
            self._manager.cache.add_index(ConfigMap, "flock", lambda bird: [bird.metadata.labels.get("flock", "")])
            for kind in KINDS:
                self.mirrors[kind] = Mirror(self._manager, kind)
                self._manager.add(self.mirrors[kind].run, group=Group.SERVERS)  # before the first list
            await self._manager.run(handle_signals=False)

    def _draw_options(self, kind: type[Any]) -> KindOptions:
        """Watch a kind once, or twice in parts, of which one may be more recent than the other."""
        twice = (Selector(), Selector(labels=SHARED[kind])) if kind in SHARED and self._random.random() < 0.5 else ()
        return KindOptions(selectors=twice, strip_managed_fields=self._random.random() < 0.5)

    def _guard(self, controller: Controller) -> None:
        """Check that no request is reconciled twice at the same time."""
        reconcile: Callable[[Request], Awaitable[Result | None]] = controller.reconciler.reconcile

        async def guarded(request: Request) -> Result | None:
            key = (controller.name, request)
            assert key not in self._busy, f"two reconciles of {key} at once"
            self._busy.add(key)
            try:
                return await reconcile(request)
            finally:
                self._busy.discard(key)

        controller.reconciler.reconcile = guarded  # type: ignore[method-assign]


class Operator:
    """Runs one process after another."""

    def __init__(
        self, cluster: Cluster, random: Random, random_faults: RandomFaults, births: Births, trace: Trace
    ) -> None:
        self._parts = (cluster, random, random_faults, births, trace)
        self._random, self._births, self._trace = random, births, trace
        self._outage: Rule | None = None
        self.process: Process | None = None

    @property
    def running(self) -> Process:
        """The running process, if any."""
        assert self.process is not None, "the operator does not run"
        return self.process

    def start(self) -> None:
        """Start a process unless one runs."""
        if self.process is None:
            self._trace.say("operator starts")
            self._births.begin()
            self.process = Process(*self._parts)
            self._apply_outage()

    async def kill(self) -> None:
        """Kill the process; none of its later actions reach the server."""
        if self.process is None:
            return
        self._trace.say("operator is killed")
        process, self.process = self.process, None
        process.socket.cut()
        while not process.task.done():
            process.task.cancel()
            await asyncio.sleep(0)
        self._account_for(process)

    async def stop(self) -> None:
        """Stop the process gracefully."""
        if self.process is not None:
            self._trace.say("operator is asked to stop")
            process, self.process = self.process, None
            process.ask_to_stop()
            await asyncio.wait([process.task])
            self._account_for(process)

    def look_after(self) -> None:
        """Restart a process that has exited with an accepted error."""
        if self.process is None or not self.process.task.done():
            return
        error = self.process.task.exception()
        assert error is not None, "the operator has ended and nobody knows why"
        self._excuse(error)
        self.process = None
        self.start()

    def outage(self, rule: Rule | None) -> None:
        """Block all requests and break open streams, or unblock them."""
        self._outage = rule
        self._apply_outage()

    def tear(self) -> None:
        """Break all open streams."""
        if self.process is not None:
            self._trace.say("the wire is torn")
            self.process.wire.tear()

    def _apply_outage(self) -> None:
        if self.process is not None:
            self.process.faults.clear()
            if self._outage is not None:
                self.process.faults.add(self._outage)
                self.process.wire.tear()

    def _account_for(self, process: Process) -> None:
        if not process.task.cancelled() and (error := process.task.exception()) is not None:
            self._excuse(error)

    def _excuse(self, error: BaseException) -> None:
        self._trace.say(f"operator has ended: {type(error).__name__}: {error}")
        if not isinstance(error, HONEST_DEATHS):
            raise error
