"""Liveness and readiness of a manager, and the health probe server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from pyctrl.cache import Cache
from pyctrl.controller import Controller
from pyctrl.manager._clusters.connected_cluster import ConnectedCluster
from pyctrl.manager._runnables.runnable import CheckedRunnable, RunnableHandle
from pyctrl.manager._servers.bind_address import BindAddress
from pyctrl.manager._servers.checks import Checks, HealthAnswer, slug
from pyctrl.manager._servers.http_server import HttpServer

if TYPE_CHECKING:
    from aiohttp.web_request import BaseRequest
    from aiohttp.web_response import Response

__all__ = ["Health", "Heartbeat", "Liveness", "Watched", "cluster_troubles", "liveness", "readiness"]

BEAT_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Liveness:
    """When ``/healthz`` fails, so that kubelet restarts the container."""

    #: How long the event loop may delay the heartbeat, which is due each second. A blocked loop does not respond to
    #: probes at all, which kubelet treats the same.
    heartbeat: timedelta = timedelta(seconds=10)
    #: How long one reconcile may take. None: twice its controller's ``reconcile_timeout``, after which it should have
    #: been cancelled; no limit for controllers without one.
    reconcile: timedelta | None = None


class Watched(Protocol):
    """The attributes of a manager that its health depends on."""

    @property
    def not_ready(self) -> Mapping[str, str]:
        """The runnables that cannot work now, and why, by name."""
        ...

    @property
    def cache(self) -> Cache:
        """The cache of its own cluster."""
        ...

    @property
    def is_stopping(self) -> bool:
        """Whether it has been asked to stop."""
        ...

    @property
    def members(self) -> Iterable[RunnableHandle]:
        """Its runnables."""
        ...

    @property
    def controllers(self) -> Iterable[Controller]:
        """Its controllers, those in other clusters included."""
        ...

    @property
    def clusters(self) -> Mapping[str, ConnectedCluster]:
        """Its clusters by name; its own cluster is ``""``."""
        ...


class Heartbeat:
    """A task that runs each second, to measure the lag of the event loop."""

    def __init__(self) -> None:
        self._beat_at: float | None = None
        #: The delay of the last beat, and the longest delay so far, in seconds.
        self.lag: float = 0.0
        self.worst_lag: float = 0.0

    @property
    def age(self) -> float | None:
        """The seconds since the last beat; None before the first one, and after `run` has ended."""
        return None if self._beat_at is None else asyncio.get_running_loop().time() - self._beat_at

    async def run(self) -> None:
        """Beat until cancelled."""
        loop = asyncio.get_running_loop()
        try:
            while True:
                self._beat_at = loop.time()
                await asyncio.sleep(BEAT_SECONDS)
                self.lag = max(0.0, loop.time() - self._beat_at - BEAT_SECONDS)
                self.worst_lag = max(self.worst_lag, self.lag)
        finally:
            self._beat_at = None


class Health:
    """The health checks of a manager, and the server for them.

    Args:
        manager: the manager to check.
        options: when the manager counts as dead.
    """

    def __init__(self, manager: Watched, options: Liveness) -> None:
        self.heartbeat: Heartbeat = Heartbeat()
        self.live: Checks = Checks("healthz", lambda: liveness(manager, options, self.heartbeat.age))
        self.ready: Checks = Checks("readyz", lambda: readiness(manager), lambda: notes(manager))

    async def answer(self, path: str, query: Iterable[tuple[str, str]] = ()) -> HealthAnswer:
        """Return the response to a probe of ``/healthz`` or ``/readyz``, or of one check, ``/healthz/NAME``."""
        endpoint, _, name = path.strip("/").partition("/")
        checks = {each.endpoint: each for each in (self.live, self.ready)}.get(endpoint)
        if checks is None:
            return HealthAnswer(404, "not found; the paths are /healthz and /readyz\n")
        pairs = list(query)
        exclude = [value for key, value in pairs if key == "exclude"]
        return await checks.answer(name, is_verbose="verbose" in dict(pairs), exclude=exclude)

    def server(self, address: BindAddress) -> HttpServer:
        """Return the health probe server."""
        return HttpServer("health probe", address, self._respond, option="health_bind_address", has_reserve=True)

    async def _respond(self, request: BaseRequest) -> Response:
        from aiohttp.web_response import Response  # here: see HttpServer

        answer = await self.answer(request.path, request.query.items())
        headers = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache, private"}
        return Response(status=answer.status, text=answer.text, headers=headers)


def readiness(manager: Watched) -> dict[str, str]:
    """Return the findings of ``/readyz``: the manager, its caches, each controller, and other affected runnables."""
    problems = dict(manager.not_ready)
    start, caches = problems.pop("manager", ""), problems.pop("cache", "")
    if not any(informer.is_missed or informer.is_refused for informer in manager.cache.informers):
        caches = ""  # a watch is being resumed: the cached objects are complete, but older for a moment
    found = {"manager": "it is stopping" if manager.is_stopping else start, "caches": caches}
    for member in manager.members:
        if isinstance(member.runnable, Controller) and member.runnable.cluster:
            continue  # reported with its cluster
        if isinstance(member.runnable, Controller):
            found[f"controller-{slug(member.name)}"] = problems.pop(member.name, "")
        elif member.why_restarting:
            found[slug(member.name)] = problems.pop(member.name, member.why_restarting)
        elif isinstance(member.runnable, CheckedRunnable):
            found[slug(member.name)] = member.runnable.why_not_ready
        elif member.restarts is not None:
            found.setdefault(slug(member.name), "")
    return found | {f"rights-{slug(name)}": problem for name, problem in problems.items()}


def notes(manager: Watched) -> dict[str, str]:
    """Return problems that do not affect readiness: of other clusters, and of single objects."""
    unreadable = "; ".join(f"{kind}: {text}" for kind, text in manager.cache.unreadable.items())
    stalled = ", ".join(map(str, manager.cache.stalled))
    found = cluster_troubles(manager)
    if unreadable:
        found["cache-objects"] = unreadable
    if stalled:
        found["cache-progress"] = f"watches deliver no events although the server has newer versions: {stalled}"
    return found


def cluster_troubles(manager: Watched) -> dict[str, str]:
    """Return the problems of other clusters, which do not affect readiness: the own cluster still works."""
    return {f"cluster-{slug(name)}": cluster.trouble for name, cluster in manager.clusters.items() if name}


def liveness(manager: Watched, options: Liveness, heartbeat_age: float | None) -> dict[str, str]:
    """Return the findings of ``/healthz``, which need a restart: a blocked loop, dead workers, endless reconciles."""
    found = {"event-loop": ""}
    if heartbeat_age is not None and heartbeat_age > options.heartbeat.total_seconds():
        found["event-loop"] = f"the event loop has not run the heartbeat for {heartbeat_age:.1f} s"
    return found | {_check_name(each): _liveness_problem(each, options) for each in manager.controllers}


def _check_name(controller: Controller) -> str:
    name = f"controller-{slug(controller.name)}"
    return f"{name}-in-{slug(controller.cluster)}" if controller.cluster else name


def _liveness_problem(controller: Controller, options: Liveness) -> str:
    if not controller.state.is_at_work:
        return ""
    if (dead := controller.workers - controller.live_workers) > 0 and not controller.queue.is_closed:
        return f"{dead} of its {controller.workers} workers have died"
    timeout = controller.reconcile_timeout
    limit = options.reconcile or (2 * timeout if timeout is not None else None)
    longest = controller.queue.longest_working
    if limit is not None and longest > limit:
        return f"a reconcile has been running for {longest.total_seconds():.0f} s, more than {limit.total_seconds():g}"
    return ""
