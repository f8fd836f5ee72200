"""Changes of a kind as a source: be told by the cache, filter, map, and put in line."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextvars import copy_context
from dataclasses import replace
from typing import Any, Protocol

from pyctrl._time_slices import SLICE, TimeSlice
from pyctrl.api import GroupVersionKind, KindLike, kind_of
from pyctrl.cache import CachedClient, Change, Created, Deleted, Informer, Synced, Updated
from pyctrl.controller._causes import ChangeCause
from pyctrl.controller._handlers import Handler, OwnerHandler, Requests, are_few, for_object, may_wait
from pyctrl.controller._object_change import ObjectChange
from pyctrl.controller._options import Absence
from pyctrl.controller._reconciler import Request
from pyctrl.controller._sources.source import Source
from pyctrl.controller._workqueue.priority_heap import LOW_PRIORITY
from pyctrl.controller._workqueue.queue import RequestSink
from pyctrl.errors import CacheError
from pyctrl.rbac import Permission

__all__ = ["ChangeListener", "KindSource", "PendingChange", "object_change"]


log = logging.getLogger("pyctrl.controller")

HANDLER_FAILED = "A handler failed, the change is lost"


class KindSource(Source):
    """What the cache tells about the objects of a kind, filtered by predicates and mapped to requests by a handler.

    The objects that are there at the beginning, and resyncs, go in line at low priority: what happens now goes first.
    A predicate that fails lets the change through, a handler that fails loses it; both are logged, and neither ends
    the source.

    Args:
        client: of the cluster whose objects they are.
        kind: of what.
        handler: says what to reconcile.
        predicates: which changes count.
        is_elsewhere: the cluster is not the one that the controller lives in.
        absence: what it means to the controller that the cluster does not serve the kind.
    """

    def __init__(
        self,
        client: CachedClient,
        kind: KindLike,
        handler: Handler[Any],
        predicates: Iterable[Callable[[ObjectChange[Any]], bool]] = (),
        *,
        is_elsewhere: bool = False,
        absence: Absence = Absence.FAULT,
    ) -> None:
        super().__init__()
        self.cluster: str = client.cluster
        self.kind: KindLike = kind
        self.gvk: GroupVersionKind = kind_of(kind)
        self._absence = absence
        self._informer: Informer = client.cache.informer(kind, optional=absence is not Absence.FAULT)
        self._discovery = client.live.discovery
        self._is_elsewhere = is_elsewhere
        self._handler = handler
        self._predicates: Sequence[Callable[[ObjectChange[Any]], bool]] = tuple(predicates)

    async def run(self, queue: RequestSink) -> None:
        """Follow the kind until cancelled."""
        if isinstance(self._handler, OwnerHandler):
            await self._handler.learn_scope(self._discovery)

        def take(change: Change) -> PendingChange | None:
            if isinstance(change, Synced):
                self.synced.set()
                return None
            return self._take(object_change(change, self.kind, self.cluster), queue)

        relay = ChangeListener(take)
        with self._informer.notifying(relay):
            await relay.run()

    async def wait_until_ready(self) -> None:
        """Wait until what is there has been delivered, or until there is no such kind and nobody minds."""
        if self._absence is Absence.IGNORE:
            await self._informer.wait_until_synced_or_failed()
            if not self._informer.is_synced:
                return
        await self.synced.wait()

    @property
    def rbac(self) -> Sequence[Permission]:
        """To list and to watch the kind; a controller that works without it does not wait for that."""
        permissions = self._informer.rbac
        if self._is_elsewhere:
            permissions = tuple(replace(each, cluster=self.cluster) for each in permissions)
        if self._absence is Absence.IGNORE:
            permissions = tuple(replace(each, is_essential=False) for each in permissions)
        return permissions

    def problem(self) -> str | None:
        """Return why the informer is not synced, or no longer up to date."""
        return None if self._informer.is_synced and self._informer.error is None else self._informer.reason

    @property
    def is_refused(self) -> bool:
        """Whether the kind may not be listed or watched."""
        return self._informer.is_refused

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is about another cluster than the one that the controller lives in."""
        return self._is_elsewhere

    @property
    def is_absent(self) -> bool:
        """Whether the cluster does not serve the kind, or no longer."""
        return self._informer.is_absent

    @property
    def is_failing(self) -> bool:
        """Whether the last list or watch has failed."""
        return self._informer.error is not None

    @property
    def absence(self) -> Absence:
        """What it means to the controller that the kind is not served."""
        return self._absence

    def is_own_write(self, cause: ChangeCause) -> bool:
        """Whether this process has written the version of the object that the cause tells of."""
        if (cause.kind, cause.cluster) != (self.gvk, self.cluster):
            return False
        return self._informer.is_own_write(cause.key, cause.version)

    def state_of(self, cause: ChangeCause) -> bytes | None:
        """Return the object of a change as the cache has it, own writes included; None when it is not there."""
        if (cause.kind, cause.cluster) != (self.gvk, self.cluster):
            return None
        try:
            record = self._informer.find(cause.key)
        except CacheError:
            return None
        return None if record is None else record.data

    def _take(self, observed: ObjectChange[Any], queue: RequestSink) -> PendingChange | None:
        if self._predicates and not self._is_wanted(observed):
            return None
        requests = self._requests(observed)
        if are_few(requests):
            self._put(observed, requests, queue)
            return None
        return _PendingRequests(self, observed, requests, queue)

    def _put(self, observed: ObjectChange[Any], requests: Iterable[Request], queue: RequestSink) -> None:
        priority, cause, is_gone = self._occasion(observed)
        for request in requests:
            queue.add(request, priority=priority, cause=cause, is_gone=is_gone)

    async def _put_long(self, observed: ObjectChange[Any], requests: Iterable[Request], queue: RequestSink) -> None:
        """Add requests a time slice at a time; a generator that fails loses the rest of them."""
        priority, cause, is_gone = self._occasion(observed)
        slice_ = TimeSlice.current()
        try:
            for request in requests:
                queue.add(request, priority=priority, cause=cause, is_gone=is_gone)
                await slice_.step()
        except Exception:
            log.exception(HANDLER_FAILED, extra=self._about(observed))

    def _occasion(self, observed: ObjectChange[Any]) -> tuple[int, ChangeCause, bool]:
        """Return what the requests of a change have in common: priority, cause, and whether their object is gone."""
        current, change = observed.current, observed.change
        cause = ChangeCause(
            self.gvk, current.key, change, str(current.version), observed.is_initial, cluster=self.cluster
        )
        is_no_news = observed.is_initial or (change == "updated" and observed.is_resync)
        priority = LOW_PRIORITY if is_no_news else 0
        return priority, cause, change == "deleted" and self._handler is for_object and not self._is_elsewhere

    def _is_wanted(self, observed: ObjectChange[Any]) -> bool:
        return all(self._accepts(predicate, observed) for predicate in self._predicates)

    def _accepts(self, predicate: Callable[[ObjectChange[Any]], bool], observed: ObjectChange[Any]) -> bool:
        try:
            return predicate(observed)
        except (Exception, asyncio.CancelledError):  # nobody cancels what does not wait: it is the predicate's own
            log.exception("A predicate failed, the change is let through", extra=self._about(observed))
            return True

    def _requests(self, observed: ObjectChange[Any]) -> Requests:
        try:
            return self._handler(observed)
        except (Exception, asyncio.CancelledError):
            log.exception(HANDLER_FAILED, extra=self._about(observed))
            return ()

    async def _awaited(self, observed: ObjectChange[Any], requests: Awaitable[Iterable[Request]]) -> Iterable[Request]:
        try:
            return await requests
        except Exception:
            log.exception(HANDLER_FAILED, extra=self._about(observed))
            return ()

    def _about(self, observed: ObjectChange[Any]) -> dict[str, object]:
        return {"source": str(self), "object": str(observed.current.key), "change": observed.change}

    def __str__(self) -> str:
        return f"kind source: {self.gvk}" + (f" in cluster {self.cluster}" if self.cluster else "")


