"""The subscriptions of a controller: which request has read what."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from pyctrl.api import Key, Kind, kind_of
from pyctrl.cache import Informer, Record
from pyctrl.controller._reads.kind_reads import KindReads
from pyctrl.controller._reads.reader import ReadTarget, Subscriber
from pyctrl.controller._reads.run_reads import RunReads
from pyctrl.controller._reads.undeclared import UndeclaredReads
from pyctrl.controller._reads.views import ReadView
from pyctrl.controller._request import Request
from pyctrl.controller._workqueue.work_item import Done, Outcome
from pyctrl.errors import CacheError

if TYPE_CHECKING:
    from pyctrl.controller._reads.statistics import SubscriptionStatistics

__all__ = ["Subscriptions"]


class Subscriptions:
    """What the last run of each request has read of the kinds in ``reads``, in both directions.

    Guarantees:

    - A change of an object that the last run of a request has read, alone, as missing, or in a list that contains it
      before or after the change, enqueues the request.
    - A read counts from its moment on, also in a run that fails or is cancelled. A change during the run, after the
      read, runs the request once more.
    - The reads of a successful run replace those of earlier runs. Those of a run that fails or is cancelled are added
      to those of the last successful run, until the next run ends: it may have failed before it read everything.
    - The request's own writes do not enqueue it, but they enqueue others that have read the object. An own write that
      only a list shows, after an interrupted watch, does enqueue it: the list may hide a change by others.
    - Changes of the request's own object are those of ``reconciles``, with its predicates.
    - A request whose object does not exist, and the end of the controller, drop the subscriptions.

    It may run a request that would have nothing to do: for a change that its next run has seen already, because it
    came between the change and its event; for a write of another request of this process that it has seen through the
    cache before the event; and for a change that was delayed (see `SubscriptionSource`), after a run in between.

    Args:
        controller: the name of the controller.
        reconciled: the informer of the reconciled kind.
        cluster: the cluster of the controller.
    """

    def __init__(self, controller: str, *, reconciled: Informer | None = None, cluster: str = "") -> None:
        #: What was read of each kind, by its informer.
        self.kinds: dict[Informer, KindReads] = {}
        self.undeclared: UndeclaredReads = UndeclaredReads(controller)
        self._reconciled, self._cluster = reconciled, cluster
        self._readers: dict[Request, Subscriber] = {}

    # --- the kinds ---

    def add_kind(self, informer: Informer, parts: tuple[str, ...] = ()) -> KindReads:
        """Subscribe requests to what they read of a kind from now on."""
        return self.kinds.setdefault(informer, KindReads(informer, parts))

    def remove_kind(self, informer: Informer) -> Collection[Subscriber]:
        """Forget a kind, as when its cluster leaves. Return the requests that had read it."""
        kind = self.kinds.pop(informer, None)
        if kind is None:
            return ()
        readers = dict.fromkeys(kind.readers())
        gone = set(kind.reads())
        for reader in readers:
            reader.reads = tuple(read for read in reader.reads if read not in gone)
            reader.also = tuple(read for read in reader.also if read not in gone)
        return readers

    def is_own_object(self, request: Request, informer: Informer, key: Key) -> bool:
        """Return whether an object is that of a request, whose changes are those of ``reconciles``."""
        return (
            informer is self._reconciled
            and (request.name, request.namespace) == (key.name, key.namespace)
            and request.cluster == self._cluster
        )

    def readers_of_change(self, kind: KindReads, before: Record | None, after: Record | None) -> Collection[Subscriber]:
        """Return the requests that a change of an object of a kind enqueues."""
        readers = kind.readers_of(before, after)
        if readers and kind.informer is self._reconciled and (current := after or before):
            key = current.key
            return [reader for reader in readers if not self.is_own_object(reader.request, kind.informer, key)]
        return readers

    # --- runs ---

    def begin(self, request: Request, former: object = None) -> RunReads:
        """Begin a run and return the observer of its reads. Call it only if there are `kinds`.

        A request that has read nothing yet may keep its ``former`` identity as a writer.
        """
        reader = self._readers.get(request) or (former if isinstance(former, Subscriber) else Subscriber(request))
        reader.run = run = RunReads(self, reader)
        return run

    def end(self, run: RunReads, outcome: Outcome | None) -> None:
        """End a run: its reads replace those of earlier runs or, unless it has succeeded, are added to them."""
        reader, reads = run.writer, run.reads
        reader.run = None
        if self._is_gone(reader.request):
            _drop(reader, (*reader.reads, *reader.also, *reads), keep=())
            reader.reads = reader.also = ()
            run.late.clear()
        elif isinstance(outcome, Done):
            _drop(reader, (*reader.reads, *reader.also), keep=reads)
            if reader.also or len(reader.reads) != len(reads) or reader.reads != tuple(reads):
                reader.reads, reader.also = tuple(reads), ()
        else:
            former = dict.fromkeys(reader.reads)
            _drop(reader, reader.also, keep=reads | former)
            reader.also = tuple(read for read in reads if read not in former)
        self._keep(reader)
        run.end()

    def restore(self, request: Request, reads: Collection[ReadTarget]) -> None:
        """Take what the last run of a request has read before the program was restarted."""
        reader = Subscriber(request, reads=tuple(reads))
        for read in reader.reads:
            read.add(reader)
        self._keep(reader)

    def all_reads_of(self, request: Request) -> tuple[ReadTarget, ...]:
        """Return what the last runs of a request have read."""
        reader = self._readers.get(request)
        return () if reader is None else (*reader.reads, *reader.also)

    def clear(self) -> None:
        """Drop all subscriptions, as when the controller stops."""
        for reader in self._readers.values():
            _drop(reader, (*reader.reads, *reader.also), keep=())
        self._readers.clear()

    def _keep(self, reader: Subscriber) -> None:
        if reader.reads or reader.also:
            self._readers[reader.request] = reader
        else:
            self._readers.pop(reader.request, None)

    def _is_gone(self, request: Request) -> bool:
        """Return whether the object of a request does not exist."""
        if self._reconciled is None or request.cluster != self._cluster:
            return False
        try:
            return self._reconciled.find(request.key) is None
        except CacheError:
            return False

    # --- views ---

    def reads_of(self, request: Request) -> tuple[ReadView, ...]:
        """Return what the last runs of a request have read, in the order of the reads."""
        return tuple(read.view() for read in self.all_reads_of(request))

    def readers_of(self, kind: Kind[Any], key: Key, *, cluster: str = "") -> tuple[Request, ...]:
        """Return the requests that a change of an object would enqueue."""
        found = dict[Request, None]()
        for reads in self._of_kind(kind, cluster):
            record = reads.informer.lister.overlay.find(key)
            found |= {reader.request: None for reader in reads.readers_of_object(key, record)}
        return tuple(found)

    def statistics(self) -> tuple[SubscriptionStatistics, ...]:
        """Return numbers about each kind."""
        from pyctrl.controller._reads.statistics import SubscriptionStatistics  # here: not needed to start

        return tuple(SubscriptionStatistics.of(reads) for reads in self.kinds.values())

    def __iter__(self) -> Iterator[Request]:
        """Iterate over the requests that have read something."""
        return iter(self._readers)

    def __len__(self) -> int:
        """Return the number of requests that have read something."""
        return len(self._readers)

    def _of_kind(self, kind: Kind[Any], cluster: str) -> Iterator[KindReads]:
        wanted = (kind_of(kind).group_kind, cluster)
        return (each for each in self.kinds.values() if (each.informer.gvk.group_kind, each.informer.cluster) == wanted)


def _drop(reader: Subscriber, reads: Collection[ReadTarget], *, keep: Collection[ReadTarget]) -> None:
    for read in reads:
        if read not in keep:
            read.remove(reader)
