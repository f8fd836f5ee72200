"""Options of a kind: namespaces, selectors, managed fields, transforms."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from random import Random

import pytest

from pyctrl.api import Key
from pyctrl.apiserver import ApiServer
from pyctrl.cache import Cache, Deleted, KindOptions, Selector
from pyctrl.client import Client, InProcessTransport
from pyctrl.errors import NotSynced
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.testing import Delayed, Rule
from tests.unit.cache._kit import CONFIGMAP, DEFAULT, NAMESPACE, Mirror, config_map, key, lab


async def test_an_object_that_matches_two_selectors_is_one_object() -> None:
    """An object in two overlapping selectors is reported once and deleted when the last selector drops it."""
    options = KindOptions(selectors=[Selector(labels="x"), Selector(labels="y")])
    async with lab(options=options, before=()) as it:
        await it.cache.wait_for_sync()
        mirror = Mirror()
        with it.cache.informer(CONFIGMAP).subscribe() as changes:
            await it.direct.create(config_map("both", labels={"x": "1", "y": "1"}))
            await it.direct.update(config_map("both", labels={"x": "1"}))
            await it.direct.update(config_map("both", labels={"y": "1"}))
            await it.direct.update(config_map("both"))
            await asyncio.sleep(5)
            while len(changes):
                mirror.push(await anext(changes))
        assert mirror.versions == {}
        assert isinstance(mirror.changes[-1], Deleted)


async def test_a_kind_in_two_namespaces_is_synced_when_both_are() -> None:
    """Reads of a kind in two namespaces wait until both namespaces are listed."""
    slow = Rule(Delayed(timedelta(seconds=20)), path="/api/v1/namespaces/kube-system/configmaps")
    async with lab([slow], options=KindOptions(namespaces=[DEFAULT, "kube-system"])) as it:
        await asyncio.sleep(10)
        assert not it.cache.informer(CONFIGMAP).is_synced
        with pytest.raises(NotSynced):
            await it.cache.find(CONFIGMAP, key("a"))
        await it.cache.wait_for_sync()
        assert await it.cache.find(CONFIGMAP, key("a")) is not None


async def test_a_kind_without_namespaces_is_watched_whole() -> None:
    """The cache's namespaces do not restrict cluster-scoped kinds; a key's namespace is ignored."""
    client = Client(InProcessTransport(ApiServer(random=Random(7))))
    cache = Cache(client, namespaces=[DEFAULT])
    cache.informer(NAMESPACE)
    task = asyncio.create_task(cache.run())
    await cache.wait_for_sync()
    assert (await cache.get(NAMESPACE, Key("", "default"))).metadata.name == "default"
    assert (await cache.get(NAMESPACE, key("default", "ignored"))).metadata.name == "default"
    task.cancel()
    await asyncio.wait([task])


async def test_managed_fields_can_be_left_out() -> None:
    """Without managed fields the objects take less memory and lack nothing else; own writes are treated the same."""
    async with lab(options=KindOptions(strip_managed_fields=True)) as it:
        await it.cache.wait_for_sync()
        mine = await it.client.apply(config_map("mine").to_wire())
        assert mine.metadata.managed_fields
        for name in ("a", "mine"):
            assert (await it.cache.get(ConfigMap, key(name))).metadata.managed_fields == []
        assert (await it.cache.get(ConfigMap, key("a"))).metadata.uid
