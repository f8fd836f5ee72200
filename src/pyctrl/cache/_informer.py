"""The informer of one kind: reflectors fill the store, listeners are notified, readers read from memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, Any

from pyctrl._backoff import Backoff, until_next_poll
from pyctrl._log import RepeatedErrors
from pyctrl.api import GroupVersionKind, Key, KindLike, ShardRange, kind_of
from pyctrl.cache._compression import compressor_for
from pyctrl.cache._coverage import Coverage, ListQuery
from pyctrl.cache._covered_ranges import Ranges, ShardedRecordReader
from pyctrl.cache._informer_shards import InformerShards
from pyctrl.cache._lister import Lister
from pyctrl.cache._needs import Needs
from pyctrl.cache._options import KindOptions
from pyctrl.cache._record import Record, RecordReader, version_number
from pyctrl.cache._reflector import ListWatch, Reflector
from pyctrl.cache._store_writer import StoreListener
from pyctrl.cache._subscribers import Subscribers, Subscription
from pyctrl.cache._transform import bytes_transform
from pyctrl.cache._watch_errors import needs_attention
from pyctrl.cache._watch_handler import WatchHandler
from pyctrl.client import Client, Headers, ResourceMapping, path_for
from pyctrl.errors import Forbidden, NotFound, NotSynced, RequestTimeout, Unauthorized, UnknownKind
from pyctrl.rbac import Permission, Resource, allow, resource_of

if TYPE_CHECKING:
    from pyctrl.cache._statistics import InformerStatistics

__all__ = ["Informer", "has_answered", "is_synced_or_failed"]


log = logging.getLogger("pyctrl.cache")


class Informer:
    """Keeps the objects of one kind up to date while `run` runs. Returned by `Cache.informer`.

    Each change reaches store, indexes and listeners in one step, so that they never disagree.
    """

    def __init__(
        self,
        kind: KindLike,
        client: Client,
        options: KindOptions,
        *,
        namespaces: Collection[str] | None,
        random: Random,
        on_refusal: Callable[[Forbidden], bool] | None = None,
        on_notice: Callable[[], None] = lambda: None,
        is_optional: bool = False,
        is_direct: bool = False,
    ) -> None:
        self.gvk: GroupVersionKind = kind_of(kind)
        #: The name of the cluster; see `Client.cluster`.
        self.cluster: str = client.cluster
        #: The resource of the kind, for RBAC rules; from its class until discovery has answered.
        self.resource: Resource = resource_of(kind)
        self._client, self._options, self._namespaces, self._random = client, options, namespaces, random
        shape = bytes_transform(options.transform, options.strip_managed_fields)
        self._stored_as = shape, compressor_for(options.compress)
        self._reader = RecordReader(*self._stored_as)
        self.lister: Lister = Lister(self.gvk, self._reader, clock=lambda: asyncio.get_running_loop().time())
        self.lister.has_own_namespaces = options.namespaces is not None
        #: What the callers of `Cache.informer` need of the kind.
        self.needs: Needs = Needs(self.gvk, options)
        #: What it covers by hash ranges.
        self.shards: InformerShards = InformerShards(self.gvk, self.lister, options.shard_memory)
        self._subscribers = Subscribers(lambda: self.lister.store)
        self._reflectors: list[Reflector] = []
        self._synced = asyncio.Event()
        self._waiters: dict[asyncio.Future[None], None] = {}  # a dict keeps their order, so that runs are repeatable
        self._discovery_error: Exception | None = None
        self._discovery_failures = 0
        self._repeated_errors = RepeatedErrors()
        self._on_refusal, self._on_notice, self._is_direct = on_refusal, on_notice, is_direct
        #: Whether it is no problem that the cluster does not serve the kind.
        self.is_optional: bool = is_optional
        #: The reads that the cache could not answer, and the server has.
        self.live_reads: int = 0
        if options.shard_ranges is not None:
            self.cover(options.shard_ranges)

    # --- running ---

    async def run(self) -> None:
        """Find the resource of the kind by discovery, then list and watch until cancelled. No failure ends it."""
        mapping = await self._locate()
        self.lister.is_namespaced = mapping.namespaced
        self.resource = Resource(self.gvk.group, mapping.plural, mapping.namespaced)
        coverages = self.needs.settle(self._namespaces, is_namespaced=mapping.namespaced)
        for coverage in coverages[:1]:
            probe = self._list_watch(mapping, coverage)
            await self.shards.decide(self._client.transport, probe, Backoff(self._random))
        for coverage in coverages:
            self._reflectors.append(self._reflector(mapping, coverage))
        self._notice()  # without any coverage there is nothing to wait for
        async with asyncio.TaskGroup() as group:
            if self.shards.wanted is not None:
                group.create_task(self.shards.drop_always(), name=f"hash ranges of {self.gvk}")
            for reflector in self._reflectors:
                group.create_task(reflector.run(), name=f"reflector {self.gvk}")

    def _reflector(self, mapping: ResourceMapping, coverage: Coverage) -> Reflector:
        list_watch = self._list_watch(mapping, coverage)
        connection = (self._client.transport, list_watch.as_direct() if self._is_direct else list_watch)
        options: dict[str, Any] = {
            "random": self._random,
            "on_news": self._notice,
            "waiters": self._waiters,
            "on_refusal": self._take_refusal,
            "until_served": self._until_served,
        }
        listeners, unreadable = self._subscribers.listeners, self.lister.unreadable
        if self.shards.wanted is None:
            writer = self.lister.add_writer(coverage, listeners)
            return Reflector(*connection, WatchHandler(writer, self._reader, unreadable), **options)
        from pyctrl.cache._sharded_reflector import ShardedReflector  # here: most programs cover all objects

        ranges = self.shards.new_ranges()
        sharded = self.lister.add_sharded_writer(coverage, listeners, ranges)
        handler = WatchHandler(sharded, ShardedRecordReader(ranges, *self._stored_as), unreadable)
        options |= {"writer": sharded, "reader": self._reader, "unreadable": unreadable}
        return ShardedReflector(*connection, handler, memory=self._options.shard_memory, **options)

    def select_by_owner(self, kinds: Iterable[GroupVersionKind]) -> None:
        """Let `cover` select objects by the uid of their owner instead of their own; call it before the cache runs.

        An object belongs to the ranges of its owner if it has one owner, and that of these kinds. All other objects are
        covered as long as any range is. No server can select so: it sends all objects. A list by owner
        (``index=("owner", uid)``) is complete if the uid is covered.
        """
        self.shards.owners = frozenset((kind.group, kind.kind) for kind in kinds)

    def cover(self, ranges: Iterable[ShardRange] | None) -> None:
        """Cover the objects whose uid has a hash in these ranges, and no others; None covers all.

        Added ranges are listed while the watch goes on, and are covered once `wait_until_covered` returns. Objects of
        other ranges cannot be read from now on, and leave the store soon. No listener is notified of that: they are not
        deleted. `ShardMemory.OFF` covers all objects in any case.

        Raises:
            CacheError: the informer runs already and covers all objects: its first ranges must be known before.
        """
        self.shards.cover(ranges, is_running=bool(self._reflectors))

    @property
    def covered(self) -> Ranges:
        """The hash ranges whose objects are in the store and watched; nothing before the first list is complete."""
        return self.shards.covered if self.is_synced else ()

    @property
    def covers_all(self) -> bool:
        """Whether an object that is not in the cache does not exist, as no hash ranges limit it."""
        return self.shards.covers_all

    @property
    def coverages(self) -> Sequence[Coverage]:
        """The parts of the kind that are watched, once discovery has answered."""
        return [writer.coverage for writer in self.lister.writers]

    @property
    def is_sharded_by_server(self) -> bool | None:
        """Whether the server sends only what is covered; None until that is known, or if all objects are covered."""
        known = {reflector.is_applied for reflector in self._reflectors}
        return False if False in known else (True if known == {True} else None)

    async def _locate(self) -> ResourceMapping:
        backoff, loop = Backoff(self._random), asyncio.get_running_loop()
        begun = loop.time()
        while True:
            try:
                mapping = await self._client.discovery.mapping(self.gvk)
            except Exception as error:  # noqa: BLE001 - the kind may be served later
                self._discovery_error = error
                self._discovery_failures += 1
                self._log_discovery_error(error)
                self._wake()
                is_absent = isinstance(error, UnknownKind)
                await asyncio.sleep(until_next_poll(loop.time() - begun) if is_absent else backoff.next(loop.time()))
            else:
                self._discovery_error, self._discovery_failures = None, 0
                if self._repeated_errors.forget():
                    log.info("The server now serves %s", self.gvk, extra={"kind": self.gvk.kind})
                return mapping

    async def _until_served(self, error: NotFound) -> None:
        """Wait until discovery knows the resource again, after a list or watch was answered by NotFound."""
        text = "List or watch of %s was not found, asking discovery again: %s"
        log.debug(text, self.gvk, error, extra={"kind": self.gvk.kind})
        self._client.discovery.forget(self.gvk)
        await self._locate()

    def _log_discovery_error(self, error: Exception) -> None:
        # A warning whatever the error is: nothing shows yet that this kind can work.
        level = logging.INFO if self.is_optional and self.is_absent else logging.WARNING
        level = self._repeated_errors.level(str(error), level, asyncio.get_running_loop().time())
        log.log(level, "Failed to find the resource of %s: %s", self.gvk, error, extra={"kind": self.gvk.kind})

    def _list_watch(self, mapping: ResourceMapping, coverage: Coverage) -> ListWatch:
        selectors = (("labelSelector", str(coverage.labels)), ("fieldSelector", str(coverage.fields)))
        impersonated = self._client.options.impersonate
        return ListWatch(
            path=path_for(mapping, coverage.namespace or ""),
            query=tuple((name, text) for name, text in selectors if text),
            headers=Headers((("Accept", "application/json"), *(impersonated.headers() if impersonated else ()))),
            log_fields={"kind": self.gvk.kind, "group": self.gvk.group, "coverage": str(coverage)},
        )

    def _notice(self) -> None:
        if not self._synced.is_set() and all(writer.is_synced for writer in self.lister.writers):
            self._synced.set()
            self._subscribers.notify_synced()
        self._wake()

    def _wake(self) -> None:
        self._on_notice()
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _take_refusal(self, error: Forbidden) -> bool:
        return self._on_refusal is not None and self._on_refusal(error)

    def retry_now(self) -> None:
        """List or watch now where a reflector waits after a failure, as after a permission was granted."""
        for reflector in self._reflectors:
            reflector.retry_now()

    @property
    def rbac(self) -> tuple[Permission, ...]:
        """The permissions that the informer needs: to list and watch the kind in each coverage."""
        is_namespaced = self.resource.namespaced is not False
        coverages = self.needs.coverages(self._namespaces, is_namespaced=is_namespaced)
        parts = dict.fromkeys(coverage.permission for coverage in coverages)
        return tuple(allow(self.resource, "list", "watch", names=names, where=where) for where, names in parts)

    # --- reading and subscribing ---

    def find(self, key: Key) -> Record | None:
        """Return an object, this process's own writes included, or None when there is none.

        Raises:
            NotSynced: the first list is not complete.
            NotCovered: the object is not watched.
        """
        self._need_sync()
        return self.lister.find(key)

    def select(
        self,
        query: ListQuery,
        index: tuple[str, str] | None = None,
        *,
        is_cluster_wide: bool = False,
        covered_only: bool = True,
    ) -> list[Record]:
        """Return the objects that match, in no particular order. Raises as `find` does, and IndexMissing.

        If only some namespaces are watched, a query without a namespace selects these, unless ``is_cluster_wide``. If
        only some hash ranges are covered, a query selects the objects of these; without ``covered_only`` it raises
        NotCovered then.
        """
        self._need_sync()
        is_wide = is_cluster_wide and self.lister.is_namespaced
        return self.lister.select(query, index, is_cluster_wide=is_wide, covered_only=covered_only)

    def is_own_write(self, key: Key, version: str) -> bool:
        """Return whether this process has written this version of an object; for metrics."""
        return self.lister.is_own_write(key, version)

    def writer_of(self, record: Record, *, is_deletion: bool = False) -> object:
        """Return who has written this version of an object, or has deleted it; None if it is not known.

        It is the writer of the `ReadObserver` in whose context this process has sent the write.
        """
        return self.lister.writer_of(record, is_deletion=is_deletion)

    def index_values(self, name: str, record: Record) -> tuple[str, ...]:
        """Return the values of any state of an object in an index. The index must exist."""
        return self.lister.store.index_values(name, record)

    def _need_sync(self) -> None:
        if not self._synced.is_set():
            message = f"{self.gvk} cannot be read from the cache yet: {self.reason}"
            raise NotSynced(message, wait=self.wait_until_synced_or_failed)

    def subscribe(self) -> Subscription:
        """Return a subscription to the changes, which begins with the present objects; use it in a ``with`` block."""
        return Subscription(self._subscribers)

    @contextmanager
    def notifying(self, listener: StoreListener, *, replays: bool = True) -> Iterator[None]:
        """Notify a listener of what a subscription would receive, while the block lasts.

        The informer calls the listener synchronously, which saves a turn of the event loop. Without ``replays`` it is
        not notified of the objects that exist.
        """
        self._subscribers.add(listener, replays=replays)
        try:
            yield
        finally:
            self._subscribers.remove(listener)

    # --- status ---

    @property
    def is_synced(self) -> bool:
        """Whether the first list is complete: an object that is not in the cache does not exist."""
        return self._synced.is_set()

    @property
    def error(self) -> Exception | None:
        """Why the kind is not up to date; None when it is."""
        return next(iter(self._errors), None)

    @property
    def unreadable(self) -> str:
        """The objects that cannot be decoded, and why; "" when all can. A read of such an object raises DecodeError."""
        return self.lister.unreadable.text

    @property
    def is_stalled(self) -> bool:
        """Whether the watch brings neither events nor bookmarks, although the server has newer versions."""
        return any(reflector.is_stalled for reflector in self._reflectors)

    @property
    def is_refused(self) -> bool:
        """Whether it is not up to date because a permission is missing."""
        return any(isinstance(error, Forbidden) for error in self._errors)

    @property
    def is_absent(self) -> bool:
        """Whether it is not up to date because the cluster does not serve the kind, or no longer."""
        return any(isinstance(error, UnknownKind | NotFound) for error in self._errors)

    @property
    def is_missed(self) -> bool:
        """Whether its first list is missing. An optional kind that the cluster does not serve needs none."""
        return not self.is_synced and not (self.is_optional and self.is_absent)

    @property
    def failures(self) -> int:
        """The number of failures in a row of its list or watch; with several coverages the highest."""
        return max([self._discovery_failures, *(reflector.failures for reflector in self._reflectors)])

    @property
    def _errors(self) -> list[Exception]:
        errors = (self._discovery_error, *(reflector.error for reflector in self._reflectors))
        return [error for error in errors if error is not None]

    @property
    def age(self) -> timedelta | None:
        """The time since the server last sent something: the cache is at most so far behind. None: it never did.

        A kind without events gets a bookmark each minute. With several coverages it is the longest of their times.
        """
        heard = [reflector.heard_at for reflector in self._reflectors]
        oldest = None if not heard or None in heard else min(at for at in heard if at is not None)
        return None if oldest is None else timedelta(seconds=asyncio.get_running_loop().time() - oldest)

    def statistics(self) -> InformerStatistics:
        """Return numbers for metrics and tests."""
        store, overlay, error = self.lister.store, self.lister.overlay, self.error
        from pyctrl.cache._statistics import InformerStatistics  # here: not needed to start

        return InformerStatistics(
            kind=self.gvk,
            objects=len(store),
            size_bytes=store.size,
            is_synced=self.is_synced,
            age=self.age,
            relists=sum(reflector.relists for reflector in self._reflectors),
            stages=tuple(reflector.stage.value for reflector in self._reflectors),
            error=None if error is None else str(error),
            is_served=not self.is_absent,
            is_failing=error is not None and not (self.is_optional and self.is_absent),
            own_writes=len(overlay),
            own_writes_lag=timedelta(seconds=overlay.lag),
            own_writes_given_up=overlay.overflowed,
            unreadable=len(self.lister.unreadable),
            is_stalled=self.is_stalled,
            live_reads=self.live_reads,
        )

    # --- waiting ---

    async def wait_for_sync(self, timeout: timedelta | None = None) -> None:
        """Wait until the first list is complete.

        Raises:
            NotSynced: the list was not complete in time; says what went wrong last.
        """
        await self._wait_until(lambda: self.is_synced, "the first list", timeout)

    async def wait_until_covered(self, timeout: timedelta | None = None) -> None:
        """Wait until the objects of all ranges of `cover` are in the store and watched.

        Raises:
            NotSynced: they were not in time; says what went wrong last.
        """

        def is_covered() -> bool:
            return self.is_synced and not any(ranges.pending for ranges in self.lister.ranges)

        await self._wait_until(is_covered, "the list of added ranges", timeout)

    async def wait_until_located(self) -> None:
        """Wait until discovery has answered or failed."""
        while self.resource.namespaced is None and self._discovery_error is None:
            await self._next_notice()

    async def wait_until_synced_or_failed(self) -> None:
        """Wait until the first list is complete, is forbidden, or turns out to be of a kind that is not served."""
        while not (self.is_synced or self.is_refused or self.is_absent):
            await self._next_notice()

    async def wait_for_version(self, resource_version: str, timeout: timedelta | None = None) -> None:
        """Wait until the cache has everything up to a version, such as that of a write by another process.

        Versions of other kinds count only where the server has one sequence for all kinds, as etcd does. A kind without
        events receives them by bookmarks, once a minute.

        Raises:
            NotSynced: the version did not come in time.
        """
        version = version_number(resource_version)

        def is_here() -> bool:
            return self.is_synced and all(writer.progress >= version for writer in self.lister.writers)

        await self._wait_until(is_here, f"version {resource_version}", timeout)

    async def wait_for_age(self, at_most: timedelta, timeout: timedelta | None = None) -> None:
        """Wait until the server has sent something within the last ``at_most``; see `age`.

        Raises:
            NotSynced: it did not in time.
        """

        def is_fresh() -> bool:
            age = self.age
            return self.is_synced and age is not None and age <= at_most

        await self._wait_until(is_fresh, f"a state no older than {at_most}", timeout)

    async def _wait_until(self, holds: Callable[[], bool], what: str, timeout: timedelta | None) -> None:
        try:
            async with asyncio.timeout(None if timeout is None else timeout.total_seconds()):
                while not holds():
                    await self._next_notice()
        except TimeoutError as late:
            raise NotSynced(f"{self.gvk}: {what} did not come within {timeout}: {self.reason}") from late

    async def _next_notice(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters[waiter] = None
        try:
            await waiter
        finally:
            self._waiters.pop(waiter, None)

    @property
    def reason(self) -> str:
        """Why it is not synced or not up to date."""
        if self.error is not None:
            return str(self.error)
        return "the first list is not complete yet" if self._reflectors else "discovery has not answered yet"


TRIES_BEFORE_FAILED = 2  # the second try comes within 0.8 s: one failure may be temporary


def is_synced_or_failed(informer: Informer, *, some_have_come: bool) -> bool:
    """Return whether the first list is complete, or fails in a way for which others need not wait."""
    if informer.is_synced or informer.is_refused or informer.is_absent:
        return True
    # A timeout has taken long enough by itself.
    has_been_tried = informer.failures >= TRIES_BEFORE_FAILED or isinstance(informer.error, RequestTimeout)
    return has_been_tried and (some_have_come or has_answered(informer))


def has_answered(informer: Informer) -> bool:
    """Return whether a working server has authenticated the client and answered about the kind."""
    error = informer.error
    return informer.is_synced or (error is not None and needs_attention(error) and not isinstance(error, Unauthorized))
