"""The source of a kind: listens to the cache, filters changes, maps them to requests and adds these to the queue."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Protocol

from pyctrl._time_slices import SLICE, STEPS, TimeSlice
from pyctrl.api import GroupVersionKind, Key, KindLike, kind_of
from pyctrl.cache import CachedClient, Change, Created, Deleted, Informer, Record, Synced, Updated
from pyctrl.controller._causes import ChangeCause
from pyctrl.controller._handlers import Handler, OwnerHandler, Requests, are_few, may_wait
from pyctrl.controller._object_change import ObjectChange
from pyctrl.controller._options import Absence
from pyctrl.controller._request import Request
from pyctrl.controller._sources.source import Source
from pyctrl.controller._workqueue.priority_heap import LOW_PRIORITY
from pyctrl.controller._workqueue.request_sinks import RequestSink
from pyctrl.errors import CacheError, NotSynced
from pyctrl.rbac import Permission

__all__ = ["ChangeListener", "KindSource", "PendingChange", "to_object_change"]


log = logging.getLogger("pyctrl.controller")

HANDLER_FAILED = "A handler failed, the change is lost"

#: Changes in a row that are handled in the informer's call. All sources of a kind share that call.
MAX_SYNCHRONOUS = 20


class KindSource(Source):
    """The changes of a kind in the cache, filtered by predicates and mapped to requests by a handler.

    The objects of the first list, and resyncs, are added at `LOW_PRIORITY`, so that new changes go first. A predicate
    that fails lets the change through. A handler that fails loses it. Both are logged, and neither ends the source. A
    handler that reads a kind before its first list is complete is called again after that.

    Args:
        client: reads the cluster whose objects are followed.
        kind: the kind to follow.
        handler: returns the requests of a change.
        predicates: a change counts when all of them accept it.
        is_elsewhere: whether the cluster is another one than the controller's.
        is_reconciled: whether the controller reconciles these objects, so that a deletion cancels the object's timer.
        absence: how the controller takes it that the cluster does not serve the kind.
        namespaces: the namespaces to follow; None: those of the cache.
        names: the names of the objects to follow; empty: all objects.
    """

    def __init__(
        self,
        client: CachedClient,
        kind: KindLike,
        handler: Handler[Any],
        predicates: Iterable[Callable[[ObjectChange[Any]], bool]] = (),
        *,
        is_elsewhere: bool = False,
        is_reconciled: bool = False,
        absence: Absence = Absence.FAULT,
        namespaces: Collection[str] | None = None,
        names: Collection[str] = (),
    ) -> None:
        super().__init__()
        self.cluster: str = client.cluster
        self.kind: KindLike = kind
        self.gvk: GroupVersionKind = kind_of(kind)
        self._absence = absence
        #: The informer of the kind.
        self.informer: Informer = client.cache.informer(
            kind, optional=absence is not Absence.FAULT, namespaces=namespaces, names=names
        )
        self._discovery = client.live.discovery
        self._is_elsewhere = is_elsewhere
        #: Whether the controller reconciles these objects.
        self.is_reconciled: bool = is_reconciled
        #: Maps a change to requests.
        self.handler: Handler[Any] = handler
        #: Called with the last state of each deleted object, before its requests are added.
        self.on_deleted: Callable[[Record], None] | None = None
        #: Says of a listed object, before its requests are mapped, that these will be added in another way.
        self.is_added_later: Callable[[Record], bool] | None = None
        self._predicates: Sequence[Callable[[ObjectChange[Any]], bool]] = tuple(predicates)
        self._held: list[Created] | None = None  # the objects of the first list, while they are held back

    async def run(self, queue: RequestSink) -> None:
        """Follow the kind until cancelled."""
        if self._held is not None:
            self._held = []  # all objects are listed again
        if isinstance(self.handler, OwnerHandler):
            await self.handler.learn_scope(self._discovery)

        listener = ChangeListener(partial(self._take, queue), self._is_put_aside)
        with self.informer.notifying(listener):
            await listener.run()

    def hold(self) -> None:
        """Hold back the objects of the first list from now on, until `release`. The handler must not wait."""
        self._held = []

    def release(self) -> list[Created]:
        """Return the objects that are held back. Objects that are listed later are handled at once."""
        held, self._held = self._held or [], None
        return held

    def requests_of(self, change: Created) -> list[Request]:
        """Return the requests for an object that was held back."""
        listed = to_object_change(change, self.kind, self.cluster)
        if self._predicates and not all(self._accepts(predicate, listed) for predicate in self._predicates):
            return []
        requests = self.handler(listed)
        assert isinstance(requests, list)  # as `for_object` and `OwnerHandler` return it
        return requests

    def add(self, queue: RequestSink, request: Request, change: Created) -> None:
        """Add a request for an object that was held back."""
        priority, cause, _ = self._arguments_of_add(to_object_change(change, self.kind, self.cluster))
        queue.add(request, priority=priority, cause=cause)

    async def wait_until_ready(self) -> None:
        """Wait until the objects of the first list are in the queue or held back, or an optional kind is not served."""
        if self._absence is Absence.IGNORE:
            await self.informer.wait_until_synced_or_failed()
            if not self.informer.is_synced:
                return
        await self.synced.wait()

    @property
    def rbac(self) -> Sequence[Permission]:
        """The permissions to list and watch the kind; not essential to a controller that works without the kind."""
        permissions = self.informer.rbac
        if self._is_elsewhere:
            permissions = tuple(replace(each, cluster=self.cluster) for each in permissions)
        if self._absence is Absence.IGNORE:
            permissions = tuple(replace(each, is_essential=False) for each in permissions)
        return permissions

    @property
    def follows(self) -> tuple[GroupVersionKind]:
        """The kind."""
        return (self.gvk,)

    def problem(self) -> str | None:
        """Return why the informer is not synced, or no longer up to date."""
        return None if self.informer.is_synced and self.informer.error is None else self.informer.reason

    @property
    def is_refused(self) -> bool:
        """Whether the kind may not be listed or watched."""
        return self.informer.is_refused

    @property
    def owner(self) -> GroupVersionKind | None:
        """The kind whose objects it requests because they own the objects of this kind; None for other handlers."""
        return self.handler.owner if isinstance(self.handler, OwnerHandler) else None

    @property
    def is_elsewhere(self) -> bool:
        """Whether the objects are in another cluster than the controller's."""
        return self._is_elsewhere

    @property
    def is_absent(self) -> bool:
        """Whether the cluster does not serve the kind, or no longer."""
        return self.informer.is_absent

    @property
    def is_failing(self) -> bool:
        """Whether the last list or watch has failed."""
        return self.informer.error is not None

    @property
    def absence(self) -> Absence:
        """How the controller takes it that the kind is not served."""
        return self._absence

    def is_own_write(self, cause: ChangeCause) -> bool:
        """Return whether this process has written the version of the object that the cause names."""
        if (cause.kind, cause.cluster) != (self.gvk, self.cluster):
            return False
        return self.informer.is_own_write(cause.key, cause.version)

    def state_of(self, cause: ChangeCause) -> bytes | None:
        """Return the JSON of the object of a change, own writes included; None when the cache does not have it."""
        if (cause.kind, cause.cluster) != (self.gvk, self.cluster):
            return None
        try:
            record = self.informer.find(cause.key)
        except CacheError:
            return None
        return None if record is None else record.data

    def _take(self, queue: RequestSink, change: Change) -> PendingChange | None:
        """Filter a change of the cache, map it to requests and add them.

        One function, because every event passes through it. Return what must be waited for, else None.
        """
        if type(change) is Updated:  # nearly always
            object_change: ObjectChange[Any] = ObjectChange(self.kind, change.old, change.new, cluster=self.cluster)
        elif isinstance(change, Synced):
            self.synced.set()
            return None
        else:
            object_change = to_object_change(change, self.kind, self.cluster)
            if self.on_deleted is not None and isinstance(change, Deleted):
                self.on_deleted(change.old)
        if self._predicates and not all(self._accepts(predicate, object_change) for predicate in self._predicates):
            return None
        try:
            requests = self.handler(object_change)
        except NotSynced:
            return _PendingRequests(self, object_change, None, queue)
        except (Exception, asyncio.CancelledError):
            log.exception(HANDLER_FAILED, extra=self._log_fields(object_change))
            return None
        if (type(requests) is list and len(requests) <= STEPS) or are_few(requests):
            priority, cause, is_gone = self._arguments_of_add(object_change)
            for request in requests:
                queue.add(request, priority=priority, cause=cause, is_gone=is_gone)
            return None
        return _PendingRequests(self, object_change, requests, queue)

    def _is_put_aside(self, change: Created) -> bool:
        """Return whether nothing is left to do for a listed object; hold it back if those of the first list are."""
        if self._held is not None:
            self._held.append(change)
            return True
        return self.is_added_later is not None and self.is_added_later(change.new)

    def _accepts(self, predicate: Callable[[ObjectChange[Any]], bool], change: ObjectChange[Any]) -> bool:
        try:
            return predicate(change)
        except (Exception, asyncio.CancelledError):  # a predicate never waits: a CancelledError is its own
            log.exception("A predicate failed, the change is let through", extra=self._log_fields(change))
            return True

    def _arguments_of_add(self, change: ObjectChange[Any]) -> tuple[int, ChangeCause, bool]:
        """Return priority and cause of the requests of a change, and whether their object is gone."""
        before, current = change.before, change.after
        verb: Literal["created", "updated", "deleted"] = "updated"
        priority = 0
        owner_uids: tuple[str, ...] = ()
        if current is None:
            current, verb = before, "deleted"
            owner_uids = () if before is None else before.owner_uids
        elif before is None:
            verb = "created"
            if change.is_initial:
                priority = LOW_PRIORITY
        elif before.version == current.version and change.is_resync:
            priority = LOW_PRIORITY
        assert current is not None  # a change has a state before or after it
        key = Key(current.namespace, current.name)
        cause = ChangeCause(self.gvk, key, verb, str(current.version), change.is_initial, 1, self.cluster, owner_uids)
        return priority, cause, verb == "deleted" and self.is_reconciled

    async def _add_all(self, change: ObjectChange[Any], requests: Iterable[Request], queue: RequestSink) -> None:
        """Add requests a time slice at a time. A generator that fails loses the rest of them."""
        priority, cause, is_gone = self._arguments_of_add(change)
        slice_ = TimeSlice.current()
        try:
            for request in requests:
                queue.add(request, priority=priority, cause=cause, is_gone=is_gone)
                await slice_.step()
        except Exception:
            log.exception(HANDLER_FAILED, extra=self._log_fields(change))

    async def _await(self, change: ObjectChange[Any], requests: Requests | None) -> Iterable[Request]:
        """Wait for what the handler has returned. Call it again after each kind that it reads too early is synced."""
        waited = set[object]()
        try:
            while True:
                try:
                    requests = self.handler(change) if requests is None else requests
                    return await requests if may_wait(requests) else requests
                except NotSynced as error:
                    if error.wait is None or error.wait in waited:
                        raise
                    waited.add(error.wait)
                    await error.wait()
                    requests = None
        except Exception:
            log.exception(HANDLER_FAILED, extra=self._log_fields(change))
            return ()

    def _log_fields(self, change: ObjectChange[Any]) -> dict[str, object]:
        return {"source": str(self), "object": str(change.current.key), "change": change.change}

    def __str__(self) -> str:
        return f"kind source: {self.gvk}" + (f" in cluster {self.cluster}" if self.cluster else "")


