"""Own writes before their events arrive."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.cache import CachedClient, KindOptions, Selector
from pyctrl.cache._overlay import Overlay
from pyctrl.cache._store import Store
from pyctrl.client import MergePatch
from pyctrl.errors import NotCovered
from pyctrl.testing import Rule, Silent
from tests.unit.cache._kit import CONFIGMAP, DEAF, config_map, key, lab, record, until


async def test_an_object_with_finalizers_is_seen_going_until_they_are_removed() -> None:
    """A delete with finalizers shows the deletion timestamp; without the last finalizer the object is gone."""
    async with lab([DEAF]) as it:
        client = CachedClient(it.cache, it.client)
        await it.cache.wait_for_sync()
        made = config_map("held")
        made.metadata.finalizers = ["example.com/hold"]
        await client.create(made)
        await client.delete(CONFIGMAP, key("held"))
        held = await client.get(CONFIGMAP, key("held"))
        assert held.metadata.deletion_timestamp is not None
        held.metadata.finalizers = []
        await client.update(held)
        assert await client.find(CONFIGMAP, key("held")) is None


async def test_a_name_that_is_used_again_shows_the_new_object() -> None:
    """After a delete and a create, the cache shows the new uid before the events of either arrive."""
    async with lab([DEAF]) as it:
        client = CachedClient(it.cache, it.client)
        await it.cache.wait_for_sync()
        before = await client.get(CONFIGMAP, key("a"))
        await client.delete(CONFIGMAP, key("a"))
        made = await client.create(config_map("a"))
        assert (await client.get(CONFIGMAP, key("a"))).metadata.uid == made.metadata.uid != before.metadata.uid


async def test_the_overlay_is_empty_once_the_informer_has_caught_up() -> None:
    """Own writes whose events have arrived take no memory."""
    async with lab() as it:
        client = CachedClient(it.cache, it.client)
        await it.cache.wait_for_sync()
        for number in range(20):
            await client.create(config_map(f"n{number}"))
        await client.delete(CONFIGMAP, key("a"))
        await asyncio.sleep(5)
        assert it.cache.statistics()[0].own_writes == 0
        assert len(await it.names()) == 21


async def test_a_write_that_takes_an_object_out_of_the_selection_hides_it() -> None:
    """An object that an own write moves out of the selectors is no longer shown."""
    options = KindOptions(selectors=[Selector(labels="app=x")])
    deaf = Rule(Silent(lines=2), path="*/configmaps", query={"watch": "true"}, times=None)
    async with lab([deaf], options=options, before=()) as it:
        client = CachedClient(it.cache, it.client)
        await it.direct.create(config_map("mine", labels={"app": "x"}))
        await it.cache.wait_for_sync()
        await until(lambda: len(it.cache.informer(CONFIGMAP).lister.store) == 1)
        await client.patch(CONFIGMAP, key("mine"), MergePatch({"metadata": {"labels": {"app": "z"}}}))
        assert list(await client.list(CONFIGMAP, labels="app=x")) == []
        with pytest.raises(NotCovered):
            await client.find(CONFIGMAP, key("mine"))


def test_the_number_of_own_writes_that_are_kept_is_bounded() -> None:
    """While a watch is down the oldest own writes are given up and counted."""
    overlay = Overlay(Store(), limit=2)
    for number in range(3):
        overlay.wrote(record(f"n{number}", number + 1), waiting=1, bringing=1)

    assert [each.name for each in overlay.select()] == ["n1", "n2"]
    assert (len(overlay), overlay.overflowed) == (2, 1)
