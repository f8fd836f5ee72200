"""The client of reconcilers: reads from the cache, writes to the server."""

from __future__ import annotations

from typing import Any, Self, TypeVar

from pyctrl.api import Key, Kind, ObjectLike
from pyctrl.cache._cache import Cache
from pyctrl.client import Client, ClientOptions, Fields, Labels, ObjectList, Shards, VersionMatch, checked_key

__all__ = ["CachedClient"]

O = TypeVar("O", bound=ObjectLike)  # noqa: E741 - an object, typed or not


class CachedClient(Client):
    """A client whose `get`, `find` and `list` read from a cache, which includes this process's own writes.

    All other calls go to the server, and so do reads that only the server can answer: those with a resource version, a
    limit or a continue token, `pages`, `each`, `watch` and sub-resources. `live` always reads from the server. Clients
    derived from this one read from the cache, too, also when they impersonate another user.

    Args:
        cache: the cache to read from; it must have been made with ``client`` to see its writes.
        client: sends writes and other requests. Its owner closes it, or the close of this client does.
    """

    def __init__(self, cache: Cache, client: Client) -> None:
        super().__init__(client.connection, options=client.options)
        self.cache = cache
        #: The same client without the cache.
        self.live = client

    def with_options(self, options: ClientOptions) -> Self:
        """Return a client with other options that shares everything else with this one."""
        derived = super().with_options(options)
        derived.live = self.live.with_options(options)
        return derived

    async def get(self, kind: Kind[O], key: Key, *, resource_version: str | None = None) -> O:
        """Return an object, from the cache unless a version is given.

        Raises:
            NotFound: there is none.
            NotCovered, NotSynced: the cache cannot answer; see `Cache`.
        """
        if resource_version is not None:
            return await self.live.get(kind, key, resource_version=resource_version)
        return await self.cache.get(kind, await self._key(kind, key))

    async def find(self, kind: Kind[O], key: Key) -> O | None:
        """Return an object from the cache, or None when there is none. Raises NotCovered, NotSynced."""
        return await self.cache.find(kind, await self._key(kind, key))

    async def list(
        self,
        kind: Kind[O],
        *,
        namespace: str | None = None,
        labels: Labels = None,
        fields: Fields = None,
        shard_selector: Shards = None,
        index: tuple[str, str] | None = None,
        covered_only: bool = False,
        limit: int | None = None,
        continue_token: str | None = None,
        resource_version: str | None = None,
        resource_version_match: VersionMatch | None = None,
    ) -> ObjectList[O]:
        """Return the objects of a kind that match, from the cache; ``index``, ``covered_only`` as for `Cache.list`.

        With a shard selector, a limit, a continue token or a version the server answers, as for `Client.list`.

        Raises:
            NotCovered, NotSynced, IndexMissing: the cache cannot answer; see `Cache`.
        """
        live: dict[str, Any] = {
            "shard_selector": shard_selector,
            "limit": limit,
            "continue_token": continue_token,
            "resource_version": resource_version,
            "resource_version_match": resource_version_match,
        }
        if any(value is not None for value in live.values()):
            return await self.live.list(kind, namespace=namespace, labels=labels, fields=fields, **live)
        namespace = await self._requests.namespace_for(kind, namespace)
        found = await self.cache.list(
            kind, namespace=namespace, labels=labels, fields=fields, index=index, covered_only=covered_only
        )
        return ObjectList(found)

    async def _key(self, kind: Kind[Any], key: Key) -> Key:
        if type(key) is Key and not self.options.namespace:
            return key
        key = checked_key(kind, key)
        return Key(await self._requests.namespace_for(kind, key.namespace) or "", key.name)
