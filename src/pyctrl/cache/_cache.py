"""The cache: an informer for each kind, read as one copy of the cluster."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pyctrl._metrics import MetricFamily
from pyctrl.api import GroupVersionKind, Key, Kind, KindLike, KubernetesObject, ObjectLike, kind_of
from pyctrl.cache._coverage import ListQuery, field_selector, label_selector
from pyctrl.cache._informer import Informer, has_answered, is_synced_or_failed
from pyctrl.cache._options import KindOptions, Outside
from pyctrl.cache._read_observer import read_observer
from pyctrl.cache._record import Record
from pyctrl.cache._unreadable import UnreadableRecord
from pyctrl.client import Client, Fields, Labels, WriteVerb, checked_key
from pyctrl.errors import DecodeError, Forbidden, NotCovered, NotFound, NotSynced
from pyctrl.rbac import Permission, resource_of

if TYPE_CHECKING:
    from pyctrl.cache._statistics import InformerStatistics

__all__ = ["MIN_OBJECTS_TO_PAUSE", "Cache", "garbage_collection_paused"]


log = logging.getLogger("pyctrl.cache")

T = TypeVar("T", bound=KubernetesObject)
O = TypeVar("O", bound=ObjectLike)  # noqa: E741 - an object, typed or not


class Cache:
    """A live copy of a part of the cluster; a `Reader`.

    One informer for each kind, shared by typed, untyped and metadata readers. A read sends no request, takes no lock,
    and returns a fresh object that belongs to the caller and is decoded on first use. It sees this process's own writes
    at once, if they are made by this client or one derived from it. A read never starts an informer: a kind is cached
    from the first call of `informer` on.

    A read of an object that is not watched raises `NotCovered`, or goes to the server with `Outside.LIVE`; it never
    reports such an object as missing. A read before the first list is complete raises `NotSynced`.

    Args:
        client: sends the requests.
        options: options of single kinds.
        namespaces: the namespaces to watch, except for kinds with namespaces of their own; None: all namespaces.
        outside: what happens to reads that the cache cannot answer.
        random: draws waits.
        on_refusal: is called when a kind may not be listed or watched, and returns whether it logs what to grant; by
            default the cache does.
    """

    def __init__(
        self,
        client: Client,
        *,
        options: Mapping[KindLike, KindOptions] | None = None,
        namespaces: Iterable[str] | None = None,
        outside: Outside = Outside.RAISE,
        random: Random | None = None,
        on_refusal: Callable[[Forbidden], bool] | None = None,
    ) -> None:
        self._client = client
        #: The function of the constructor; a manager that adopts the cache sets its own.
        self.on_refusal: Callable[[Forbidden], bool] | None = on_refusal
        #: Whether the server is in this process. The watches of kinds that are added from then on have no end and no
        #: bookmarks, and heartbeats of nodes come with the next change: no connection to it can break unnoticed.
        self.is_direct: bool = False
        self._options = {kind_of(kind): chosen for kind, chosen in (options or {}).items()}
        self._namespaces: Collection[str] | None = None if namespaces is None else frozenset(namespaces)
        self._outside = outside
        self._random = random or Random()
        self._informers: dict[GroupVersionKind, Informer] = {}
        self._tasks: dict[GroupVersionKind, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._context = copy_context()
        self._news = asyncio.Event()

    @property
    def client(self) -> Client:
        """The client that lists and watches."""
        return self._client

    # --- running ---

    async def run(self) -> None:
        """Run all informers, also those that are added later, until cancelled."""
        stop_observing = self._client.observe_writes(_OwnWrites(self._informers))
        self._context = copy_context()  # not the context of the caller of `informer`, whose log fields do not apply
        try:
            async with asyncio.TaskGroup() as self._group:
                for informer in self._informers.values():
                    self._start(informer)
                await asyncio.get_running_loop().create_future()  # until cancelled
        finally:
            self._group = None
            self._tasks.clear()
            stop_observing()

    def _start(self, informer: Informer) -> None:
        if self._group is not None:
            self._tasks[informer.gvk] = self._group.create_task(
                informer.run(), name=f"informer {informer.gvk}", context=self._context.copy()
            )

    def informer(
        self,
        kind: KindLike,
        *,
        optional: bool = False,
        namespaces: Collection[str] | None = None,
        names: Collection[str] = (),
    ) -> Informer:
        """Return the informer of a kind; add it if there is none, and start it if the cache runs.

        Args:
            kind: the kind.
            optional: whether it is no problem that the cluster does not serve the kind, unless another caller requires
                it.
            namespaces: the namespaces that the caller needs; None: those of the cache.
            names: the names of the objects that the caller needs; empty: all objects. The informer watches what all
                callers need together. `KindOptions` with namespaces or selectors take precedence.

        Raises:
            CacheError: the informer runs already and does not watch what the caller needs.
        """
        gvk = kind_of(kind)
        informer = self._informers.get(gvk)
        if informer is None:
            options = self._options.get(gvk, KindOptions())
            informer = Informer(
                kind,
                self._client,
                options,
                namespaces=self._namespaces,
                random=self._random,
                on_refusal=self._refused,
                on_notice=self._news.set,
                is_optional=optional,
                is_direct=self.is_direct,
            )
            self._informers[gvk] = informer
            self._start(informer)  # its task begins later
        informer.is_optional &= optional
        informer.needs.add(namespaces, names)
        return informer

    def _refused(self, error: Forbidden) -> bool:
        return self.on_refusal is not None and self.on_refusal(error)

    async def remove(self, kind: KindLike) -> None:
        """Stop watching a kind and drop its objects. Its subscriptions receive no further changes."""
        gvk = kind_of(kind)
        self._informers.pop(gvk, None)
        task = self._tasks.pop(gvk, None)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    def add_index(self, kind: type[T], name: str, values_of: Callable[[T], Iterable[str]]) -> None:
        """Add an index for `list` with ``index=``: ``values_of`` returns the values of an object.

        The informer of the kind is added if there is none. Add indexes before `run`: indexing objects that are cached
        already blocks for some 10 µs each. An object for which the function fails is logged and not in the index. Two
        indexes always exist: by namespace, and ``"owner"`` by the uids of owners.
        """

        def values(record: Record) -> Iterable[str]:
            return values_of(record.decode(kind))

        self.informer(kind).lister.add_index(name, values)

    # --- status ---

    async def wait_for_sync(self, timeout: timedelta | None = None, *, even_forbidden: bool = True) -> None:
        """Wait until the first lists of all kinds are complete, including kinds that are added meanwhile.

        It does not wait for optional kinds that the cluster does not serve.

        Args:
            timeout: how long to wait; None: without a limit.
            even_forbidden: whether to wait also for kinds that may not be listed at present.

        Raises:
            NotSynced: a list was not complete in time; names each missing kind and the reason.
        """
        missing: list[Informer] = []
        try:
            async with asyncio.timeout(None if timeout is None else timeout.total_seconds()):
                while missing := [i for i in self.informers if i.is_missed and (even_forbidden or not i.is_refused)]:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError as late:
            raise NotSynced(f"the first lists were not complete within {timeout}: {self._reasons(missing)}") from late

    async def wait_until_synced_or_failed(self, timeout: timedelta | None = None) -> None:
        """Wait until the first list of each kind is complete, or has failed in a way that may last.

        A list has failed when it is forbidden, when the cluster does not serve the kind, and when it was tried twice
        and either the error may last until someone acts or other kinds are synced. After ``timeout`` the wait ends in
        any case.

        Raises:
            NotSynced: within ``timeout`` the server has answered about no kind at all: it cannot be reached, or is the
                wrong one.
        """
        late: list[Informer] = []
        try:
            async with asyncio.timeout(None if timeout is None else timeout.total_seconds()):
                while late := self._not_synced_or_failed():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError as error:
            if not any(map(has_answered, self._informers.values())):
                raise NotSynced(f"the first lists were not complete within {timeout}: {self._reasons(late)}") from error
            log.warning(
                "Timed out waiting for caches to sync, going on without", extra={"missing": self._reasons(late)}
            )

    def _not_synced_or_failed(self) -> list[Informer]:
        some = any(informer.is_synced for informer in self._informers.values())
        return [
            informer for informer in self._informers.values() if not is_synced_or_failed(informer, some_have_come=some)
        ]

    def _reasons(self, informers: Iterable[Informer]) -> str:
        """Return the kinds that are missing with the reason, each reason once."""
        kinds: dict[str, list[str]] = {}
        for informer in informers:
            kinds.setdefault(informer.reason, []).append(str(informer.gvk))
        return "; ".join(f"{' and '.join(names)}: {reason}" for reason, names in kinds.items())

    @property
    def informers(self) -> tuple[Informer, ...]:
        """The informers that were added so far."""
        return tuple(self._informers.values())

    @property
    def rbac(self) -> tuple[Permission, ...]:
        """The permissions that the informers need."""
        return tuple(permission for informer in self._informers.values() for permission in informer.rbac)

    @property
    def problems(self) -> dict[GroupVersionKind, str]:
        """The reason for each kind that is not up to date; empty when all are."""
        unfit = [i for i in self._informers.values() if not i.is_synced or i.error is not None]
        return {i.gvk: i.reason for i in unfit if not (i.is_optional and i.is_absent)}

    @property
    def unreadable(self) -> dict[GroupVersionKind, str]:
        """The objects that cannot be decoded, and why, by kind; empty when all can. Reads of them raise DecodeError."""
        return {i.gvk: text for i in self._informers.values() if (text := i.unreadable)}

    @property
    def stalled(self) -> tuple[GroupVersionKind, ...]:
        """The kinds whose watches bring neither events nor bookmarks, although the server has newer versions."""
        return tuple(i.gvk for i in self._informers.values() if i.is_stalled)

    def statistics(self) -> tuple[InformerStatistics, ...]:
        """Return numbers about each informer."""
        return tuple(informer.statistics() for informer in self._informers.values())

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return the series of the informers; see docs/metrics.md."""
        from pyctrl.cache._metrics import collect_cache  # here: a program may serve no metrics

        return collect_cache(self.statistics())

    def age(self, kind: KindLike) -> timedelta | None:
        """Return how far behind the server a kind may be at most; see `Informer.age`. Raises NotCovered."""
        return self._existing(kind).age

    # --- reading ---

    async def get(self, kind: Kind[O], key: Key) -> O:
        """Return an object.

        The fields of a typed object are decoded on first use: an access to a field that is missing or does not fit its
        type raises DecodeError.

        Raises:
            NotFound: the object does not exist.
            NotCovered: the object is not watched.
            NotSynced: the first list of its kind is not complete.
            DecodeError: the object is of another kind, or cannot be decoded at all, as when it is nested too deep.
        """
        found = await self.find(kind, key)
        if found is None:
            gvk = kind_of(kind)
            raise NotFound(f"{gvk.group_kind} {str(key)!r} not found", code=404, request="cache")
        return found

    async def find(self, kind: Kind[O], key: Key) -> O | None:
        """Return an object, or None when it does not exist. Raises NotCovered, NotSynced and DecodeError as `get`."""
        if type(key) is not Key:
            key = checked_key(kind, key)
        try:
            record = (informer := self._existing(kind)).find(key)
        except (NotCovered, NotSynced) as error:
            self._note_not_answered(kind)
            if isinstance(error, NotSynced) or not self._goes_live(kind):
                raise
            self._count_live_read(kind)
            return await self._client.find(kind, key)
        if (observer := read_observer.get()) is not None:
            observer.object_read(informer, key)
        if record is None:
            checked_key(kind, key)  # only here: the key of an object that exists is valid
            return None
        return record.decode(kind)

    async def list(
        self,
        kind: Kind[O],
        *,
        namespace: str | None = None,
        labels: Labels = None,
        fields: Fields = None,
        index: tuple[str, str] | None = None,
        covered_only: bool = False,
    ) -> Sequence[O]:
        """Return the objects of a kind that match, in no particular order.

        Typed objects are decoded on first use, as by `get`.

        Args:
            kind: the kind, as for `get`.
            namespace: a namespace; None: all namespaces that are watched, which may be a part of the cluster. If only
                this kind is restricted to some, and reads outside go to the server (``Outside.LIVE``), the server lists
                all namespaces.
            labels: only objects with these labels.
            fields: only objects with these fields. Any field works; each object is searched.
            index: the name of an index and a value: only objects with this value, found without a search.
            covered_only: whether the list of a kind of which only some hash ranges are covered means the objects of
                these ranges. Otherwise it raises NotCovered.

        Raises:
            NotCovered: a part of the result is not watched.
            NotSynced: the first list of the kind is not complete.
            IndexMissing: there is no such index.
            DecodeError: an object is of another kind. An object that cannot be decoded at all is in the list with its
                name, and raises DecodeError when anything else of it is read.
        """
        query = ListQuery(namespace=namespace, labels=label_selector(labels), fields=field_selector(fields))
        try:
            informer = self._existing(kind)
            is_wide = self._means_cluster(kind)
            records = informer.select(query, index, is_cluster_wide=is_wide, covered_only=covered_only)
        except (NotCovered, NotSynced) as error:
            self._note_not_answered(kind)
            if isinstance(error, NotSynced) or index is not None or not self._goes_live(kind):
                raise
            self._count_live_read(kind)
            return await self._list_live(kind, namespace=namespace, labels=labels, fields=fields)
        if (observer := read_observer.get()) is not None:
            observer.list_read(informer, query, index)
        try:
            if len(records) < MIN_OBJECTS_TO_PAUSE:
                return [record.decode(kind) for record in records]
            with garbage_collection_paused():
                return [record.decode(kind) for record in records]
        except DecodeError:
            return [r.decode_late(kind) if isinstance(r, UnreadableRecord) else r.decode(kind) for r in records]

    def _note_not_answered(self, kind: Kind[Any]) -> None:
        if (observer := read_observer.get()) is not None:
            gvk = kind_of(kind)
            observer.not_answered(gvk, self._informers.get(gvk))

    def _count_live_read(self, kind: Kind[Any]) -> None:
        if (informer := self._informers.get(kind_of(kind))) is not None:
            informer.live_reads += 1

    def _existing(self, kind: Kind[Any]) -> Informer:
        gvk = kind_of(kind)
        informer = self._informers.get(gvk)
        if informer is None:
            raise NotCovered(gvk, asked="any object", covered="")
        return informer

    def _means_cluster(self, kind: Kind[Any]) -> bool:
        """Return whether a list without a namespace is of the whole cluster, although only a part of it is watched."""
        return self._namespaces is None and self._goes_live(kind)

    async def _list_live(self, kind: Kind[O], *, namespace: str | None, **selectors: Any) -> Sequence[O]:
        """List on the server; without a namespace, in the namespaces that the cache is restricted to."""
        if namespace is not None or self._namespaces is None or not await self._is_namespaced(kind):
            return await self._client.list(kind, namespace=namespace, **selectors)
        chosen = self._options.get(kind_of(kind), KindOptions()).namespaces
        namespaces = sorted(self._namespaces if chosen is None else chosen)
        return [obj for each in namespaces for obj in await self._client.list(kind, namespace=each, **selectors)]

    async def _is_namespaced(self, kind: Kind[Any]) -> bool:
        declared = resource_of(cast(KindLike, kind)).namespaced
        return (await self._client.discovery.mapping(kind_of(kind))).namespaced if declared is None else declared

    def _goes_live(self, kind: Kind[Any]) -> bool:
        options = self._options.get(kind_of(kind), _NO_OPTIONS)
        return (options.outside or self._outside) is Outside.LIVE


