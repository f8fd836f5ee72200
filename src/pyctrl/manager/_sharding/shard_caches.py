"""The caches of a replica that keeps only its own objects: informers of reconciled and owned kinds cover its slots."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Literal

from pyctrl.api import GroupVersionKind, ShardRange
from pyctrl.cache import Informer, Record
from pyctrl.controller import SLOTS, Controller, KindSource, all_slots, slots_in

__all__ = ["ShardCaches", "ranges_of", "slots_of", "uses_of"]

log = logging.getLogger("pyctrl.manager")

_SIZE = (1 << 64) // SLOTS


@dataclass(slots=True)
class Uses:
    """What controllers need of the objects of an informer."""

    is_reconciled: bool = False
    #: The kinds of the owners whose controllers follow the objects.
    owners: set[GroupVersionKind] = field(default_factory=set)
    #: Whether something needs all objects.
    is_whole: bool = False

    @property
    def needs_all(self) -> bool:
        """Whether no part is enough: an object that is reconciled and owned would belong to two slots."""
        return self.is_whole or (self.is_reconciled and bool(self.owners))


class ShardCaches:
    """Covers slots in the informers of the kinds that controllers reconcile and own, and says which can be worked on.

    A kind that another source follows or reads as well is covered whole: its other users need all objects.

    Args:
        memory: whether informers cover only slots of this replica, and whether the label is kept for them.
        changed: called when more slots can be worked on.
    """

    def __init__(self, memory: bool | Literal["label"], *, changed: Callable[[], None]) -> None:
        self._memory, self._changed = memory, changed
        #: Called with each object that a cache has seen with a wrong label.
        self.on_wrong_label: Callable[[Informer, Record], None] = lambda _informer, _record: None
        self._informers: dict[Informer, None] = {}
        self._waiting: dict[Informer, asyncio.Task[None]] = {}

    def adopt(self, controllers: Iterable[Controller]) -> None:
        """Cover only slots in the informers of what controllers reconcile and own, before the caches run.

        Args:
            controllers: all controllers of the program, also those whose requests are not divided.
        """
        if not self._memory:
            return
        for informer, uses in uses_of(controllers).items():
            if uses.needs_all:
                text = (
                    "Caching all objects of a kind that is reconciled or owned, as controllers need others of it, too"
                )
                log.info(text, extra={"kind": informer.gvk.kind})
                continue
            if uses.owners:
                informer.select_by_owner(uses.owners)
            if self._memory == "label":
                informer.shards.select_by_label()
                informer.shards.on_wrong_label = partial(self._note_wrong_label, informer)
            if uses.owners and not informer.shards.by_label:
                text = "Filtering objects of an owned kind by their owners: memory is sharded, traffic is not"
                log.info(text, extra={"kind": informer.gvk.kind, "owners": sorted(map(str, uses.owners))})
            informer.cover(())
            self._informers[informer] = None

    @property
    def informers(self) -> Collection[Informer]:
        """The informers that cover only slots of this replica."""
        return self._informers.keys()

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
            if not (informer.is_optional and informer.is_absent):  # there are no objects
                slots &= slots_of(informer.covered)
        return slots

    def _note_wrong_label(self, informer: Informer, record: Record) -> None:
        self.on_wrong_label(informer, record)

    def close(self) -> None:
        """Wait for no more lists."""
        for waiting in self._waiting.values():
            waiting.cancel()

    def _covered(self, informer: Informer, done: asyncio.Task[None]) -> None:
        del self._waiting[informer]
        if not done.cancelled() and done.exception() is None:
            self._changed()


def uses_of(controllers: Iterable[Controller]) -> dict[Informer, Uses]:
    """Return what controllers need of the objects of each informer."""
    uses: dict[Informer, Uses] = {}
    others: set[GroupVersionKind] = set()
    for controller in controllers:
        for source in controller.sources:
            if not isinstance(source, KindSource):
                others.update(source.follows)
                continue
            of_kind = uses.setdefault(source.informer, Uses())
            is_divided = controller.shard is not None and not source.is_elsewhere
            if is_divided and source.is_reconciled:
                of_kind.is_reconciled = True
            elif is_divided and source.owner is not None and source.owner.group_kind == _group_kind(controller):
                of_kind.owners.add(source.owner)
            else:
                of_kind.is_whole = True
    for informer, of_kind in uses.items():
        of_kind.is_whole |= informer.gvk in others
    return uses


def _group_kind(controller: Controller) -> object:
    return None if controller.kind is None else controller.kind.group_kind


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