class _PendingRequests:
    """A change whose handler waits for something, or has many requests."""

    def __init__(self, source: KindSource, observed: ObjectChange[Any], requests: Requests, queue: RequestSink) -> None:
        self._source, self._observed, self._requests, self._queue = source, observed, requests, queue

    async def finish(self) -> None:
        requests = self._requests
        if may_wait(requests):
            requests = await self._source._awaited(self._observed, requests)  # noqa: SLF001 - its other half
        await self._source._put_long(self._observed, requests, self._queue)  # noqa: SLF001

    def drop(self) -> None:
        if inspect.iscoroutine(self._requests):
            self._requests.close()  # it has begun or not: nobody is told that it was never awaited


def object_change(change: Created | Updated | Deleted, kind: KindLike, cluster: str = "") -> ObjectChange[Any]:
    """Return a change of the cache as predicates and handlers see it."""
    if isinstance(change, Updated):  # nearly always
        return ObjectChange(kind, change.old, change.new, cluster=cluster)
    if isinstance(change, Created):
        return ObjectChange(kind, None, change.new, is_initial=change.initial, cluster=cluster)
    return ObjectChange(kind, change.old, None, cluster=cluster)


#: Changes in a row that are handled in the informer's block: all who follow a kind do so, each on top of the other.
MAX_SYNCHRONOUS = 20


