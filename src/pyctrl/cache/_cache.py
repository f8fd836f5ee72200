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
from pyctrl.api import GroupVersionKind, Key, Kind, KindLike, KubernetesObject, Unstructured, kind_of
from pyctrl.cache._coverage import ListQuery, field_selector, label_selector
from pyctrl.cache._informer import Informer, has_answered, is_synced_or_failed
from pyctrl.cache._options import KindOptions, Outside
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
O = TypeVar("O", bound=KubernetesObject | Unstructured)  # noqa: E741 - an object, typed or not


class Cache:
    """A live copy of a part of the cluster; a `Reader`.

    One informer for each kind, shared by typed, untyped and metadata readers. Reads take no request and no lock, give
    fresh objects that belong to the caller and are decoded when they are looked at, and see this process's own writes
    at once (through the client, or any client derived from it). They never start an informer: a kind is cached when
    somebody has asked for its `informer`.

    A read of something that is not watched raises `NotCovered`, or goes to the server if `Outside.LIVE` says so; it
    never claims that what is not watched does not exist. A read before the first list is complete raises `NotSynced`.

    Args:
        client: how to reach the server.
        options: decisions about single kinds.
        namespaces: watch only these, except for kinds whose options say otherwise; None is all of them.
        outside: what becomes of reads that the cache cannot answer.
        random: draws waits.
        on_refusal: is called whenever a kind may not be listed or watched, and says whether somebody else tells the
            user what to grant; by default the cache does.
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
        #: As said when it was made; a manager that takes it over says so again.
        self.on_refusal: Callable[[Forbidden], bool] | None = on_refusal
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
        """What it follows the server with."""
        return self._client

    # --- running ---

    async def run(self) -> None:
        """Keep every informer up to date, those added later too, until cancelled."""
        stop_observing = self._client.observe_writes(_OwnWrites(self._informers))
        self._context = copy_context()  # and not that of whoever adds an informer: its log fields are not ours
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

    def informer(self, kind: KindLike, *, optional: bool = False) -> Informer:
        """Return the informer of a kind; it is added if there is none, and started at once if the cache runs.

        With ``optional`` nothing is wrong while the cluster does not serve the kind, unless somebody else asks without.
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
            )
            self._informers[gvk] = informer
            self._start(informer)
        informer.is_optional &= optional
        return informer

    def _refused(self, error: Forbidden) -> bool:
        return self.on_refusal is not None and self.on_refusal(error)

    async def remove(self, kind: KindLike) -> None:
        """Stop watching a kind and forget its objects. Its subscriptions are told nothing more."""
        gvk = kind_of(kind)
        self._informers.pop(gvk, None)
        task = self._tasks.pop(gvk, None)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    def add_index(self, kind: type[T], name: str, values_of: Callable[[T], Iterable[str]]) -> None:
        """Add an index: ``values_of`` names the values under which an object is found, by `list` with ``index=``.

        Of a kind that is not cached yet, the informer is added. Add indexes before `run`: over objects that are there
        already it is made at once, which takes some 10 µs for each. An object on which the function fails is logged
        and not in the index. Two are there always: by namespace, and ``"owner"`` by the uid of owners.
        """

        def values(record: Record) -> Iterable[str]:
            return values_of(record.decode(kind))

        self.informer(kind).lister.add_index(name, values)

    # --- how it is doing ---

    async def wait_for_sync(self, timeout: timedelta | None = None, *, even_forbidden: bool = True) -> None:
        """Wait until the first lists of all kinds are complete, those included that are added meanwhile.

        Optional kinds that the cluster does not serve are not waited for.

        Args:
            timeout: how long; by default for ever.
            even_forbidden: wait for kinds, too, that may not be listed at the moment.

        Raises:
            NotSynced: one is not in time; names each kind that is missing and what went wrong with it.
        """
        missing: list[Informer] = []
        try:
            async with asyncio.timeout(None if timeout is None else timeout.total_seconds()):
                while missing := [i for i in self.informers if i.is_missed and (even_forbidden or not i.is_refused)]:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError as late:
            raise NotSynced(f"the first lists did not come within {timeout}: {self._reasons(missing)}") from late

    async def wait_until_synced_or_failed(self, timeout: timedelta | None = None) -> None:
        """Wait until the first list of each kind is complete, or there is no use in waiting for it.

        That is so when it is forbidden, when the cluster does not serve the kind, and when it has failed twice in a
        row: of something that does not pass by itself, or while others are complete. After ``timeout``, too, if
        anything at all has come.

        Raises:
            NotSynced: in that time nothing has come: the server cannot be reached, or is not the one that is meant.
        """
        late: list[Informer] = []
        try:
            async with asyncio.timeout(None if timeout is None else timeout.total_seconds()):
                while late := self._unsettled():
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError as error:
            if not any(map(has_answered, self._informers.values())):
                raise NotSynced(f"the first lists did not come within {timeout}: {self._reasons(late)}") from error
            log.warning("Not waiting any longer for first lists", extra={"missing": self._reasons(late)})

    def _unsettled(self) -> list[Informer]:
        some = any(informer.is_synced for informer in self._informers.values())
        return [
            informer for informer in self._informers.values() if not is_synced_or_failed(informer, some_have_come=some)
        ]

    def _reasons(self, informers: Iterable[Informer]) -> str:
        """Name what is missing and why; what all of them suffer from is said once."""
        kinds: dict[str, list[str]] = {}
        for informer in informers:
            kinds.setdefault(informer.reason, []).append(str(informer.gvk))
        return "; ".join(f"{' and '.join(names)}: {reason}" for reason, names in kinds.items())

    @property
    def informers(self) -> tuple[Informer, ...]:
        """The informers of the kinds that are known so far."""
        return tuple(self._informers.values())

    @property
    def rbac(self) -> tuple[Permission, ...]:
        """What it takes to follow every kind that is known so far."""
        return tuple(permission for informer in self._informers.values() for permission in informer.rbac)

    @property
    def problems(self) -> dict[GroupVersionKind, str]:
        """What keeps kinds from being up to date; empty when all is well."""
        unfit = [i for i in self._informers.values() if not i.is_synced or i.error is not None]
        return {i.gvk: i.reason for i in unfit if not (i.is_optional and i.is_absent)}

    @property
    def unreadable(self) -> dict[GroupVersionKind, str]:
        """Which objects cannot be decoded, and why, by kind; empty when all can. Reads of them raise DecodeError."""
        return {i.gvk: text for i in self._informers.values() if (text := i.unreadable)}

    @property
    def stalled(self) -> tuple[GroupVersionKind, ...]:
        """The kinds whose watches bring nothing, not even bookmarks, although the server has newer versions."""
        return tuple(i.gvk for i in self._informers.values() if i.is_stalled)

    def statistics(self) -> tuple[InformerStatistics, ...]:
        """Return how each informer is doing."""
        return tuple(informer.statistics() for informer in self._informers.values())

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return what there is of each kind and how old it is; see docs/metrics.md."""
        from pyctrl.cache._metrics import collect_cache  # here: a program may serve no metrics

        return collect_cache(self.statistics())

    def age(self, kind: KindLike) -> timedelta | None:
        """Return how old the view of a kind may be, at most: see `Informer.age`. Raises NotCovered."""
        return self._existing(kind).age

    # --- reading ---

    async def get(self, kind: Kind[O], key: Key) -> O:
        """Return an object.

        A typed one is decoded when it is looked at: a field that does not fit its type, or is missing, is a
        DecodeError there.

        Raises:
            NotFound: there is none.
            NotCovered: it is not watched.
            NotSynced: the first list of its kind is not complete.
            DecodeError: it is of another kind, or cannot be decoded at all, such as one nested too deep.
        """
        found = await self.find(kind, key)
        if found is None:
            gvk = kind_of(kind)
            raise NotFound(f"{gvk.group_kind} {str(key)!r} not found", code=404, request="cache")
        return found

    async def find(self, kind: Kind[O], key: Key) -> O | None:
        """Return an object, or None when there is none. Raises NotCovered, NotSynced and DecodeError as `get` does."""
        if type(key) is not Key:
            key = checked_key(kind, key)
        try:
            record = self._existing(kind).find(key)
        except NotCovered:
            if not self._goes_live(kind):
                raise
            return await self._client.find(kind, key)
        if record is None:
            checked_key(kind, key)  # here: a key that has an object has a name
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
    ) -> Sequence[O]:
        """Return the objects of a kind that match, in no particular order.

        Typed ones are decoded when they are looked at, as by `get`.

        Args:
            kind: as for `get`.
            namespace: None for all namespaces that are watched: where the cache or the kind is restricted to some, it
                is these. A kind that alone is restricted, with ``Outside.LIVE``, is listed by the server instead.
            labels: only objects with these labels.
            fields: only objects with these fields; any field can be asked for, each object is looked into.
            index: the name of an index and a value: only objects that have it; takes no time for the others.

        Raises:
            NotCovered: not all of this is watched.
            NotSynced: the first list of the kind is not complete.
            IndexMissing: there is no such index.
            DecodeError: one of them is of another kind. One that cannot be decoded at all is in the list by its name,
                and raises DecodeError where anything else of it is read.
        """
        query = ListQuery(namespace=namespace, labels=label_selector(labels), fields=field_selector(fields))
        try:
            records = self._existing(kind).select(query, index, is_cluster_wide=self._means_cluster(kind))
        except NotCovered:
            if index is not None or not self._goes_live(kind):
                raise
            return await self._list_live(kind, namespace=namespace, labels=labels, fields=fields)
        try:
            if len(records) < MIN_OBJECTS_TO_PAUSE:
                return [record.decode(kind) for record in records]
            with garbage_collection_paused():
                return [record.decode(kind) for record in records]
        except DecodeError:
            return [r.decode_late(kind) if isinstance(r, UnreadableRecord) else r.decode(kind) for r in records]

    def _existing(self, kind: Kind[Any]) -> Informer:
        gvk = kind_of(kind)
        informer = self._informers.get(gvk)
        if informer is None:
            raise NotCovered(gvk, asked="any object", covered="")
        return informer

    def _means_cluster(self, kind: Kind[Any]) -> bool:
        """Tell whether a list without a namespace means all of the cluster, though not all of it is watched."""
        return self._namespaces is None and self._goes_live(kind)

    async def _list_live(self, kind: Kind[O], *, namespace: str | None, **selectors: Any) -> Sequence[O]:
        """List by the server; without a namespace in those that the cache is restricted to."""
        if namespace is not None or self._namespaces is None or not await self._is_namespaced(kind):
            return await self._client.list(kind, namespace=namespace, **selectors)
        chosen = self._options.get(kind_of(kind), KindOptions()).namespaces
        namespaces = sorted(self._namespaces if chosen is None else chosen)
        return [obj for each in namespaces for obj in await self._client.list(kind, namespace=each, **selectors)]

    async def _is_namespaced(self, kind: Kind[Any]) -> bool:
        declared = resource_of(cast(KindLike, kind)).namespaced
        return (await self._client.discovery.mapping(kind_of(kind))).namespaced if declared is None else declared

    def _goes_live(self, kind: Kind[Any]) -> bool:
        options = self._options.get(kind_of(kind), KindOptions())
        return (options.outside or self._outside) is Outside.LIVE


class _OwnWrites:
    """Hears of the writes of this process and lets the informers know."""

    def __init__(self, informers: Mapping[GroupVersionKind, Informer]) -> None:
        self._informers = informers

    def before(self, gvk: GroupVersionKind, key: Key) -> None:
        """Nothing: what is not answered is not known."""

    def after(
        self, gvk: GroupVersionKind, key: Key, verb: WriteVerb, body: bytes | None, error: BaseException | None
    ) -> None:
        """Take the answer of a write, if the kind is cached."""
        informer = self._informers.get(gvk)
        if informer is None or body is None or verb == "delete_all_of":
            return
        try:
            if verb == "delete":
                informer.lister.deleted(key, body)
            else:
                informer.lister.wrote(body)
        except Exception:
            log.exception("an own write is not seen before it comes back", extra={"kind": gvk.kind, "key": str(key)})


MIN_OBJECTS_TO_PAUSE = 32  # objects; fewer make less than one collection of young ones


@contextmanager
def garbage_collection_paused() -> Iterator[None]:
    """Do not collect in this block, which must not await: it would hold for everybody.

    A list of a thousand objects is some ten thousand new containers and no garbage. The collector, which runs after
    every 700, would look at them again and again: more than half of the time that decoding them takes.
    """
    if not gc.isenabled():  # somebody has their reasons
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
