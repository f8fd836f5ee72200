"""Whether a manager lives and is ready: what it finds about itself, and the server that tells kubelet."""

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
    """From when on a manager counts as dead, so that ``/healthz`` asks for a restart."""

    #: How long the event loop may go without a turn for the heartbeat, which wants one each second. A loop that stands
    #: still answers no probe either, and kubelet counts that the same.
    heartbeat: timedelta = timedelta(seconds=10)
    #: How long one reconcile may take. None: twice its controller's ``reconcile_timeout``, at which it should have
    #: been cancelled, and for as long as it takes where there is none.
    reconcile: timedelta | None = None


class Watched(Protocol):
    """What health needs to know of a manager."""

    @property
    def not_ready(self) -> Mapping[str, str]:
        """Who cannot do its work, and why, by name."""
        ...

    @property
    def cache(self) -> Cache:
        """Its copy of the cluster."""
        ...

    @property
    def is_stopping(self) -> bool:
        """Whether it has been asked to stop."""
        ...

    @property
    def members(self) -> Iterable[RunnableHandle]:
        """What it runs."""
        ...

    @property
    def controllers(self) -> Iterable[Controller]:
        """Its controllers, those of other clusters among them."""
        ...

    @property
    def clusters(self) -> Mapping[str, ConnectedCluster]:
        """Its clusters by name; its own one is ``""``."""
        ...


class Heartbeat:
    """Takes note each second that the event loop gives everybody a turn."""

    def __init__(self) -> None:
        self._beat_at: float | None = None
        #: How late the last beat was, and the worst of all, in seconds.
        self.lag: float = 0.0
        self.worst_lag: float = 0.0

    @property
    def age(self) -> float | None:
        """How many seconds ago the last beat was; None before the first, or when it has ended."""
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
    """The checks of a manager, and, where it has an address, the server that answers for them.

    Args:
        manager: whose health it is.
        options: when it counts as dead.
    """

    def __init__(self, manager: Watched, options: Liveness) -> None:
        self.heartbeat: Heartbeat = Heartbeat()
        self.live: Checks = Checks("healthz", lambda: liveness(manager, options, self.heartbeat.age))
        self.ready: Checks = Checks("readyz", lambda: readiness(manager), lambda: notes(manager))

    async def answer(self, path: str, query: Iterable[tuple[str, str]] = ()) -> HealthAnswer:
        """Answer a probe: ``/healthz`` or ``/readyz``, alone or followed by the name of a check."""
        endpoint, _, name = path.strip("/").partition("/")
        checks = {each.endpoint: each for each in (self.live, self.ready)}.get(endpoint)
        if checks is None:
            return HealthAnswer(404, "there is /healthz and /readyz\n")
        pairs = list(query)
        exclude = [value for key, value in pairs if key == "exclude"]
        return await checks.answer(name, is_verbose="verbose" in dict(pairs), exclude=exclude)

    def server(self, address: BindAddress) -> HttpServer:
        """Return what serves the answers."""
        return HttpServer("health probe", address, self._respond, option="health_bind_address", has_reserve=True)

    async def _respond(self, request: BaseRequest) -> Response:
        from aiohttp.web_response import Response  # here: see HttpServer

        answer = await self.answer(request.path, request.query.items())
        headers = {"X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache, private"}
        return Response(status=answer.status, text=answer.text, headers=headers)


def readiness(manager: Watched) -> dict[str, str]:
    """Find out who is not ready: the manager, its caches, each controller by name, and what else lacks rights."""
    problems = dict(manager.not_ready)
    start, caches = problems.pop("manager", ""), problems.pop("cache", "")
    if not any(informer.is_missed or informer.is_refused for informer in manager.cache.informers):
        caches = ""  # a watch that is being taken up again: what is here is older for a moment, and not missing
    found = {"manager": "it is stopping" if manager.is_stopping else start, "caches": caches}
    for member in manager.members:
        if isinstance(member.runnable, Controller) and member.runnable.cluster:
            continue  # it counts for its cluster
        if isinstance(member.runnable, Controller):
            found[f"controller-{slug(member.name)}"] = problems.pop(member.name, "")
        elif member.why_down:
            found[slug(member.name)] = problems.pop(member.name, member.why_down)
        elif isinstance(member.runnable, CheckedRunnable):
            found[slug(member.name)] = member.runnable.why_not_ready
        elif member.restarts is not None:
            found.setdefault(slug(member.name), "")
    return found | {f"rights-{slug(name)}": problem for name, problem in problems.items()}


def notes(manager: Watched) -> dict[str, str]:
    """Find out what is wrong that lets the manager do its work all the same: other clusters, single objects."""
    unreadable = "; ".join(f"{kind}: {text}" for kind, text in manager.cache.unreadable.items())
    stalled = ", ".join(map(str, manager.cache.stalled))
    found = cluster_troubles(manager)
    if unreadable:
        found["cache-objects"] = unreadable
    if stalled:
        found["cache-progress"] = f"watches bring nothing although the server has newer versions: {stalled}"
    return found


def cluster_troubles(manager: Watched) -> dict[str, str]:
    """Find out what is wrong with other clusters; that is no reason to get no requests: home goes on."""
    return {f"cluster-{slug(name)}": cluster.trouble for name, cluster in manager.clusters.items() if name}


def liveness(manager: Watched, options: Liveness, heartbeat_age: float | None) -> dict[str, str]:
    """Find out what only a restart will mend: an event loop that stands still, dead workers, endless reconciles."""
    found = {"event-loop": ""}
    if heartbeat_age is not None and heartbeat_age > options.heartbeat.total_seconds():
        found["event-loop"] = f"the event loop has given the heartbeat no turn for {heartbeat_age:.1f} s"
    return found | {_check_of(each): _illness(each, options) for each in manager.controllers}


def _check_of(controller: Controller) -> str:
    name = f"controller-{slug(controller.name)}"
    return f"{name}-in-{slug(controller.cluster)}" if controller.cluster else name


def _illness(controller: Controller, options: Liveness) -> str:
    if not controller.state.is_at_work:
        return ""
    if (dead := controller.workers - controller.live_workers) > 0 and not controller.queue.is_closed:
        return f"{dead} of its {controller.workers} workers have died"
    timeout = controller.reconcile_timeout
    limit = options.reconcile or (2 * timeout if timeout is not None else None)
    longest = controller.queue.longest_working
    if limit is not None and longest > limit:
        return f"a reconcile has been going on for {longest.total_seconds():.0f} s, more than {limit.total_seconds():g}"
    return ""