class PendingChange(Protocol):
    """A change that is not done with: its handler waits for something."""

    async def finish(self) -> None:
        """Wait for it and do the rest."""

    def drop(self) -> None:
        """Do not: nobody is there any more for whom it matters."""


class ChangeListener:
    """Hands changes to a function, in their order; a `Listener`.

    What happens now is handled in the very block in which the informer takes it: a worker that waits is the next to
    run. Everything else is kept, and handled by `run`, a time slice at a time: what was there before, what comes while
    something is waited for, what is more than a few changes in a row, and what follows one that took long. Nothing
    overtakes.

    What the function raises never gets to the informer; it ends `run`.

    Args:
        take: handles a change, or begins to.
    """

    def __init__(self, take: Callable[[Change], PendingChange | None]) -> None:
        self._take = take
        self._context = copy_context()  # and not the informer's: a handler may look at variables of its program
        self._kept: deque[Change] = deque()
        self._pending: PendingChange | None = None
        self._has_news = asyncio.Event()
        self._left = 0  # how many more may be handled at once
        self._error: BaseException | None = None
        self._loop = asyncio.get_running_loop()

    def push(self, change: Change) -> None:
        """Take a change from the informer."""
        # no await from here to the end of `take`: what came before is done with, and nothing can come between
        if self._kept or self._pending or not self._left or (type(change) is Created and change.initial):
            self._kept.append(change)
            self._has_news.set()
            return
        self._left -= 1
        began = self._loop.time()
        try:
            self._pending = self._context.run(self._take, change)
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - the informer has no part in it
            self._error, self._left = error, 0
        if self._loop.time() - began > SLICE:
            self._left = 0
            self._has_news.set()
        # Half-way in good time: while one comes in each turn of the loop, none ever has to wait.
        if self._pending or self._error or self._left == MAX_SYNCHRONOUS // 2:
            self._has_news.set()

    async def run(self) -> None:
        """Handle what is kept, until cancelled.

        Raises:
            Exception: the function has failed.
        """
        try:
            while self._error is None:
                self._has_news.clear()
                await self._handle_kept()
                self._left = MAX_SYNCHRONOUS
                await self._has_news.wait()
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
