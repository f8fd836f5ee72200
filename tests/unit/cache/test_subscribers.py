"""Subscriptions to the changes of an informer."""

from __future__ import annotations

import asyncio

from pyctrl.cache import Change, Created, Deleted, Synced, Updated
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.cache._kit import CONFIGMAP, key, lab


async def test_a_subscription_begins_with_what_is_there() -> None:
    """A subscription yields Created for each existing object, marked as initial, then Synced once, then changes."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        with it.cache.informer(CONFIGMAP).subscribe() as changes:
            await it.create("c")
            await it.update("c", k="1")
            await it.direct.delete(CONFIGMAP, key("c"))
            await asyncio.sleep(1)
            told = [await anext(changes) for _ in range(6)]
        assert [type(change) for change in told] == [Created, Created, Synced, Created, Updated, Deleted]
        assert [change.initial for change in told if isinstance(change, Created)] == [True, True, False]
        assert isinstance(told[4], Updated)
        assert (told[4].decode_old(ConfigMap).data, told[4].decode(ConfigMap).data) == ({}, {"k": "1"})


class _Notes(list[Change]):
    """A listener that keeps what it was notified of."""

    def push(self, change: Change) -> None:
        self.append(change)


async def test_a_listener_may_leave_out_what_is_there() -> None:
    """Without ``replays`` a listener is notified of changes only, not of the objects that exist."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        notes = _Notes()
        with it.cache.informer(CONFIGMAP).notifying(notes, replays=False):
            await it.create("c")
            await asyncio.sleep(1)
        assert [each.key for each in notes if isinstance(each, Created)] == [key("c")]
        assert len(notes) == 1
