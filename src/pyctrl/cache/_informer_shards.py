"""What an informer covers of its kind by hash ranges, and who selects the objects in them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence

from pyctrl._backoff import Backoff
from pyctrl._time_slices import STEPS, TimeSlice
from pyctrl.api import GroupVersionKind, ShardRange, ShardSelector, merge_ranges, subtract_ranges
from pyctrl.cache._covered_ranges import EVERYTHING, CoveredRanges, Ranges
from pyctrl.cache._decoder import read_page
from pyctrl.cache._lister import Lister
from pyctrl.cache._options import ShardMemory
from pyctrl.cache._record import Record
from pyctrl.cache._reflector import CHECK_TIMEOUT, ListWatch
from pyctrl.cache._shard_uid import OwnerKinds, OwnerLike, shard_label, shard_uid
from pyctrl.client import Transport
from pyctrl.errors import CacheError, DecodeError, TransportError

__all__ = ["InformerShards"]

log = logging.getLogger("pyctrl.cache")

_AT_ONCE = 10  # objects, of 5 µs each, between two looks at the clock

#: A range of one hash, in which there is hardly an object: a server that selects by it sends none.
_NONE = ShardSelector((ShardRange(0, 1),))


class InformerShards:
    """The hash ranges of an informer, whether uids of owners count, and whether the server selects by the label.

    Args:
        gvk: the kind.
        lister: has the ranges of each coverage once it is watched.
        memory: the option of the kind.
    """

    def __init__(self, gvk: GroupVersionKind, lister: Lister, memory: ShardMemory) -> None:
        self._gvk, self._lister = gvk, lister
        #: The option of the kind.
        self.memory: ShardMemory = memory
        #: The ranges to cover; None: all objects.
        self.wanted: Ranges | None = None
        #: The kinds of owners by whose uid objects are selected; empty: by their own.
        self.owners: OwnerKinds = ()
        #: Whether the server gets a label selector; None while that depends on what else it can.
        self.by_label: bool | None = memory is ShardMemory.LABEL
        #: Called with each object that a list or watch by label has brought although its label is wrong.
        self.on_wrong_label: Callable[[Record], None] | None = None
        self._decided = asyncio.Event()
        self._has_unwanted = asyncio.Event()

    def select_by_label(self) -> None:
        """Select by the label where the server cannot select by hash, unless the option of the kind says otherwise."""
        if self.memory is ShardMemory.AUTO:
            self.by_label = True if self.owners else None

    def cover(self, ranges: Iterable[ShardRange] | None, *, is_running: bool) -> None:
        """Cover these ranges, and no others; see `Informer.cover`. Raises CacheError."""
        if self.memory is ShardMemory.OFF:
            return
        if is_running and not self._lister.ranges:
            raise CacheError(
                f"{self._gvk} is watched already, all of it; call cover() before the cache runs, or set "
                "KindOptions(shard_ranges=...) for it"
            )
        while self._lister.drop_some(STEPS):  # before a range comes back whose old objects are still there
            pass
        before, self.wanted = self.wanted, EVERYTHING if ranges is None else merge_ranges(ranges)
        for each in self._lister.ranges:
            each.want(self.wanted)
        if before is None or subtract_ranges(before, self.wanted):
            self._lister.begin_to_drop()
            self._has_unwanted.set()

    async def drop_always(self) -> None:
        """Drop the objects of ranges that are no longer wanted, a time slice at a time, until cancelled."""
        slice_ = TimeSlice.current()
        while True:
            await self._has_unwanted.wait()
            self._has_unwanted.clear()
            while self._lister.drop_some(_AT_ONCE):
                await slice_.step()

    @property
    def covered(self) -> Ranges:
        """The ranges whose objects are in the store and watched, once it is synced."""
        if self.wanted is None:
            return EVERYTHING
        missing = [part for each in self._lister.ranges for part in each.pending]
        return subtract_ranges(self.wanted, missing)

    @property
    def covers_all(self) -> bool:
        """Whether an object that is not in the store does not exist: one without the label may."""
        return self.wanted is None or (self.wanted == EVERYTHING and not self.by_label)

    def new_ranges(self) -> CoveredRanges:
        """Return the ranges of a coverage that is to be watched."""
        ranges = CoveredRanges(self.wanted or (), self.owners, by_label=bool(self.by_label))
        ranges.on_wrong_label = self.on_wrong_label if self.by_label else None
        return ranges

    def label(self, uid: str, owners: Sequence[OwnerLike]) -> str | None:
        """Return the label of an object; None as long as it has no uid."""
        found = shard_uid(uid, owners, self.owners)
        return shard_label(found) if found or self.owners else None

    # --- what the server can ---

    async def decide(self, transport: Transport, list_watch: ListWatch, backoff: Backoff) -> None:
        """Ask the server whether it selects by hash, if that matters. Asks until there is an answer."""
        while self.by_label is None:
            try:
                self.by_label = not await _selects_by_hash(transport, list_watch)
            except (TransportError, DecodeError, TimeoutError):
                await asyncio.sleep(backoff.next(asyncio.get_running_loop().time()))
        if self.by_label and self.wanted is not None:
            log.info("Selecting the shard of %s by label", list_watch.path, extra=dict(list_watch.log_fields))
        self._decided.set()

    async def selects_by_label(self) -> bool:
        """Wait until it is known whether the server gets a label selector, and return it."""
        await self._decided.wait()
        return bool(self.by_label) and self.wanted is not None


async def _selects_by_hash(transport: Transport, list_watch: ListWatch) -> bool:
    """Return whether the server applies shard selectors, as far as it shows; False if it refuses to list."""
    selector = ("shardSelector", str(_NONE))
    found = None
    for query in ((("limit", "1"), selector), (("limit", "1"),)):
        request = list_watch.request(*query, timeout=CHECK_TIMEOUT)
        response = await transport.request(request)
        if response.status != 200:
            return False
        found = read_page(response.body)
        if selector in query and (found.items or found.metadata.shard_info is not None):
            return not found.items
    return found is not None and bool(found.items)  # an object that the selector left out; custom resources do not say
