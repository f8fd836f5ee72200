"""Reads from the server: get, find, list, pages and watch."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any, TypeVar

from pyctrl.api import Key, Kind, ObjectLike, decode
from pyctrl.client._requests.list import EncodedList, ObjectList
from pyctrl.client._requests.options import Fields, Labels, Query, Shards, VersionMatch, selection
from pyctrl.client._requests.resource_client import Verbs
from pyctrl.client._requests.watch import WatchEvent, watch_events
from pyctrl.errors import NotFound

__all__ = ["LiveReader"]

O = TypeVar("O", bound=ObjectLike)  # noqa: E741 - an object, typed or not

PAGE_SIZE = 500  # client-go's pager; pages of this size are what API servers are tuned for
WATCH_SECONDS = 290  # below the 5 minutes after which many load balancers close a connection
WATCH_GRACE = 30.0  # seconds by which a server may end a watch late
WATCH_SILENCE = 90.0  # seconds; bookmarks come every 60


class LiveReader(Verbs):
    """The reads of `Client`: every answer comes from the server."""

    async def get(self, kind: Kind[O], key: Key, *, resource_version: str | None = None) -> O:
        """Return an object.

        Args:
            kind: its class, ``Metadata[...]`` of it, or a GroupVersionKind for Unstructured.
            key: its namespace and name.
            resource_version: "0" lets the server answer from its cache; with any other the answer is not older than it.

        Raises:
            NotFound: the object does not exist.
            UnknownKind: the cluster does not serve the kind.
        """
        query = (("resourceVersion", resource_version),) if resource_version is not None else ()
        return decode(kind, await self._requests.read(kind, key, query=query))

    async def find(self, kind: Kind[O], key: Key) -> O | None:
        """Return an object, or None when it does not exist. Raises UnknownKind as `get` does."""
        try:
            return await self.get(kind, key)
        except NotFound:
            return None

    async def list(
        self,
        kind: Kind[O],
        *,
        namespace: str | None = None,
        labels: Labels = None,
        fields: Fields = None,
        shard_selector: Shards = None,
        limit: int | None = None,
        continue_token: str | None = None,
        resource_version: str | None = None,
        resource_version_match: VersionMatch | None = None,
    ) -> ObjectList[O]:
        """Return the objects of a kind: all of them or, with ``limit``, one page.

        Args:
            kind: as for `get`.
            namespace: None for all namespaces.
            labels: only objects with these labels, see `Labels`.
            fields: only objects with these fields, see `Fields`.
            shard_selector: only objects whose uid or namespace has a hash in these ranges (KEP-5866). A server without
                this feature ignores it; the list's ``metadata.shard_info`` says that it was applied, except for custom
                resources and ``Metadata[...]`` with Kubernetes 1.36.
            limit: the largest number of objects; the list's ``continue_token`` continues it.
            continue_token: that of the previous page.
            resource_version: how recent the answer must be; by default the newest state.
            resource_version_match: how ``resource_version`` is compared, see `VersionMatch`.

        Raises:
            Expired: the continue token is too old; list again from the start.
            SelectorError: a selector does not parse.
        """
        query = _list_query(
            selection(labels, fields, shard_selector),
            limit=limit,
            continue_token=continue_token,
            resource_version=resource_version,
            match=resource_version_match,
        )
        return EncodedList(await self._requests.read_collection(kind, namespace, query=query)).decoded(kind)

    async def pages(
        self,
        kind: Kind[O],
        *,
        namespace: str | None = None,
        labels: Labels = None,
        fields: Fields = None,
        shard_selector: Shards = None,
        page_size: int = PAGE_SIZE,
    ) -> AsyncGenerator[ObjectList[O], None]:
        """Iterate over the pages of a list; each is requested when the previous one has been consumed.

        All pages show the state of the first one. Raises Expired when the server no longer keeps that state, after
        about five minutes.
        """
        async for page in self._pages(kind, namespace, selection(labels, fields, shard_selector), page_size):
            yield page.decoded(kind)

    async def each(
        self,
        kind: Kind[O],
        *,
        namespace: str | None = None,
        labels: Labels = None,
        fields: Fields = None,
        shard_selector: Shards = None,
        page_size: int = PAGE_SIZE,
    ) -> AsyncGenerator[O, None]:
        """Iterate over the objects of a kind, reading pages: never more than one page is in memory."""
        async for page in self._pages(kind, namespace, selection(labels, fields, shard_selector), page_size):
            for obj in page.objects(kind):
                yield obj

    async def _pages(
        self, kind: Kind[Any], namespace: str | None, selected: Query, page_size: int
    ) -> AsyncGenerator[EncodedList, None]:
        token: str | None = None
        while token != "":
            query = _list_query(selected, limit=page_size, continue_token=token)
            page = EncodedList(await self._requests.read_collection(kind, namespace, query=query))
            token = page.metadata.continue_
            yield page

    async def watch(
        self,
        kind: Kind[O],
        *,
        namespace: str | None = None,
        labels: Labels = None,
        fields: Fields = None,
        shard_selector: Shards = None,
        resource_version: str | None = None,
        bookmarks: bool = True,
        send_initial_events: bool | None = None,
        timeout_seconds: int = WATCH_SECONDS,
    ) -> AsyncGenerator[WatchEvent[O], None]:
        """Iterate over the changes of objects, until the server ends the watch after ``timeout_seconds``.

        This is one watch, which is not resumed; for a view that stays up to date use a cache. To leave the loop early,
        wrap the watch in ``async with contextlib.aclosing(...)``, which closes the connection at once.

        Args:
            kind: as for `get`.
            namespace: None for all namespaces.
            labels: as for `list`.
            fields: as for `list`.
            shard_selector: as for `list`.
            resource_version: watch the changes after it; None starts with an ADDED event for every existing object.
            bookmarks: request a BOOKMARK every minute, and treat 90 seconds of silence as a broken connection.
            send_initial_events: with True a list is streamed first, ended by a bookmark (see `WatchEvent`).
            timeout_seconds: the duration of the watch.

        Raises:
            ApiError: the server refused the watch or sent an ERROR event; `Expired` when the version is too old.
            TransportError: the connection broke.
        """
        query = selection(labels, fields, shard_selector) + _watch_query(
            resource_version, bookmarks, send_initial_events, timeout_seconds
        )
        limit = timeout_seconds + WATCH_GRACE
        idle = WATCH_SILENCE if bookmarks else limit
        async with self._requests.watch(kind, namespace, query=query, timeout=limit, idle_timeout=idle) as stream:
            async for event in watch_events(kind, stream):
                yield event


def _list_query(
    selected: Query,
    *,
    limit: int | None,
    continue_token: str | None,
    resource_version: str | None = None,
    match: VersionMatch | None = None,
) -> Query:
    pairs = (
        ("limit", str(limit) if limit is not None else None),
        ("continue", continue_token or None),
        ("resourceVersion", resource_version),
        ("resourceVersionMatch", match),
    )
    return selected + tuple((name, value) for name, value in pairs if value is not None)


def _watch_query(
    resource_version: str | None, bookmarks: bool, send_initial_events: bool | None, timeout_seconds: int
) -> Query:
    initial = None if send_initial_events is None else str(send_initial_events).lower()
    pairs = (
        ("watch", "true"),
        ("allowWatchBookmarks", "true" if bookmarks or send_initial_events else None),
        ("resourceVersion", resource_version),
        ("sendInitialEvents", initial),
        ("resourceVersionMatch", "NotOlderThan" if initial else None),  # required by the server
        ("timeoutSeconds", str(timeout_seconds)),
    )
    return tuple((name, value) for name, value in pairs if value is not None)
