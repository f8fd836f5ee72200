"""The shard of a controller: the sink that accepts requests of its slots only, and the runs that its replica may stop.

A request that another replica takes is left out. Once this replica takes its slot, the shard adds the requests of all
objects in that slot, as after a start.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import NamedTuple, Protocol

from pyctrl._time_slices import TimeSlice
from pyctrl.api import Key
from pyctrl.cache import Created, Informer, ListQuery, Record
from pyctrl.client import WriteGate, write_gates
from pyctrl.controller._causes import ReconcileCause, TriggerCause
from pyctrl.controller._request import Request
from pyctrl.controller._sharding.shard_key import ShardBy, ShardKey, slot_of_text, slot_of_uid
from pyctrl.controller._sources.kind import KindSource
from pyctrl.controller._workqueue.priority_heap import LOW_PRIORITY
from pyctrl.controller._workqueue.queue import Queue
from pyctrl.controller._workqueue.work_item import Done, WorkItem
from pyctrl.errors import CacheError
from pyctrl.rbac import Permission

__all__ = ["ControllerShard", "ShardAssignment", "ShardRun"]

log = logging.getLogger("pyctrl.controller")

SHARD_TAKEN = TriggerCause("shard taken")


class ShardAssignment(Protocol):
    """Knows which slots this replica works on; implemented by the manager."""

    #: Requests without an object in the cache are kept for this time, in case their slot comes to this replica.
    keep_for: timedelta
    #: The verbs that a controller needs, besides list and watch, for objects that its cache does not have, or that need
    #: a label; none if its caches are whole.
    verbs_beyond_cache: tuple[str, ...]

    def has(self, slot: int) -> bool:
        """Return whether this replica takes the requests of a slot, as far as it has noticed."""
        ...

    def may_begin(self, slot: int) -> bool:
        """Return whether a request of a slot may begin to run now. If not, `ControllerShard.take` adds it again."""
        ...

    def gate(self, slot: int) -> WriteGate:
        """Return the gate for the writes of a run that begins now."""
        ...

    def adopt(self, shard: ControllerShard) -> None:
        """Divide the requests of a controller; before it runs."""

    def release(self, shard: ControllerShard) -> None:
        """Forget a controller that has ended."""

    def finished(self) -> None:
        """Note that a run has ended, which the replica may wait for before it yields a slot."""


@dataclass(slots=True, eq=False)
class ShardRun:
    """A run of a reconcile."""

    slot: int
    item: WorkItem
    limit: asyncio.Timeout = field(default_factory=lambda: asyncio.timeout(None))


class _Absent(NamedTuple):
    """A request that was left out although the cache has no object for it."""

    slot: int
    until: float
    priority: int
    cause: ReconcileCause | None
    is_gone: bool


class ControllerShard:
    """The requests of one controller in the slots of its replica; a `RequestSink`.

    Args:
        name: of the controller.
        queue: of the controller.
        key: what divides its requests.
        source: the source of the objects that it reconciles; None if it reconciles something else.
        assignment: knows the slots.
        owned: the sources of objects that belong to those which it reconciles.
    """

    def __init__(
        self,
        name: str,
        queue: Queue,
        key: ShardKey,
        source: KindSource | None,
        assignment: ShardAssignment,
        *,
        owned: Sequence[KindSource] = (),
    ) -> None:
        self.name = name
        self._owned = owned
        self._queue, self._key, self._source, self._assignment = queue, key, source, assignment
        self._cluster = "" if source is None else source.cluster
        self._has_failed = False
        #: Runs that have ended, and those of them that failed.
        self.reconciles: int = 0
        self.errors: int = 0
        self._runs: dict[ShardRun, None] = {}
        self._absent: dict[Request, _Absent] = {}
        self._deleted: dict[Request, tuple[int, float]] = {}  # slots of deleted objects, and until when
        if source is not None:
            source.on_deleted = self._remember
            source.is_added_later = self._is_in_other_slot
        for each in owned:
            each.is_added_later = partial(self._has_owners_in_other_slots, each)

    @property
    def informer(self) -> Informer | None:
        """The informer of the objects that it reconciles."""
        return None if self._source is None else self._source.informer

    @property
    def rbac(self) -> tuple[Permission, ...]:
        """The permissions to read objects that the cache does not cover, such as one that was just deleted."""
        verbs = self._assignment.verbs_beyond_cache
        if self._source is None or not verbs:
            return ()
        read = [each for source in (self._source, *self._owned) for each in source.rbac]
        return tuple(replace(each, rule=replace(each.rule, verbs=verbs)) for each in read)

    # --- a request's slot ---

    def slot_of(self, request: Request) -> int | None:
        """Return the slot of a request: that of its object, or of its last state; else of its namespace and name.

        None for an object that the cache does not cover: another replica has it.
        """
        if self._key is ShardBy.NAMESPACE:
            return slot_of_text(request.namespace)
        if self._key is ShardBy.CLUSTER:
            return slot_of_text(request.cluster)
        record = self._find(request.key)
        if record is not None:
            return self._slot_of_object(record)
        if (deleted := self._deleted.get(request)) is not None:
            return deleted[0]
        return slot_of_text(str(request.key)) if self._covers_all else None

    @property
    def _covers_all(self) -> bool:
        informer = self.informer
        return informer is None or not informer.is_synced or informer.covers_all

    def _slot_of_object(self, record: Record) -> int:
        if self._key is ShardBy.UID:
            return slot_of_uid(record.uid)
        if self._key is ShardBy.NAMESPACE:
            return slot_of_text(record.namespace)
        if self._key is ShardBy.CLUSTER:
            return slot_of_text(self._cluster)
        try:
            text = self._key(record)
        except Exception:
            if not self._has_failed:
                self._has_failed = True
                log.exception("The shard key failed, namespace and name are used instead", extra={"object": record.key})
            text = ""
        return slot_of_text(text or str(record.key))

    def _request_of(self, record: Record) -> Request:
        return Request(record.namespace, record.name, self._cluster)

    def _find(self, key: Key) -> Record | None:
        if self._source is None:
            return None
        try:
            return self._source.informer.find(key)
        except CacheError:  # not listed yet, or not covered
            return None

    def _remember(self, record: Record) -> None:
        """Remember the slot of a deleted object: its request comes next, and may be retried."""
        now = asyncio.get_running_loop().time()
        self._forget_old(now)
        request = self._request_of(record)
        self._deleted.pop(request, None)  # the order is that of the times
        self._deleted[request] = (self._slot_of_object(record), now + self._assignment.keep_for.total_seconds())

    def _forget_old(self, now: float) -> None:
        while self._deleted:
            request, (slot, until) = next(iter(self._deleted.items()))
            if until > now:
                break
            del self._deleted[request]
            if self._queue.has_work(request):  # its retry needs the slot
                self._deleted[request] = (slot, now + self._assignment.keep_for.total_seconds())
        while self._absent:
            request, absent = next(iter(self._absent.items()))
            if absent.until > now:
                break
            del self._absent[request]

    # --- listed objects: `take` adds those in slots that this replica does not have yet ---

    def _is_in_other_slot(self, record: Record) -> bool:
        informer = self.informer
        if informer is None or (not informer.is_synced and informer.covers_all):
            return False  # a slot may be taken before the first list is complete: its events add the requests
        return not self._assignment.has(self._slot_of_object(record))

    def _has_owners_in_other_slots(self, source: KindSource, record: Record) -> bool:
        owners = [self._find(request.key) for request in source.requests_of(Created(record, initial=True))]
        return all(owner is not None and self._is_in_other_slot(owner) for owner in owners)

    # --- as a sink ---

    def add(
        self,
        request: Request,
        *,
        priority: int = 0,
        after: timedelta | None = None,
        cause: ReconcileCause | None = None,
        is_gone: bool = False,
    ) -> None:
        """Add a request if this replica has its slot; see `RequestSink`."""
        slot = self.slot_of(request)
        if slot is None:
            return
        if self._assignment.has(slot):
            self._queue.add(request, priority=priority, after=after, cause=cause, is_gone=is_gone)
        else:
            self._leave_out(request, slot, priority, cause, is_gone=is_gone)

    def _leave_out(
        self, request: Request, slot: int, priority: int, cause: ReconcileCause | None, *, is_gone: bool
    ) -> None:
        """Keep a request for a while if the cache has no object by which `take` would find it."""
        if self._find(request.key) is None:
            now = asyncio.get_running_loop().time()
            self._forget_old(now)
            self._absent.pop(request, None)  # the order is that of the times
            until = now + self._assignment.keep_for.total_seconds()
            self._absent[request] = _Absent(slot, until, priority, cause, is_gone)

    def drop(self, cluster: str) -> Sequence[Request]:
        """Drop the pending requests for objects of a cluster that is gone, and return them."""
        return self._queue.drop(cluster)

    # --- what its replica calls ---

    @property
    def busy(self) -> int:
        """The slots in which requests run."""
        slots = 0
        for run in self._runs:
            slots |= 1 << run.slot
        return slots

    @property
    def requests(self) -> int:
        """The number of requests that are ready or running."""
        statistics = self._queue.statistics()
        return statistics.ready + statistics.working

    async def take(self, slots: int) -> None:
        """Add the requests of all objects in slots that this replica has taken."""
        slice_ = TimeSlice.current()
        for request, absent in list(self._absent.items()):
            if slots >> absent.slot & 1 and self._absent.pop(request, None) is not None:
                self.add(request, priority=absent.priority, cause=absent.cause, is_gone=absent.is_gone)
        for record in self._records():
            if slots >> self._slot_of_object(record) & 1:
                self.add(self._request_of(record), priority=LOW_PRIORITY, cause=SHARD_TAKEN)
            await slice_.step()

    def _records(self) -> Iterable[Record]:
        if self._source is None or not self._source.informer.is_synced:
            return ()  # the first list adds them
        try:
            return self._source.informer.select(ListQuery())
        except CacheError:
            return ()

    async def lose(self, slots: int) -> None:
        """Drop the pending requests of slots that this replica takes no longer.

        None of them runs meanwhile: `handle` leaves out what begins. Those of slots that it takes again stay.
        """
        slice_ = TimeSlice.current()
        for request in self._queue.remaining():
            slot = self.slot_of(request)
            is_lost = slot is None or (slots >> slot & 1 and not self._assignment.has(slot))
            if is_lost and self._queue.drop_request(request) and slot is not None and self._find(request.key) is None:
                self._leave_out(request, slot, 0, SHARD_TAKEN, is_gone=False)
            await slice_.step()

    def cancel(self, slots: int) -> int:
        """Cancel the runs in slots that must move, each once, and return their number."""
        moved = [run for run in self._runs if slots >> run.slot & 1 and not run.item.is_moved]
        for run in moved:
            run.item.is_moved = True
            run.limit.reschedule(asyncio.get_running_loop().time())
        return len(moved)

    # --- as a worker's handler ---

    async def handle(self, item: WorkItem, handle: Callable[[WorkItem], Awaitable[None]]) -> None:
        """Reconcile a work item in its slot; leave it out if another replica has taken that since it was added."""
        slot = self.slot_of(item.request)
        if slot is None:
            item.give_up()
            return
        if not self._assignment.may_begin(slot):
            item.give_up()
            self._leave_out(item.request, slot, item.priority, next(iter(item.causes), None), is_gone=False)
            return
        run = ShardRun(slot, item)
        gates = write_gates.set((*write_gates.get(), self._assignment.gate(slot)))
        self._runs[run] = None
        try:
            async with run.limit:
                await handle(item)
        except TimeoutError:
            if not item.is_moved:
                raise
        finally:
            write_gates.reset(gates)
            del self._runs[run]
            if item.outcome is not None:
                self.reconciles += 1
                self.errors += not isinstance(item.outcome, Done)
            if not self._assignment.has(slot):
                item.give_up()  # without retries and timers: its new replica runs it at once
            self._assignment.finished()
