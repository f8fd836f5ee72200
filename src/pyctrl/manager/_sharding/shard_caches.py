"""The caches of a replica that keeps only its own objects: informers of reconciled kinds cover its slots."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable
from functools import cache, partial

from pyctrl.api import GroupVersionKind, ShardRange
from pyctrl.cache import Informer
from pyctrl.controller import SLOTS, ControllerShard, all_slots, slots_in

__all__ = ["ShardCaches", "ranges_of", "slots_of"]

log = logging.getLogger("pyctrl.manager")

_SIZE = (1 << 64) // SLOTS


class ShardCaches:
    """Covers slots in the informers of the kinds that controllers reconcile, and says which can be worked on.

    A kind that another source follows or reads as well is covered whole: its other users need all objects.

    Args:
        is_on: whether informers cover only slots of this replica.
        changed: called when more slots can be worked on.
    """

    def __init__(self, *, is_on: bool, changed: Callable[[], None]) -> None:
        self._is_on, self._changed = is_on, changed
        self._informers: dict[Informer, None] = {}
        self._waiting: dict[Informer, asyncio.Task[None]] = {}

    def adopt(self, shard: ControllerShard, others: Collection[GroupVersionKind]) -> None:
        """Cover only slots in the informer of what a controller reconciles, before the caches run.

        Args:
            shard: of the controller.
            others: the kinds that other sources follow or reconcilers read.
        """
        informer = shard.informer
        if not self._is_on or informer is None:
            return
        if informer.gvk in others:
            text = "Caching all objects of a reconciled kind, which other controllers follow or read, too"
            log.info(text, extra={"kind": informer.gvk.kind})
            return
        informer.cover(())
        self._informers[informer] = None

    def cover(self, slots: int) -> None:
        """Cover these slots and no others."""
        for informer in self._informers:
            informer.cover(ranges_of(slots))
            if informer not in self._waiting:
                waiting = asyncio.get_running_loop().create_task(informer.wait_until_covered())
                self._waiting[informer] = waiting
                waiting.add_done_callback(partial(self._covered, informer))

    @property
    def covered(self) -> int:
        """The slots that all informers have."""
        slots = all_slots()
        for informer in self._informers:
            slots &= slots_of(informer.covered)
        return slots

    def close(self) -> None:
        """Wait for no more lists."""
        for waiting in self._waiting.values():
            waiting.cancel()

    def _covered(self, informer: Informer, done: asyncio.Task[None]) -> None:
        del self._waiting[informer]
        if not done.cancelled() and done.exception() is None:
            self._changed()


@cache
def _range_of(slot: int) -> ShardRange:
    return ShardRange(slot * _SIZE, (slot + 1) * _SIZE)


def ranges_of(slots: int) -> list[ShardRange]:
    """Return the hash ranges of slots."""
    return [_range_of(slot) for slot in slots_in(slots)]


def slots_of(ranges: Iterable[ShardRange]) -> int:
    """Return the slots that are whole in ranges, which are merged."""
    slots = 0
    for each in ranges:
        first, end = -(-each.start // _SIZE), each.end // _SIZE
        if end > first:
            slots |= (1 << end) - (1 << first)
    return slots
