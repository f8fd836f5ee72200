"""Aggregator: follows the APIServices, proxies the requests of remote ones and keeps their conditions."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

from pyctrl._metrics import MetricFamily, counter, gauge
from pyctrl._tasks import unwrapped
from pyctrl.apiserver._aggregator.aggregated_documents import AggregatedDocuments
from pyctrl.apiserver._aggregator.api_service import APIService
from pyctrl.apiserver._aggregator.availability import Availability, AvailableConditionController
from pyctrl.apiserver._aggregator.discovery_manager import DiscoveryManager
from pyctrl.apiserver._aggregator.proxy_handler import ProxyHandler
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._meta.system_fields import timestamp
from pyctrl.apiserver._request.request_context import RequestContext
from pyctrl.apiserver._storage.storage import Storage, StoredObject, WatchCacheEvent
from pyctrl.apiserver._user import User

__all__ = ["Aggregator"]

RESYNC_SECONDS = 30.0  # between checks of an APIService without events; kube-aggregator's resync period
FIRST_RETRY_SECONDS = 0.005  # after a failed check, doubled up to RESYNC_SECONDS, as in kube-aggregator
REFRESH_SECONDS = 60.0  # between fetches of discovery documents; kube-aggregator's discoveryRefreshInterval

_PATH = "/apis/apiregistration.k8s.io/v1/apiservices"
_LEGACY = ("", "v1")  # of APIService `v1.`, whose paths begin with /api
_SERVICE_LABEL = "kubernetes.io/service-name"

#: Sends a request with a method, a path and an object as the administrator, and returns the response.
ObjectWriter = Callable[[str, str, dict[str, Any]], Awaitable[Response]]


class Aggregator:
    """Serves the group versions of APIServices with a service.

    A request is proxied while the APIService has the condition Available. `running` keeps this condition and the
    discovery documents; while it does not run, they stay as they are.

    Args:
        write: Writes objects to this server.
    """

    def __init__(self, storage: Storage, proxy: ProxyHandler, write: ObjectWriter) -> None:
        self._proxy, self._write = proxy, write
        self._checks = AvailableConditionController(storage, proxy)
        self._discovery = DiscoveryManager(proxy)
        self._all: dict[str, APIService] = {}  # by name, including those that this server serves itself
        #: Adds remote group versions to the documents of this server.
        self.documents = AggregatedDocuments(self._all, self._discovery)
        self._remote: dict[tuple[str, str], APIService] = {}
        self._due: dict[str, asyncio.Event] = {}  # set when an APIService is to be checked
        self._changed = asyncio.Event()  # set when there are other remote APIServices
        self._running = asyncio.Lock()
        self._unavailable: Counter[tuple[str, str]] = Counter()  # how often, by name and reason
        self._stored = storage.collection("apiregistration.k8s.io", "apiservices")
        for stored in self._stored.current(""):
            self._observe(stored, None)
        self._stored.listen(lambda event: self._observe(event.current, event.previous))
        storage.collection("", "services").listen(self._observe_service)
        storage.collection("discovery.k8s.io", "endpointslices").listen(self._observe_service)

    # -- requests ----------------------------------------------------------------------------------------------

    def find(self, path: str) -> APIService | None:
        """Return the remote APIService that serves a path, None if this server does."""
        if not self._remote:
            return None
        parts = path.split("/", 4)[1:]
        if parts[:3] == ["openapi", "v3", "apis"]:
            return self._with_openapi(path.removeprefix("/openapi/v3/"))
        if parts[0] == "api":
            return self._remote.get(_LEGACY)
        if len(parts) < 3 or parts[0] != "apis":
            return None
        return self._remote.get((parts[1], parts[2]))

    def _with_openapi(self, path: str) -> APIService | None:
        """Return the remote APIService that serves an OpenAPI v3 document, which this server has not converted."""
        found = self._discovery.found
        return next(
            (
                each
                for each in self._remote.values()
                if path in found[each.name].openapi_v3 and not found[each.name].converted
            ),
            None,
        )

    async def handle(self, api: APIService, context: RequestContext, user: User) -> Response:
        """Proxy a request to the service of an APIService."""
        return await self._proxy.handle(api, context, user)

    def collect_metrics(self) -> Iterator[MetricFamily]:
        """Return which APIServices are unavailable, and how often they became it."""
        yield gauge(
            "aggregator_unavailable_apiservice",
            "[ALPHA] Gauge of APIServices which are marked as unavailable broken down by APIService name.",
            *(({"name": each.name}, 0 if each.is_available else 1) for each in self._all.values()),
        )
        yield counter(
            "aggregator_unavailable_apiservice_total",
            "[ALPHA] Counter of APIServices which are marked as unavailable broken down by APIService name and reason.",
            *(({"name": name, "reason": reason}, count) for (name, reason), count in self._unavailable.items()),
        )

    # -- changes -----------------------------------------------------------------------------------------------

    def _observe(self, current: StoredObject | None, previous: StoredObject | None) -> None:
        stored = current or previous
        assert stored is not None  # an event has at least one state
        before = self._all.pop(stored.name, None)
        api = None if current is None else APIService.from_object(current.decode())
        if api is not None:
            self._all[api.name] = api
        if api is None or api.service is None:
            self._forget(before)
            return
        self._remote[api.group, api.version] = api
        if not api.serves_like(before):
            self._discovery.expect(api)
            self._wake(api.name)

    def _forget(self, api: APIService | None) -> None:
        if api is not None and api.service is not None:
            self._remote.pop((api.group, api.version), None)
            self._discovery.forget(api.name)
            self._changed.set()

    def _observe_service(self, event: WatchCacheEvent) -> None:
        if not self._remote:
            return
        stored = event.current or event.previous
        assert stored is not None  # an event has at least one state
        names = {stored.name, stored.labels.get(_SERVICE_LABEL)}
        for api in self._remote.values():
            if api.service is not None and api.service.namespace == stored.namespace and api.service.name in names:
                self._wake(api.name)

    def _wake(self, name: str) -> None:
        self._due.setdefault(name, asyncio.Event()).set()
        self._changed.set()

    # -- conditions and discovery ------------------------------------------------------------------------------

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep conditions and discovery documents until the block ends. Of several blocks, one at a time is active."""
        with unwrapped():
            async with asyncio.TaskGroup() as group:
                running = group.create_task(self._run())
                try:
                    yield
                finally:
                    running.cancel()

    async def _run(self) -> None:
        async with self._running, asyncio.TaskGroup() as group:
            workers: dict[str, asyncio.Task[None]] = {}
            while True:
                self._changed.clear()
                remote = {each.name for each in self._remote.values()}
                for name in workers.keys() - remote:
                    workers.pop(name).cancel()
                    self._due.pop(name, None)
                for name in sorted(remote - workers.keys()):
                    workers[name] = group.create_task(self._maintain(name))
                await self._changed.wait()

    async def _maintain(self, name: str) -> None:
        """Check an APIService after each event and every RESYNC_SECONDS, sooner after a failed check.

        Its documents are fetched after an event, when its availability changes, and every REFRESH_SECONDS.
        """
        loop, failures, refreshed_at = asyncio.get_running_loop(), 0, -REFRESH_SECONDS
        due = self._due.setdefault(name, asyncio.Event())
        while True:
            is_event = due.is_set()
            due.clear()
            api = self._all.get(name)
            if api is None or api.service is None:
                return
            found = await self._checks.check(api)
            is_written = await self._set_condition(name, found)
            is_changed = api.is_available != found.is_available
            if is_event or is_changed or loop.time() - refreshed_at >= REFRESH_SECONDS:
                refreshed_at = loop.time() if await self._refresh(name) else -REFRESH_SECONDS
            failures = failures + 1 if found.is_retried or not is_written else 0
            delay = min(FIRST_RETRY_SECONDS * 2 ** min(failures, 20), RESYNC_SECONDS) if failures else RESYNC_SECONDS
            try:
                async with asyncio.timeout(delay):
                    await due.wait()
            except TimeoutError:
                pass

    async def _refresh(self, name: str) -> bool:
        api = self._all.get(name)
        return api is not None and await self._discovery.refresh(api)

    async def _set_condition(self, name: str, found: Availability) -> bool:
        """Write the condition Available if it differs; return False if it changed meanwhile.

        Its time changes with its status only.
        """
        stored = self._stored.find("", name)
        if stored is None:
            return True
        obj = stored.decode()
        conditions = obj.setdefault("status", {}).setdefault("conditions", [])
        before = next((each for each in conditions if each.get("type") == "Available"), None)
        if before is None:
            before = {"type": "Available"}
            conditions.append(before)
        condition = {"status": found.status, "reason": found.reason, "message": found.message}
        if condition.items() <= before.items():
            return True
        if before.get("status") != found.status:
            before["lastTransitionTime"] = timestamp()
        was_available = before.get("status") == "True"
        before.update(condition)
        response = await self._write("PUT", f"{_PATH}/{name}/status", obj)
        if response.status == HTTPStatus.OK and was_available and not found.is_available:
            self._unavailable[name, found.reason] += 1
        return response.status == HTTPStatus.OK
