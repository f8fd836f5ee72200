"""Notes what each reconcile reads from the cache: objects with their versions, names that were not found, lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyctrl.api import Key, as_object, kind_of
from pyctrl.cache import Cache
from pyctrl.simulation._operator_transport import running_reconcile

__all__ = ["CacheReads"]


class CacheReads:
    """The reads of the reconciles of one process. Reads outside of reconciles are not noted."""

    def __init__(self, cache: Cache) -> None:
        self._reads: dict[str, dict[str, None]] = {}  # by reconcile; a dict keeps their order
        self._find, self._list = cache.find, cache.list
        cache.find, cache.list = self._noted_find, self._noted_list  # type: ignore[method-assign]

    def take(self, reconcile: str) -> tuple[str, ...]:
        """Return and forget what a reconcile, ``CONTROLLER NAMESPACE/NAME``, has read."""
        return tuple(self._reads.pop(reconcile, ()))

    async def _noted_find(self, kind: Any, key: Key) -> Any:
        found = await self._find(kind, key)
        version = f"v{as_object(found).metadata.resource_version}" if found is not None else "missing"
        self._note(f"{kind_of(kind).kind} {key} {version}")
        return found

    async def _noted_list(self, kind: Any, **options: Any) -> Sequence[Any]:
        found = await self._list(kind, **options)
        self._note(f"{len(found)} {kind_of(kind).kind} in {options.get('namespace') or 'all namespaces'}")
        return found

    def _note(self, text: str) -> None:
        if reconcile := running_reconcile():
            self._reads.setdefault(reconcile, {})[text] = None