class PendingChange(Protocol):
    """A change that is not handled to its end: its handler waits for something, or has many requests."""

    async def finish(self) -> None:
        """Handle the rest."""

    def drop(self) -> None:
        """Release what is held for the rest, which is not handled."""


class _PendingRequests:
    """A change whose handler is async, returns many requests, or reads too early (None); a `PendingChange`."""

    def __init__(
        self, source: KindSource, change: ObjectChange[Any], requests: Requests | None, queue: RequestSink
    ) -> None:
        self._source, self._change, self._requests, self._queue = source, change, requests, queue

    async def finish(self) -> None:
        requests = self._requests
        if requests is None or may_wait(requests):
            requests = await self._source._await(self._change, requests)  # noqa: SLF001 - its other half
        await self._source._add_all(self._change, requests, self._queue)  # noqa: SLF001

    def drop(self) -> None:
        if inspect.iscoroutine(self._requests):
            self._requests.close()  # else Python warns of a coroutine that was never awaited


def to_object_change(change: Created | Updated | Deleted, kind: KindLike, cluster: str = "") -> ObjectChange[Any]:
    """Return a change of the cache as predicates and handlers see it."""
    if isinstance(change, Created):
        return ObjectChange(kind, None, change.new, is_initial=change.initial, cluster=cluster)
    if isinstance(change, Deleted):
        return ObjectChange(kind, change.old, None, cluster=cluster)
    return ObjectChange(kind, change.old, change.new, cluster=cluster)


