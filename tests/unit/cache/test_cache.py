"""The cache as users see it: reads, coverage, own writes, informers added and removed at run time."""

from __future__ import annotations

import pytest

from pyctrl.api import GroupVersionKind, Metadata
from pyctrl.cache import KindOptions, Outside, Selector
from pyctrl.errors import NotCovered, NotFound, NotSynced
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.testing import Rule, Silent
from tests.unit.cache._kit import CONFIGMAP, DEFAULT, SECOND, _is, config_map, key, lab, until

# --- reading ---


async def test_one_store_answers_typed_untyped_and_metadata_readers() -> None:
    """Typed, untyped and metadata reads of a kind share one informer; each returns its own class."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        assert isinstance(await it.cache.get(ConfigMap, key("a")), ConfigMap)
        untyped = await it.cache.get(CONFIGMAP, key("a"))
        assert (untyped.api_version, untyped.kind) == ("v1", "ConfigMap")
        assert (await it.cache.get(Metadata[ConfigMap], key("a"))).metadata.name == "a"
        assert it.cache.informer(ConfigMap) is it.cache.informer(CONFIGMAP)
        assert len(it.watches) == 1


async def test_a_read_gives_a_fresh_object() -> None:
    """Changing an object that was read does not affect the next read."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        first = await it.cache.get(ConfigMap, key("a"))
        first.metadata.labels["mine"] = "yes"
        assert (await it.cache.get(ConfigMap, key("a"))).metadata.labels == {}


async def test_get_raises_where_find_returns_none() -> None:
    """For a missing object `get` raises NotFound and `find` returns None."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        with pytest.raises(NotFound, match="default/none"):
            await it.cache.get(ConfigMap, key("none"))
        assert await it.cache.find(ConfigMap, key("none")) is None


async def test_reads_before_the_first_list_are_refused_with_the_reason() -> None:
    """NotSynced names the cause; waiting for the sync times out with the same cause."""
    async with lab([Rule(Silent(), path="*/configmaps", times=None)]) as it:
        with pytest.raises(NotSynced, match="ConfigMap"):
            await it.cache.get(ConfigMap, key("a"))
        with pytest.raises(NotSynced, match="within 0:00:05"):
            await it.cache.wait_for_sync(timeout=5 * SECOND)


# --- coverage ---


async def test_a_kind_that_nobody_watches_is_not_covered() -> None:
    """Reading a kind without an informer raises an error; the read neither starts an informer nor returns nothing."""
    async with lab() as it:
        with pytest.raises(NotCovered, match="Secret"):
            await it.cache.find(GroupVersionKind("", "v1", "Secret"), key("a"))


async def test_namespaces_that_are_not_watched_are_not_covered() -> None:
    """Reads outside the watched namespaces raise an error, for an object and for a list."""
    async with lab(options=KindOptions(namespaces=[DEFAULT])) as it:
        await it.cache.wait_for_sync()
        assert await it.names() == ["a", "b"]
        for read in (it.cache.find(CONFIGMAP, key("a", "other")), it.cache.list(CONFIGMAP, namespace="other")):
            with pytest.raises(NotCovered, match=r"add 'other' to KindOptions\(namespaces=...\) of this kind"):
                await read


async def test_an_object_outside_of_the_selectors_is_not_not_found() -> None:
    """For an object outside the selectors the cache raises an error other than NotFound."""
    options = KindOptions(selectors=[Selector(labels="app=x"), Selector(labels={"app": "y"})])
    async with lab(options=options, before=()) as it:
        for app in "xyz":
            await it.direct.create(config_map(app, labels={"app": app}))
        await it.cache.wait_for_sync()
        await until(lambda: len(it.cache.informer(CONFIGMAP).lister.store) == 2)
        assert (await it.cache.get(CONFIGMAP, key("x"))).metadata.name == "x"
        with pytest.raises(NotCovered):
            await it.cache.find(CONFIGMAP, key("z"))
        assert [o.key.name for o in await it.cache.list(CONFIGMAP, labels="app=y")] == ["y"]
        with pytest.raises(NotCovered):
            await it.cache.list(CONFIGMAP)


async def test_reads_outside_go_live_when_that_is_the_policy() -> None:
    """With live reads, the server answers reads that the cache does not cover, for existing and missing objects."""
    options = KindOptions(selectors=[Selector(labels="app=x")], outside=Outside.LIVE)
    async with lab(options=options) as it:
        await it.cache.wait_for_sync()
        assert (await it.cache.get(ConfigMap, key("a"))).metadata.name == "a"
        assert await it.cache.find(ConfigMap, key("none")) is None
        assert len(await it.cache.list(ConfigMap, namespace=DEFAULT)) == 2


async def test_a_watch_of_one_object_by_name_answers_for_that_name() -> None:
    """With metadata.name as the only selector, the cache can report that name as missing, and no other name."""
    options = KindOptions(namespaces=[DEFAULT], selectors=[Selector(fields="metadata.name=a")])
    async with lab(options=options) as it:
        await it.cache.wait_for_sync()
        assert await it.cache.find(ConfigMap, key("a")) is not None
        await it.direct.delete(ConfigMap, key("a"))
        await until(lambda: _is(it.cache.find(ConfigMap, key("a")), None))
        with pytest.raises(NotCovered):
            await it.cache.find(ConfigMap, key("b"))
