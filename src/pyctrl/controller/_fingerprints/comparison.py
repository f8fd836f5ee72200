"""Comparison of saved fingerprints with the cache, and the fingerprints of the present state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from pyctrl import _clock
from pyctrl._time_slices import TimeSlice
from pyctrl.api import Key
from pyctrl.cache import Informer, Record
from pyctrl.controller._fingerprints.converged import ConvergedRequests
from pyctrl.controller._fingerprints.digests import list_digest, object_digest, record_digest, to_digest
from pyctrl.controller._fingerprints.saved import SavedController, SavedKind, SavedRead, SavedRequest
from pyctrl.controller._reads.kind_reads import ObjectRead
from pyctrl.controller._reads.list_reads import ListRead
from pyctrl.controller._reads.list_selection import ListSelection
from pyctrl.controller._reads.reader import ReadTarget
from pyctrl.controller._request import Request
from pyctrl.controller._workqueue.queue import Queue

__all__ = ["AT_ONCE", "SavedComparison", "owned_digests", "save"]

AT_ONCE = 16  # objects or requests, which take a millisecond at most, between two looks at the time slice


class OwnedDigests(NamedTuple):
    """The digests of objects that have owners."""

    #: The sum of the digests of the objects that an owner has, by its uid.
    sums: dict[str, int]
    #: The uids of the owners of each object.
    owners: dict[Record, tuple[str, ...]]


async def owned_digests(requests: ConvergedRequests) -> OwnedDigests:
    """Return the digests of the objects of owned kinds."""
    sums, owners = found = OwnedDigests({}, {})
    slice_ = TimeSlice.current()
    for informer in requests.followed.owned:
        for number, record in enumerate(list(informer.lister.store)):
            uids = owners[record] = record.owner_uids
            digest = int.from_bytes(record_digest(informer.gvk, record), "big") if uids else 0
            for uid in uids:
                sums[uid] = sums.get(uid, 0) + digest
            if not number % AT_ONCE:
                await slice_.step()
    return found


async def kind_digest(informer: Informer) -> bytes:
    """Return the digest of all objects of a kind, b"" if it cannot be known now. Much faster than that of each list."""
    if informer.lister.overlay.entries or not informer.is_synced:
        return b""
    total, slice_ = 0, TimeSlice.current()
    for number, record in enumerate(list(informer.lister.store)):
        total += int.from_bytes(record_digest(informer.gvk, record), "big")
        if not number % AT_ONCE:
            await slice_.step()
    return to_digest(total)


class ListDigests:
    """The digests of many lists, made in one pass over the objects of each kind, which is faster than by list.

    A list of a kind that has changed since the pass is read again.
    """

    def __init__(self, requests: ConvergedRequests) -> None:
        self._requests = requests
        self._sums: dict[ListRead, int] = {}
        self._changes: dict[Informer, int] = {}  # at the beginning of the pass

    async def add(self, informer: Informer) -> None:
        """Make a pass over the objects of a kind, in time slices, unless it was made."""
        if informer in self._changes:
            return
        self._changes[informer] = self._requests.changes[informer]
        slice_ = TimeSlice.current()
        for kind in self._requests.reads_of_kind(informer):
            for number, record in enumerate(list(informer.lister.store)):
                digest = 0
                for read in kind.lists_of(record):
                    digest = digest or int.from_bytes(record_digest(informer.gvk, record), "big")
                    self._sums[read] = self._sums.get(read, 0) + digest
                if not number % AT_ONCE:
                    await slice_.step()

    def digest(self, informer: Informer, read: ListRead) -> bytes | None:
        """Return the digest of a list; None if it cannot be known now."""
        is_old = self._changes.get(informer) != self._requests.changes[informer]
        if is_old or informer.lister.overlay.entries or not informer.is_synced:
            return list_digest(informer, read.selection)
        return to_digest(self._sums.get(read, 0))


class SavedComparison:
    """Compares saved fingerprints with the cache. Each read is compared once, unless its kind changes meanwhile.

    Args:
        requests: knows the kinds, and takes the requests that have converged.
        saved: the fingerprints.
        informers: the informers of the cache that exist.
        owned: what `owned_digests` has returned.
    """

    def __init__(
        self,
        requests: ConvergedRequests,
        saved: SavedController,
        informers: Iterable[Informer],
        owned: OwnedDigests,
    ) -> None:
        self._requests, self._saved, self._owned = requests, saved, owned
        self._restored: set[str] = set()  # uids
        known = {str(informer.gvk): informer for informer in informers}
        self._informers = [known.get(kind.name) for kind in saved.kinds]
        self._unchanged: dict[Informer, int] = {}  # kinds of which no object differs, with the number of changes
        self._kinds = [requests.kind(informer) for informer in self._informers if informer is not None]
        self._texts: dict[tuple[str, str], tuple[str, str]] = {}  # keys and operators, which selections have in common
        self._lists = ListDigests(requests)
        self._made: dict[int, ReadTarget] = {}
        self._answers: dict[int, tuple[bool, int]] = {}  # with the number of changes of the kind at that time
        # Plain tuples, which equal requests: the garbage collector does not traverse tuples of strings.
        self._by_request = {(each.namespace, each.name, ""): each for each in saved.requests}

    async def prepare(self) -> None:
        """Find the kinds that are as they were, and the digests of all lists of the others."""
        for kind in self._kinds:
            kind.keep_unread_lists()
        differing = [place for place in range(len(self._informers)) if not await self._find_unchanged(place)]
        slice_ = TimeSlice.current()
        for place, saved in enumerate(self._saved.reads if differing else ()):
            if saved.selection is not None and saved.kind in differing:
                self._read(place)
            if not place % AT_ONCE:
                await slice_.step()
        for place in differing:
            informer = self._informers[place]
            if informer is not None and self._requests.kind(informer).has_lists:
                await self._lists.add(informer)

    async def _find_unchanged(self, place: int) -> bool:
        """Return whether all objects of a kind are as they were, and so is all that was read of it."""
        informer = self._informers[place]
        if informer is None:
            return False
        changes = self._requests.changes[informer]
        if not (digest := await kind_digest(informer)) or digest != self._saved.kinds[place].digest:
            return False
        self._unchanged[informer] = changes
        return True

    def close(self) -> None:
        """Forget what was read by none of the requests that were restored."""
        for kind in self._kinds:
            kind.forget_unread_lists()
        self._made.clear()

    def restore(self, request: Request) -> SavedRequest | None:
        """Return the fingerprint of a request if it is that of the present state, and restore its subscriptions."""
        found = self._by_request.get(request)
        reconciled = self._requests.followed.reconciled
        if found is None or reconciled is None or not self._requests.may_restore(request):
            return None
        own = reconciled.lister.store.get(request.namespace, request.name)
        if own is None or record_digest(reconciled.gvk, own) != found.digest:
            return None
        pending = reconciled.lister.overlay.entries  # writes of this process that no watch has confirmed
        if pending and request.key in pending:
            return None
        if to_digest(self._owned.sums.get(own.uid, 0)) != found.owned or not all(map(self._is_same, found.reads)):
            return None
        reads = [read for place in found.reads if (read := self._read(place)) is not None]
        self._requests.restore(request, reads, found.ran_at)
        self._restored.add(own.uid)
        return found

    def has_restored_owners(self, record: Record) -> bool:
        """Return whether all owners of an object were restored."""
        uids = self._owned.owners.get(record, ())
        return len(uids) > 0 and self._restored.issuperset(uids)

    def _is_same(self, place: int) -> bool:
        """Return whether what was read is as it was."""
        saved = self._saved.reads[place]
        informer = self._informers[saved.kind]
        if informer is None:
            return False
        changes = self._requests.changes[informer]
        if self._unchanged.get(informer) == changes and not informer.lister.overlay.entries:
            return True
        known = self._answers.get(place)
        if known is not None and known[1] == changes:
            return known[0]
        answer = self._digest(informer, place) == saved.digest
        self._answers[place] = (answer, changes)
        return answer

    def _read(self, place: int) -> ReadTarget | None:
        if place in self._made:
            return self._made[place]
        saved = self._saved.reads[place]
        informer = self._informers[saved.kind]
        if informer is None:
            return None
        kind = self._requests.kind(informer)
        if saved.selection is None:
            return kind.object(_key(saved))
        read = self._made[place] = kind.list_of(self._shared(saved.selection))
        return read

    def _shared(self, selection: ListSelection) -> ListSelection:
        """Return the selection with texts that it shares with others: decoded, each has its own."""
        shared = self._texts.setdefault
        labels = tuple([(*shared(label[:2], label[:2]), label[2]) for label in selection.labels])
        return ListSelection(selection.namespace, labels, selection.fields, selection.index)

    def _digest(self, informer: Informer, place: int) -> bytes | None:
        saved = self._saved.reads[place]
        if saved.selection is None:
            return object_digest(informer, _key(saved))
        read = self._read(place)
        return self._lists.digest(informer, read) if isinstance(read, ListRead) else None


def _key(saved: SavedRead) -> Key:
    namespace, name = saved.key or ("", "")
    return Key(namespace, name)


async def save(requests: ConvergedRequests, queue: Queue) -> SavedController:
    """Return the fingerprints of the requests that have converged and are not pending.

    It works in time slices. A request that runs meanwhile, or no longer converges, has no fingerprint: its parts would
    be of different times.
    """
    candidates = dict(requests.requests)
    owned = (await owned_digests(requests)).sums
    changes = {informer: requests.changes[informer] for informer in requests.informers}
    digests = {informer: await kind_digest(informer) for informer in changes}
    lists = ListDigests(requests)
    for informer in changes:
        await lists.add(informer)
    slice_, table = TimeSlice.current(), _ReadTable(lists)
    found: dict[Request, SavedRequest] = {}
    for number, (request, converged) in enumerate(candidates.items()):
        if not number % AT_ONCE:
            await slice_.step()
        if requests.requests.get(request) is converged and not queue.has_work(request):
            saved = _fingerprint(requests, request, converged.ran_at, queue, table, owned)
            if saved is not None:
                found[request] = saved
    # no await from here on
    unchanged = {
        informer: digest for informer, digest in digests.items() if changes[informer] == requests.changes[informer]
    }
    kinds = [SavedKind(str(informer.gvk), unchanged.get(informer, b"")) for informer in table.kinds]
    whole = [
        saved
        for request, saved in found.items()
        if requests.requests.get(request) is candidates[request] and not queue.has_work(request)
    ]
    return SavedController(requests.followed.described, tuple(kinds), tuple(table.reads), tuple(whole))


def _fingerprint(
    requests: ConvergedRequests,
    request: Request,
    ran_at: float,
    queue: Queue,
    table: _ReadTable,
    owned: dict[str, int],
) -> SavedRequest | None:
    reconciled = requests.followed.reconciled
    assert reconciled is not None  # else the controller has no fingerprints
    digest = object_digest(reconciled, request.key)
    own = reconciled.lister.overlay.find(request.key)
    if not digest or own is None:
        return None
    places = [table.place_of(read) for read in requests.reads_of(request)]
    timer = queue.timer_of(request)
    if None in places or (timer is not None and timer[0] == float("inf")):
        return None
    return SavedRequest(
        namespace=request.namespace,
        name=request.name,
        digest=digest,
        owned=to_digest(owned.get(own.uid, 0)),
        ran_at=int(ran_at),
        reads=tuple(place for place in places if place is not None),
        due=None if timer is None else _clock.now().timestamp() + timer[0],
        priority=0 if timer is None else timer[1],
    )


class _ReadTable:
    """The reads of all requests, each once."""

    def __init__(self, lists: ListDigests) -> None:
        self._lists = lists
        self.kinds: dict[Informer, int] = {}
        self.reads: list[SavedRead] = []
        self._places: dict[ReadTarget, int | None] = {}

    def place_of(self, read: ReadTarget) -> int | None:
        """Return the place of a read in the table; None if its digest cannot be known now."""
        if read not in self._places:
            saved = self._saved(read)
            self._places[read] = None if saved is None else len(self.reads)
            if saved is not None:
                self.reads.append(saved)
        return self._places[read]

    def _saved(self, read: ReadTarget) -> SavedRead | None:
        match read:
            case ObjectRead():
                informer, key = read.home.informer, Key(read.namespace, read.name)
                digest = object_digest(informer, key)
                return None if digest is None else SavedRead(self._kind(informer), digest, key=key)
            case ListRead(selection=selection):
                informer = read.home.informer
                digest = self._lists.digest(informer, read)
                return None if digest is None else SavedRead(self._kind(informer), digest, selection=selection)
        return None

    def _kind(self, informer: Informer) -> int:
        return self.kinds.setdefault(informer, len(self.kinds))