class ChangeListener:
    """Passes the changes of an informer to a function, in their order; a `Listener`.

    A change is handled synchronously, in the call in which the informer reports it, so that an idle worker runs next.
    `run` handles all others, a time slice at a time: the objects of the first list, changes behind one whose handler
    waits, changes beyond `MAX_SYNCHRONOUS` in a row, and changes behind one that took longer than a time slice. No
    change overtakes another.

    What the function raises never reaches the informer. It ends `run`.

    Args:
        take: handles a change, and returns what is left to wait for.
        is_put_aside: is called first for an object of the first list, and returns whether nothing is left to do.
    """

    def __init__(
        self,
        take: Callable[[Change], PendingChange | None],
        is_put_aside: Callable[[Created], bool] = lambda _change: False,
    ) -> None:
        self._take, self._is_put_aside = take, is_put_aside
        self._context = copy_context()  # a handler sees the context variables of its controller, not the informer's
        self._kept: deque[Change] = deque()
        self._pending: PendingChange | None = None
        self._has_work = asyncio.Event()
        self._synchronous_left = 0  # changes that may be handled before `run` must get a turn
        self._error: BaseException | None = None
        self._loop = asyncio.get_running_loop()

    def push(self, change: Change) -> None:
        """Take a change from the informer."""
        # No await up to the end of `take`: earlier changes are handled, and none can come in between.
        is_initial = False
        if type(change) is Created and change.initial:
            if self._is_put_aside(change):
                return
            is_initial = True
        if self._kept or self._pending or not self._synchronous_left or is_initial:
            self._kept.append(change)
            self._has_work.set()
            return
        self._synchronous_left -= 1
        began = self._loop.time()
        try:
            self._pending = self._context.run(self._take, change)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - `run` raises it, not the informer
            self._error, self._synchronous_left = error, 0
        if self._loop.time() - began > SLICE:
            self._synchronous_left = 0
            self._has_work.set()
        # `run` is woken at half of them: with one change in each turn of the loop, none ever has to wait.
        if self._pending or self._error or self._synchronous_left == MAX_SYNCHRONOUS // 2:
            self._has_work.set()

    async def run(self) -> None:
        """Handle the changes that are kept, until cancelled.

        Raises:
            Exception: the function has failed.
        """
        try:
            while self._error is None:
                self._has_work.clear()
                await self._handle_kept()
                self._synchronous_left = MAX_SYNCHRONOUS
                await self._has_work.wait()
            raise self._error
        finally:
            if self._pending:
                self._pending.drop()

    async def _handle_kept(self) -> None:
        slice_ = TimeSlice.current()
        while self._kept or self._pending:
            if self._pending is None:
                self._pending = self._take(self._kept.popleft())
            if self._pending is not None:
                await self._pending.finish()
                self._pending = None
            if slice_.is_over(self._loop.time()):
                await slice_.renew()
