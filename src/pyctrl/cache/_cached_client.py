"""The client of reconcilers: reads from the cache, writes to the server."""

from __future__ import annotations

from typing import Any, Self, TypeVar, overload

from pyctrl.api import GroupVersionKind, Key, KindLike, KubernetesObject, Unstructured
from pyctrl.cache._cache import Cache
from pyctrl.client import Client, ClientOptions, Fields, Labels, ObjectList, VersionMatch, checked_key

__all__ = ["CachedClient"]

T = TypeVar("T", bound=KubernetesObject)


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
        self.cache = cache
        #: The same client without the cache.
        self.live = client
        self._share(client)

    def _share(self, client: Client) -> None:
        self._transport = client._transport  # noqa: SLF001 - see below
        self._take(client._calls)  # noqa: SLF001 - of its base class: one connection, one discovery, one set of observers

    def with_options(self, options: ClientOptions) -> Self:
        """Return a client with other options that shares everything else with this one."""
        return type(self)(self.cache, self.live.with_options(options))

    @overload
    async def get(self, kind: type[T], key: Key, *, resource_version: str | None = None) -> T: ...
    @overload
    async def get(self, kind: GroupVersionKind, key: Key, *, resource_version: str | None = None) -> Unstructured: ...
    async def get(self, kind: KindLike, key: Key, *, resource_version: str | None = None) -> Any:
        """Return an object, from the cache unless a version is given.

        Raises:
            NotFound: there is none.
            NotCovered, NotSynced: the cache cannot answer; see `Cache`.
        """
        if resource_version is not None:
            return await self.live.get(kind, key, resource_version=resource_version)
        return await self.cache.get(kind, await self._key(kind, key))

    @overload
    async def find(self, kind: type[T], key: Key) -> T | None: ...
    @overload
    async def find(self, kind: GroupVersionKind, key: Key) -> Unstructured | None: ...
    async def find(self, kind: KindLike, key: Key) -> Any:
        """Return an object from the cache, or None when there is none. Raises NotCovered, NotSynced."""
        return await self.cache.find(kind, await self._key(kind, key))

    @overload
    async def list(
        self,
        kind: type[T],
        *,
        namespace: str | None = None,
        labels: Labels = None,
        fields: Fields = None,
        index: tuple[str, str] | None = None,
        limit: int | None = None,
        continue_token: str | None = None,
        resource_version: str | None = None,
        resource_version_match: VersionMatch | None = None,
    ) -> ObjectList[T]: ...
    @overload
    async def list(
        self,
        kind: GroupVersionKind,
        *,
        namespace: str | None = None,
        labels: Labels = None,
        fields: Fields = None,
        index: tuple[str, str] | None = None,
        limit: int | None = None,
        continue_token: str | None = None,
        resource_version: str | None = None,
        resource_version_match: VersionMatch | None = None,
    ) -> ObjectList[Unstructured]: ...
    async def list(
        self,
        kind: KindLike,
        *,
        namespace: str | None = None,
        labels: Labels = None,
        fields: Fields = None,
        index: tuple[str, str] | None = None,
        **live: Any,
    ) -> ObjectList[Any]:
        """Return the objects of a kind that match, from the cache; ``index`` as for `Cache.list`.

        With a limit, a continue token or a version the server answers, as for `Client.list`.

        Raises:
            NotCovered, NotSynced, IndexMissing: the cache cannot answer; see `Cache`.
        """
        if any(value is not None for value in live.values()):
            return await self.live.list(kind, namespace=namespace, labels=labels, fields=fields, **live)
        namespace = await self._namespace(kind, namespace)
        found = await self.cache.list(kind, namespace=namespace, labels=labels, fields=fields, index=index)
        return ObjectList(found)

    async def _key(self, kind: KindLike, key: Key) -> Key:
        if type(key) is Key and not self.options.namespace:
            return key
        key = checked_key(kind, key)
        return Key(await self._namespace(kind, key.namespace) or "", key.name)

    async def _namespace(self, kind: KindLike, namespace: str | None) -> str | None:
        """Return the namespace to read: as in `Client`, that of the options applies to all namespaced kinds."""
        own = self.options.namespace
        if not own or not (await self._calls.mapping(kind)).namespaced:
            return namespace
        if namespace and namespace != own:
            raise ValueError(f"{kind} of namespace {namespace!r} was asked of a client for namespace {own!r}")
        return own
