"""Watches of a storage that can only be read: its lists are compared at an interval."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import timedelta
from typing import Any, Generic, TypeVar

from pyctrl._clock import now
from pyctrl.api import Key, KubernetesObject, ListMeta
from pyctrl.apiserver import StorageRequest
from pyctrl.client import ObjectList
from pyctrl.errors import Expired
from pyctrl.extension_apiserver._storage import ChangeType, Lister

__all__ = ["PollingStorage"]

K = TypeVar("K", bound=KubernetesObject)

HISTORY = 1000  # changes that a watch can start after


class PollingStorage(Generic[K]):
    """Adds `get`, `watch` and resource versions to a storage with `list`.

        APIResource(Flavor, PollingStorage(Flavors(), interval=timedelta(seconds=10)))

    While there are watches, the storage is listed at the interval, for all namespaces, and compared with the last list.
    Every `list` and `get` lists it as well. An object has a new version when it differs. Versions begin with the time
    of the start in milliseconds, so that a client of an earlier process has to list again.

    Args:
        storage: The storage. Its list must not depend on the user or the selectors of the request.
        interval: How long a change may remain unseen by a watch.
    """

    def __init__(self, storage: Lister[K], *, interval: timedelta) -> None:
        self._storage, self._interval = storage, interval.total_seconds()
        self._version = self._oldest = int(now().timestamp() * 1000)
        self._objects: dict[Key, tuple[dict[str, Any], K]] = {}  # as it was listed, and with its version
        self._changes: list[tuple[int, ChangeType, K]] = []
        self._changed = asyncio.Event()
        self._listing = asyncio.Lock()  # an older list must not be recorded after a newer one
        self._listed_at = float("-inf")

    @property
    def rbac(self) -> Iterable[Any]:
        """The permissions that the storage declares."""
        found: Iterable[Any] = getattr(self._storage, "rbac", ())
        return found

    async def get(self, request: StorageRequest, name: str) -> K | None:
        """Return an object."""
        await self._refresh(request)
        found = self._objects.get(Key(request.namespace, name))
        return None if found is None else found[1]

    async def list(self, request: StorageRequest) -> ObjectList[K]:
        """Return the objects of a namespace, with the version of the list."""
        await self._refresh(request)
        found = [obj for key, (_, obj) in self._objects.items() if request.namespace in ("", key.namespace)]
        return ObjectList(found, ListMeta(resource_version=str(self._version)))

    async def watch(self, request: StorageRequest) -> AsyncIterator[tuple[ChangeType, K]]:
        """Yield the changes after a version."""
        position = int(request.resource_version or 0)
        if not position:
            listed = await self.list(request)
            for obj in listed:
                yield "ADDED", obj
            position = int(listed.resource_version)
        while True:
            if position < self._oldest:
                raise Expired(f"too old resource version: {position} ({self._oldest})")
            for version, type_, obj in [each for each in self._changes if each[0] > position]:
                position = version
                if request.namespace in ("", obj.metadata.namespace):
                    yield type_, obj
            try:
                async with asyncio.timeout(self._interval):
                    await self._changed.wait()
            except TimeoutError:
                await self._refresh(request, max_age=self._interval / 2)  # one list for several watches

    async def _refresh(self, request: StorageRequest, *, max_age: float = 0) -> None:
        """List the storage, and record what has changed, unless the last list is recent enough."""
        loop = asyncio.get_running_loop()
        async with self._listing:
            if loop.time() - self._listed_at < max_age:
                return
            listed = {obj.key: obj for obj in await self._storage.list(StorageRequest(user=request.user))}
            self._listed_at = loop.time()
            self._compare(listed)

    def _compare(self, listed: Mapping[Key, K]) -> None:
        before, self._objects = self._objects, {}
        for key, obj in listed.items():
            wire, known = obj.to_wire(), before.get(key)
            if known is not None and known[0] == wire:
                self._objects[key] = known
            else:
                self._objects[key] = wire, self._record("ADDED" if known is None else "MODIFIED", obj)
        for key in before.keys() - listed.keys():
            self._record("DELETED", before[key][1].model_copy(deep=True))

    def _record(self, type_: ChangeType, obj: K) -> K:
        self._version += 1
        self._changed.set()
        self._changed = asyncio.Event()
        obj.metadata.resource_version = str(self._version)
        self._changes.append((self._version, type_, obj))
        if len(self._changes) > HISTORY:
            self._oldest = self._changes.pop(0)[0]
        return obj
