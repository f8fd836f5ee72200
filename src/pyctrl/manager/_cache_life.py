"""The cache of a manager, as one of the things that it runs."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from pyctrl._tasks import unwrapped
from pyctrl.cache import Cache
from pyctrl.controller import OnSyncFailure
from pyctrl.rbac import Permission

__all__ = ["CacheLife"]


class CacheLife:
    """The cache as a runnable: ready when everything known so far has been listed, or need not be waited for."""

    name = "cache"

    def __init__(self, cache: Cache, sync_timeout: timedelta, on_sync_failure: OnSyncFailure, *, is_ours: bool) -> None:
        self._cache = cache
        self._sync_timeout = sync_timeout
        self._on_sync_failure = on_sync_failure
        self._is_ours = is_ours

    @property
    def rbac(self) -> tuple[Permission, ...]:
        return self._cache.rbac

    async def run(self) -> None:
        with unwrapped():
            async with asyncio.TaskGroup() as group:
                if self._on_sync_failure is OnSyncFailure.END:
                    group.create_task(self._cache.wait_for_sync(self._sync_timeout, even_forbidden=False), name="sync")
                await (self._cache.run() if self._is_ours else asyncio.get_running_loop().create_future())

    async def wait_until_ready(self) -> None:
        await self._cache.wait_until_settled(self._sync_timeout)
