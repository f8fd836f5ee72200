"""The source of a kind that reconciles read: a change enqueues the requests whose last run has seen the object."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from pyctrl._time_slices import STEPS, TimeSlice
from pyctrl.api import KindLike
from pyctrl.cache import CachedClient, Change, Created, Record, Synced
from pyctrl.controller._causes import ChangeCause, ReconcileCause, TriggerCause
from pyctrl.controller._handlers import no_requests
from pyctrl.controller._object_change import ObjectChange
from pyctrl.controller._options import Absence
from pyctrl.controller._reads.kind_reads import KindReads
from pyctrl.controller._reads.reader import Subscriber
from pyctrl.controller._reads.run_reads import LateChange
from pyctrl.controller._reads.subscriptions import Subscriptions
from pyctrl.controller._sources.kind import KindSource, PendingChange, to_object_change
from pyctrl.controller._workqueue.priority_heap import LOW_PRIORITY
from pyctrl.controller._workqueue.request_sinks import RequestSink

__all__ = ["MAX_AT_ONCE", "STORM_RATE", "SubscriptionSource"]

#: Requests that one change enqueues at once. Those of an object that more have read are spread.
MAX_AT_ONCE = 100
#: Requests a second of one change beyond `MAX_AT_ONCE`: about what a controller with some workers achieves that sends a
#: few requests for each object.
STORM_RATE = 1000.0


class SubscriptionSource(KindSource):
    """The changes of a kind in ``reads``; each enqueues the requests that `Subscriptions` names.

    The first `MAX_AT_ONCE` requests of a change run at once. If there are more, all of them have `LOW_PRIORITY`, and
    those beyond are added at `STORM_RATE`, so that a change of an object that all requests read neither delays other
    changes nor floods the API server. A request runs earlier for any other cause.

    After the source was restarted, and when the kind is synced late, all requests that have read the kind are enqueued.

    Args:
        client: reads the cluster whose objects are followed.
        kind: the kind.
        subscriptions: the subscriptions of the controller.
        parts: see `KindReads`.
        predicates: a change counts when all of them accept it.
        is_elsewhere: as for `KindSource`, and the others, too.
    """

    def __init__(
        self,
        client: CachedClient,
        kind: KindLike,
        subscriptions: Subscriptions,
        parts: tuple[str, ...] = (),
        predicates: Iterable[Callable[[ObjectChange[Any]], bool]] = (),
        *,
        is_elsewhere: bool = False,
        absence: Absence = Absence.FAULT,
        namespaces: Collection[str] | None = None,
        names: Collection[str] = (),
    ) -> None:
        super().__init__(
            client,
            kind,
            no_requests,
            predicates,
            is_elsewhere=is_elsewhere,
            absence=absence,
            namespaces=namespaces,
            names=names,
        )
        self._subscriptions = subscriptions
        self._reads: KindReads = subscriptions.add_kind(self.informer, parts)

    def forget(self) -> Collection[Subscriber]:
        """Drop the subscriptions to the kind, and return the requests that had them."""
        return self._subscriptions.remove_kind(self.informer)

    def enqueue_all(self, queue: RequestSink, readers: Iterable[Subscriber], why: str) -> None:
        """Enqueue requests at `LOW_PRIORITY`, for another reason than a change."""
        for reader in readers:
            queue.add(reader.request, priority=LOW_PRIORITY, cause=TriggerCause(why))

    def _take(self, queue: RequestSink, change: Change) -> PendingChange | None:
        if isinstance(change, Synced):
            self.synced.set()
            synced = TriggerCause(f"{self.gvk.kind} synced, which this reconcile read")
            return self._enqueue(_Enqueuing(self._reads, list(self._reads.readers()), queue, synced, LOW_PRIORITY))
        object_change = to_object_change(change, self.kind, self.cluster)
        readers = self._subscriptions.readers_of_change(self._reads, object_change.before, object_change.after)
        if not readers:
            return None
        if self._predicates and not all(self._accepts(predicate, object_change) for predicate in self._predicates):
            return None
        priority, cause, _ = self._arguments_of_add(object_change)
        if len(readers) > MAX_AT_ONCE:
            priority = LOW_PRIORITY
        record = object_change.current if change.was_seen else None
        enqueuing = _Enqueuing(self._reads, list(readers), queue, replace(cause, was_read=True), priority, record)
        return self._enqueue(enqueuing)

    def _is_put_aside(self, change: Created) -> bool:
        return True  # nothing has read it, or everything runs again because of `Synced`

    def _enqueue(self, enqueuing: _Enqueuing) -> PendingChange | None:
        if len(enqueuing.readers) > STEPS:
            return enqueuing
        enqueuing.add_all()
        return None

    def __str__(self) -> str:
        return super().__str__().replace("kind source", "reads source", 1)


class _Enqueuing:
    """The requests that one change enqueues; a `PendingChange`.

    ``record`` is the object, if the change may be an own write of one of the requests.
    """

    def __init__(
        self,
        reads: KindReads,
        readers: list[Subscriber],
        queue: RequestSink,
        cause: ReconcileCause,
        priority: int,
        record: Record | None = None,
    ) -> None:
        self._reads, self.readers, self._queue, self._cause, self._priority = reads, readers, queue, cause, priority
        self._record = record

    def add_all(self) -> None:
        """Add all requests at once."""
        writer = self._writer()
        for number, reader in enumerate(self.readers):
            self._add(number, reader, writer)

    async def finish(self) -> None:
        """Add the requests a time slice at a time."""
        writer, slice_ = self._writer(), TimeSlice.current()
        for number, reader in enumerate(self.readers):
            self._add(number, reader, writer)
            await slice_.step()

    def drop(self) -> None:
        """Do nothing: nothing is held."""

    def _writer(self) -> object:
        """Return who has made the change: the reader whose run has written it, if that is known."""
        if self._record is None:
            return None
        is_deletion = isinstance(self._cause, ChangeCause) and self._cause.change == "deleted"
        return self._reads.informer.writer_of(self._record, is_deletion=is_deletion)

    def _add(self, number: int, reader: Subscriber, writer: object) -> None:
        if reader.run is not None:
            reader.run.late.append(LateChange(self._writer, lambda: self._enqueue(number, reader)))
        elif reader is not writer:
            self._enqueue(number, reader)

    def _enqueue(self, number: int, reader: Subscriber) -> None:
        after = timedelta(seconds=(number - MAX_AT_ONCE) / STORM_RATE) if number > MAX_AT_ONCE else None
        self._reads.enqueued += 1
        self._queue.add(reader.request, priority=self._priority, after=after, cause=self._cause)