_NO_OPTIONS = KindOptions()


class _OwnWrites:
    """The observer of this process's writes that passes them to the informers."""

    def __init__(self, informers: Mapping[GroupVersionKind, Informer]) -> None:
        self._informers = informers

    def before(self, gvk: GroupVersionKind, key: Key) -> None:
        """Do nothing: only the answer says what was written."""

    def after(
        self, gvk: GroupVersionKind, key: Key, verb: WriteVerb, body: bytes | None, error: BaseException | None
    ) -> None:
        """Take the answer of a write, if the kind is cached."""
        informer = self._informers.get(gvk)
        if informer is None or body is None or verb == "delete_all_of":
            return
        observer = read_observer.get()
        writer = None if observer is None else observer.writer
        try:
            if verb == "delete":
                informer.lister.deleted(key, body, writer)
            else:
                informer.lister.wrote(body, writer)
        except Exception:
            text = "Failed to apply an own write to the cache, it is visible once the watch brings it"
            log.exception(text, extra={"kind": gvk.kind, "key": str(key)})


MIN_OBJECTS_TO_PAUSE = 32  # objects; fewer cause less than one collection of the youngest generation


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Disable garbage collection in this block, which must not await: it holds for the whole process.

    A list of a thousand objects makes some ten thousand containers and no garbage. The collector runs after every 700
    and would scan them again and again, for more than half of the time that decoding them takes.
    """
    if not gc.isenabled():  # the program has disabled it for its own reasons
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
