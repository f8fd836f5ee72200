"""The requests that have converged: their last run has succeeded, and nothing that matters has changed since."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack

from msgspec import Struct

from pyctrl import _clock
from pyctrl.api import Key
from pyctrl.cache import Change, Created, Deleted, Informer, ReadObserver, Record, Synced, Updated
from pyctrl.client import live_reads
from pyctrl.controller._fingerprints.followed import FollowedKinds
from pyctrl.controller._fingerprints.tracked_run import ChangeMeanwhile, OwnWriter, TrackedRun
from pyctrl.controller._object_change import ObjectChange
from pyctrl.controller._reads.kind_reads import KindReads, ObjectRead
from pyctrl.controller._reads.list_reads import ListRead
from pyctrl.controller._reads.list_selection import ListSelection
from pyctrl.controller._reads.reader import ReadTarget, Subscriber
from pyctrl.controller._reads.run_reads import RunReads
from pyctrl.controller._reads.subscriptions import Subscriptions
from pyctrl.controller._request import Request
from pyctrl.controller._workqueue.work_item import Done, Outcome
from pyctrl.errors import CacheError

__all__ = ["Converged", "ConvergedRequests"]

OWNER_INDEX = "owner"  # of the cache: by the uids of owners


class Converged(Struct, gc=False, eq=False):
    """A request that has converged, with what its last run has read that the subscriptions do not have."""

    reader: Subscriber
    #: The wall time of the run, in seconds since the epoch.
    ran_at: float
    #: The identity by which writes of that run are known; None if it was before a restart.
    writer: object = None


class ConvergedRequests:
    """Knows which requests of a controller have converged; observes their runs and all changes.

    A request has converged when its last run has succeeded without a doubt, and since then nothing has changed that the
    run has read from the cache, nor its object, nor an object that it owns, except by the run's own writes. This is
    stricter than what runs a request: a change that a predicate ignores ends it, too. So a restart runs the request, as
    without fingerprints. Of a kind with ``reading(..., of=...)`` only the named parts count, as for subscriptions.

    It calls the subscriptions of the controller for each run, and has reads of its own for kinds that these do not
    have. It is called by informers before any source takes the change from its queue.

    Args:
        controller: the name of the controller.
        followed: the kinds that it reconciles and owns.
        subscriptions: its subscriptions.
        on_change: is called when a request has converged, or no longer has.
    """

    def __init__(
        self, controller: str, followed: FollowedKinds, subscriptions: Subscriptions, on_change: Callable[[], None]
    ) -> None:
        self.controller: str = controller
        self.followed: FollowedKinds = followed
        self.subscriptions: Subscriptions = subscriptions
        #: The requests that have converged.
        self.requests: dict[Request, Converged] = {}
        #: How many runs have not converged, by the reason.
        self.doubts: Counter[str] = Counter()
        #: The number of changes of each kind, of which answers that are kept depend.
        self.changes: defaultdict[Informer, int] = defaultdict(int)
        self._silent: dict[Informer, KindReads] = {}
        self._running: dict[Request, TrackedRun] = {}
        self._former: dict[Request, Converged] = {}
        self._restored: set[Request] = set()  # those that have not run since the start
        self._changed_early: set[Request] | None = None  # those affected by a change before they could be restored
        self._on_change = on_change
        self._listening = ExitStack()
        self._heard: set[Informer] = set()

    # --- kinds ---

    def open(self) -> None:
        """Begin to listen to all kinds that the controller follows."""
        assert self.followed.reconciled is not None  # else the controller has no fingerprints
        self._changed_early = set()
        for informer in (self.followed.reconciled, *self.followed.owned, *self.subscriptions.kinds):
            self._listen(informer)

    def close(self) -> None:
        """Forget everything, and listen to nothing any more."""
        self._listening.close()
        self._heard.clear()
        for each in (*self.requests.values(), *self._former.values()):
            _drop(each.reader, each.reader.reads)
        self.requests.clear()
        self._restored.clear()
        self._changed_early = None
        self._former.clear()
        self._running.clear()

    def _listen(self, informer: Informer) -> None:
        if informer not in self._heard:
            self._heard.add(informer)
            self._listening.enter_context(informer.notifying(_Listener(self, informer), replays=False))

    def silent(self, informer: Informer) -> KindReads:
        """Return the reads of a kind that the subscriptions do not have; listen to it from now on."""
        kind = self._silent.get(informer)
        if kind is None:
            kind = self._silent[informer] = KindReads(informer)
        self._listen(informer)
        return kind

    def kind(self, informer: Informer) -> KindReads:
        """Return the reads of a kind, of the subscriptions if these have it."""
        return self.subscriptions.kinds.get(informer) or self.silent(informer)

    @property
    def informers(self) -> Collection[Informer]:
        """The informers of the kinds of which something was read."""
        return dict.fromkeys((*self.subscriptions.kinds, *self._silent))

    def reads_of_kind(self, informer: Informer) -> Iterator[KindReads]:
        """Yield the reads of a kind: those of the subscriptions, and those that these do not have."""
        for kinds in (self.subscriptions.kinds, self._silent):
            if informer in kinds:
                yield kinds[informer]

    def is_subscribed(self, informer: Informer) -> bool:
        """Return whether the subscriptions have the reads of a kind."""
        return informer in self.subscriptions.kinds

    def is_own_object(self, request: Request, informer: Informer, key: Key) -> bool:
        """Return whether an object is that of a request."""
        return self.subscriptions.is_own_object(request, informer, key)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds that the controller follows, with the manner."""
        return self.followed.described

    @property
    def undeclared(self) -> ReadObserver:
        """The observer of runs without any kind, which there are not."""
        return self.subscriptions.undeclared

    # --- runs: called by the reconcile handler in place of the subscriptions ---

    def begin(self, request: Request) -> TrackedRun:
        """Begin a run and return the observer of its reads."""
        former = self.requests.pop(request, None)
        observer: ReadObserver = self.subscriptions.undeclared
        if self.subscriptions.kinds:
            observer = self.subscriptions.begin(request, None if former is None else former.writer)
        run = TrackedRun(self, request, observer)
        self._running[request] = run
        self._restored.discard(request)
        if former is not None:
            self._former[request] = former
        live_reads.set(run.live)
        return run

    def end(self, run: TrackedRun, outcome: Outcome | None) -> None:
        """End a run, and note whether the request has converged."""
        live_reads.set(None)
        run.is_over = True
        writer = run.writer
        if isinstance(run.inner, RunReads):
            self.subscriptions.end(run.inner, outcome)
        del self._running[run.request]
        doubt = run.doubt or self._doubt(run, writer, outcome)
        kept = () if doubt else self._kept_reads(run)
        _drop(run.reader, [read for read in run.reads if read not in kept])
        if (former := self._former.pop(run.request, None)) is not None:
            _drop(former.reader, former.reader.reads)
        if doubt:
            self.doubts[doubt] += 1
        else:
            run.reader.reads = kept
            self.requests[run.request] = Converged(run.reader, _clock.now().timestamp(), writer)
        self._on_change()

    def restore(self, request: Request, reads: Collection[ReadTarget], ran_at: float) -> None:
        """Take a request that has converged before a restart, with all that its last run has read."""
        kinds = self.subscriptions.kinds
        subscribed = [read for read in reads if read.informer in kinds]
        self.subscriptions.restore(request, subscribed)
        silent = () if len(subscribed) == len(reads) else tuple(read for read in reads if read.informer not in kinds)
        reader = Subscriber(request, reads=silent)
        for read in silent:
            read.add(reader)
        self.requests[request] = Converged(reader, ran_at)
        self._restored.add(request)

    def may_restore(self, request: Request) -> bool:
        """Return whether no change since `open` has affected a request. What was compared may be from before it."""
        return self._changed_early is not None and request not in self._changed_early

    def end_start(self) -> None:
        """End the time in which requests are restored."""
        self._changed_early = None

    def has_run(self, request: Request) -> bool:
        """Return whether a request that was restored has run since the start."""
        return request not in self._restored

    def reads_of(self, request: Request) -> tuple[ReadTarget, ...]:
        """Return all that the last run of a converged request has read."""
        return (*self.subscriptions.all_reads_of(request), *self.requests[request].reader.reads)

    def _doubt(self, run: TrackedRun, writer: object, outcome: Outcome | None) -> str:
        """Return why a request has not converged; "" if it has."""
        if not isinstance(outcome, Done):
            return "it failed"
        if run.live:
            return "it reads from the server"
        if any(not _is_own(change, writer) for change in run.meanwhile):
            return "something changed meanwhile"
        return "" if self._own_record(run.request) is not None else "its object does not exist"

    def _kept_reads(self, run: TrackedRun) -> tuple[ReadTarget, ...]:
        """Return the reads that must be kept: an object that is owned, and the list of these, are known anyway."""
        own = self._own_record(run.request)
        uid = own.uid if own is not None else ""
        return tuple(read for read in run.reads if not self._is_owned(read, uid))

    def _is_owned(self, read: ReadTarget, uid: str) -> bool:
        match read:
            case ListRead(selection=ListSelection(index=(name, value))):
                return read.home.informer in self.followed.owned and (name, value) == (OWNER_INDEX, uid)
            case ObjectRead() if read.home.informer in self.followed.owned:
                record = read.home.informer.lister.overlay.find(Key(read.namespace, read.name))
                return record is not None and uid in record.owner_uids
        return False

    def _own_record(self, request: Request) -> Record | None:
        assert self.followed.reconciled is not None
        try:
            return self.followed.reconciled.find(request.key)
        except CacheError:
            return None

    # --- changes ---

    def changed(self, informer: Informer, before: Record | None, after: Record | None, *, was_seen: bool) -> None:
        """Take a change of an object: the requests that it affects have no longer converged."""
        self.changes[informer] += 1
        record = after or before
        assert record is not None  # a change has a state before or after it
        change = ChangeMeanwhile(informer, record, after is None, was_seen)
        for request in self._affected(informer, before, after):
            if (run := self._running.get(request)) is not None:
                run.meanwhile.append(change)
            elif (found := self.requests.get(request)) is not None and not _is_own(change, found.writer):
                del self.requests[request]
                _drop(found.reader, found.reader.reads)
                self._on_change()
            elif found is None and self._changed_early is not None:
                self._changed_early.add(request)

    def _affected(self, informer: Informer, before: Record | None, after: Record | None) -> Iterator[Request]:
        if informer is self.followed.reconciled and (current := after or before) is not None:
            yield Request(current.namespace, current.name)
        for handler in self.followed.owned.get(informer, ()):
            yield from handler(ObjectChange(informer.gvk, before, after))
        for kind in self.reads_of_kind(informer):
            yield from [reader.request for reader in kind.readers_of(before, after)]


class _Listener:
    """Passes the changes of a kind on, except for those of its first list; a `StoreListener`."""

    def __init__(self, requests: ConvergedRequests, informer: Informer) -> None:
        self._requests, self._informer = requests, informer

    def push(self, change: Change) -> None:
        before: Record | None = None
        after: Record | None = None
        match change:
            case Synced() | Created(initial=True):
                return
            case Updated():
                before, after = change.old, change.new
                if before.version == after.version and after.version:
                    return  # a resync
            case Created():
                after = change.new
            case Deleted():
                before = change.old
        self._requests.changed(self._informer, before, after, was_seen=change.was_seen)


def _is_own(change: ChangeMeanwhile, writer: object) -> bool:
    """Return whether a run with this identity has made a change itself, and no list may hide another one."""
    if not change.was_seen or writer is None:
        return False
    found = change.informer.writer_of(change.record, is_deletion=change.is_deletion)
    return found is writer or (isinstance(found, OwnWriter) and found == writer)


def _drop(reader: Subscriber, reads: Collection[ReadTarget]) -> None:
    for read in reads:
        read.remove(reader)
    reader.reads = ()
