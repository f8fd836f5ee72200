"""What users see of the cache: reads, coverage, own writes, informers that come and go."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from pyctrl.api import GroupVersionKind, Key, Metadata, Unstructured
from pyctrl.apiserver import ApiServer
from pyctrl.cache import Cache, CachedClient, Created, Deleted, KindOptions, Outside, Selector, Synced, Updated
from pyctrl.client import Client, InProcessTransport, MergePatch, in_namespace
from pyctrl.errors import IndexMissing, NotCovered, NotFound, NotSynced
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.testing import Delayed, Rule, Silent
from tests.unit.cache._kit import CONFIGMAP, SECOND, Mirror, lab, until

DEFAULT = "default"
NAMESPACE = GroupVersionKind("", "v1", "Namespace")


def key(name: str, namespace: str = DEFAULT) -> Key:
    return Key(namespace, name)


def config_map(name: str, *, namespace: str = DEFAULT, labels: dict[str, str] | None = None) -> Unstructured:
    made = Unstructured.new(CONFIGMAP, name=name, namespace=namespace)
    made.metadata.labels = labels or {}
    return made


# --- reading ---


async def test_one_store_answers_typed_untyped_and_metadata_readers() -> None:
    """Three ways of reading a kind share one informer, and each gives its own class."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        assert isinstance(await it.cache.get(ConfigMap, key("a")), ConfigMap)
        untyped = await it.cache.get(CONFIGMAP, key("a"))
        assert (untyped.api_version, untyped.kind) == ("v1", "ConfigMap")
        assert (await it.cache.get(Metadata[ConfigMap], key("a"))).metadata.name == "a"
        assert it.cache.informer(ConfigMap) is it.cache.informer(CONFIGMAP)
        assert len(it.watches) == 1


async def test_a_read_gives_a_fresh_object() -> None:
    """Changing what was read changes nothing for the next reader."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        first = await it.cache.get(ConfigMap, key("a"))
        first.metadata.labels["mine"] = "yes"
        assert (await it.cache.get(ConfigMap, key("a"))).metadata.labels == {}


async def test_get_raises_where_find_returns_none() -> None:
    """An object that does not exist is NotFound for one and None for the other."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        with pytest.raises(NotFound, match="default/none"):
            await it.cache.get(ConfigMap, key("none"))
        assert await it.cache.find(ConfigMap, key("none")) is None


async def test_a_list_is_filtered_by_namespace_labels_and_fields() -> None:
    """All conditions must hold, and each may be left out."""
    async with lab(before=()) as it:
        await it.direct.create(config_map("a", labels={"app": "x"}))
        await it.direct.create(config_map("b", labels={"app": "y"}))
        await it.direct.create(config_map("a", namespace="kube-system", labels={"app": "x"}))
        await it.cache.wait_for_sync()
        await until(lambda: len(it.cache.informer(CONFIGMAP).lister.store) == 3)

        async def found(**query: Any) -> list[str]:
            return sorted(str(o.key) for o in await it.cache.list(CONFIGMAP, **query))

        assert await found() == ["default/a", "default/b", "kube-system/a"]
        assert await found(namespace=DEFAULT) == ["default/a", "default/b"]
        assert await found(labels="app=x") == ["default/a", "kube-system/a"]
        assert await found(labels="app in (x,y)", fields="metadata.name=b") == ["default/b"]
        assert await found(namespace=DEFAULT, fields="metadata.name!=a") == ["default/b"]


async def test_an_index_finds_objects_by_what_a_function_says() -> None:
    """An index follows changes and own writes, and a function that fails loses one object for this index only."""
    async with lab(before=("a",)) as it:
        it.cache.add_index(ConfigMap, "color", lambda cm: [cm.data["color"]])
        await it.cache.wait_for_sync()

        async def found(color: str) -> list[str]:
            return [cm.metadata.name for cm in await it.cache.list(ConfigMap, index=("color", color))]

        await it.create("r", color="red")
        await until(lambda: _is(found("red"), ["r"]))
        await it.client.patch(CONFIGMAP, key("r"), MergePatch({"data": {"color": "blue"}}))
        assert await found("red") == []
        assert await found("blue") == ["r"]
        await asyncio.sleep(5)
        assert await found("blue") == ["r"]
        with pytest.raises(IndexMissing, match="color"):
            await it.cache.list(ConfigMap, index=("shape", "round"))


async def _is(found: Awaitable[object], expected: object) -> bool:
    return await found == expected


async def test_owned_objects_are_found_by_their_owners_uid() -> None:
    """The index "owner" is there for every kind."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        owner = await it.direct.get(ConfigMap, key("a"))
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": owner.metadata.uid}
        owned = {**config_map("owned").to_wire(), "metadata": {"name": "owned", "namespace": DEFAULT}}
        owned["metadata"]["ownerReferences"] = [reference]
        await it.client.create(Unstructured(owned))
        assert [o.key.name for o in await it.cache.list(CONFIGMAP, index=("owner", owner.metadata.uid))] == ["owned"]


async def test_reads_before_the_first_list_are_refused_with_the_reason() -> None:
    """NotSynced says what went wrong; waiting for it ends in time and says the same."""
    async with lab([Rule(Silent(), path="*/configmaps", times=None)]) as it:
        with pytest.raises(NotSynced, match="ConfigMap"):
            await it.cache.get(ConfigMap, key("a"))
        with pytest.raises(NotSynced, match="within 0:00:05"):
            await it.cache.wait_for_sync(timeout=5 * SECOND)


# --- coverage ---


async def test_a_kind_that_nobody_watches_is_not_covered() -> None:
    """A read never starts an informer by itself, and never claims that nothing is there."""
    async with lab() as it:
        with pytest.raises(NotCovered, match="Secret"):
            await it.cache.find(GroupVersionKind("", "v1", "Secret"), key("a"))


async def test_namespaces_that_are_not_watched_are_not_covered() -> None:
    """Only what is watched is answered: an object and a list elsewhere are not."""
    async with lab(options=KindOptions(namespaces=[DEFAULT])) as it:
        await it.cache.wait_for_sync()
        assert await it.names() == ["a", "b"]
        for read in (it.cache.find(CONFIGMAP, key("a", "other")), it.cache.list(CONFIGMAP, namespace="other")):
            with pytest.raises(NotCovered, match=r"add 'other' to KindOptions\(namespaces=...\) of this kind"):
                await read


async def test_an_object_outside_of_the_selectors_is_not_not_found() -> None:
    """It is not here, but it exists: the cache says that it cannot know."""
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
    """The server answers what the cache cannot, be it there or not."""
    options = KindOptions(selectors=[Selector(labels="app=x")], outside=Outside.LIVE)
    async with lab(options=options) as it:
        await it.cache.wait_for_sync()
        assert (await it.cache.get(ConfigMap, key("a"))).metadata.name == "a"
        assert await it.cache.find(ConfigMap, key("none")) is None
        assert len(await it.cache.list(ConfigMap, namespace=DEFAULT)) == 2


async def test_a_watch_of_one_object_by_name_answers_for_that_name() -> None:
    """With metadata.name as the only selector, absence of that name is known and of others is not."""
    options = KindOptions(namespaces=[DEFAULT], selectors=[Selector(fields="metadata.name=a")])
    async with lab(options=options) as it:
        await it.cache.wait_for_sync()
        assert await it.cache.find(ConfigMap, key("a")) is not None
        await it.direct.delete(ConfigMap, key("a"))
        await until(lambda: _is(it.cache.find(ConfigMap, key("a")), None))
        with pytest.raises(NotCovered):
            await it.cache.find(ConfigMap, key("b"))


async def test_an_object_that_matches_two_selectors_is_one_object() -> None:
    """Overlapping parts of a kind share a store: one object, told once, gone when no part holds it any more."""
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
    """Half of what is watched is not the whole: reads wait for the namespace that is slow to be listed."""
    slow = Rule(Delayed(timedelta(seconds=20)), path="/api/v1/namespaces/kube-system/configmaps")
    async with lab([slow], options=KindOptions(namespaces=[DEFAULT, "kube-system"])) as it:
        await asyncio.sleep(10)
        assert not it.cache.informer(CONFIGMAP).is_synced
        with pytest.raises(NotSynced):
            await it.cache.find(CONFIGMAP, key("a"))
        await it.cache.wait_for_sync()
        assert await it.cache.find(CONFIGMAP, key("a")) is not None


async def test_a_kind_without_namespaces_is_watched_whole() -> None:
    """The cache's namespaces say nothing about cluster-scoped kinds; a key's namespace is ignored."""
    client = Client(InProcessTransport(ApiServer(random=Random(7))))
    cache = Cache(client, namespaces=[DEFAULT])
    cache.informer(NAMESPACE)
    task = asyncio.create_task(cache.run())
    await cache.wait_for_sync()
    assert (await cache.get(NAMESPACE, Key("", "default"))).metadata.name == "default"
    assert (await cache.get(NAMESPACE, key("default", "ignored"))).metadata.name == "default"
    task.cancel()
    await asyncio.wait([task])


# --- own writes ---


DEAF = Rule(Silent(lines=3), path="*/configmaps", query={"watch": "true"}, times=None)


async def test_own_writes_are_read_at_once() -> None:
    """Create, update, patch and delete are seen by get, find and list although no event has come."""
    async with lab([DEAF]) as it:
        client = CachedClient(it.cache, it.client)
        await it.cache.wait_for_sync()
        made = await client.create(config_map("mine"))
        assert (await client.get(CONFIGMAP, key("mine"))).metadata.uid == made.metadata.uid
        made["data"] = {"k": "1"}
        await client.update(made)
        assert (await client.get(CONFIGMAP, key("mine")))["data"] == {"k": "1"}
        await client.patch(CONFIGMAP, key("a"), MergePatch({"data": {"k": "2"}}))
        found = {o.key.name: o.get("data") or {} for o in await client.list(CONFIGMAP, namespace=DEFAULT)}
        assert found == {"a": {"k": "2"}, "b": {}, "mine": {"k": "1"}}
        await client.delete(CONFIGMAP, key("b"))
        assert await client.find(CONFIGMAP, key("b")) is None
        assert await it.names() == ["a", "mine"]


async def test_an_object_with_finalizers_is_seen_going_until_they_are_removed() -> None:
    """A delete that only begins shows the deletion timestamp; removing the last finalizer shows that it is gone."""
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
    """Create after delete: the new uid is there, before any event of either has come."""
    async with lab([DEAF]) as it:
        client = CachedClient(it.cache, it.client)
        await it.cache.wait_for_sync()
        before = await client.get(CONFIGMAP, key("a"))
        await client.delete(CONFIGMAP, key("a"))
        made = await client.create(config_map("a"))
        assert (await client.get(CONFIGMAP, key("a"))).metadata.uid == made.metadata.uid != before.metadata.uid


async def test_the_overlay_is_empty_once_the_informer_has_caught_up() -> None:
    """Own writes that have come back as events take no memory."""
    async with lab() as it:
        client = CachedClient(it.cache, it.client)
        await it.cache.wait_for_sync()
        for number in range(20):
            await client.create(config_map(f"n{number}"))
        await client.delete(CONFIGMAP, key("a"))
        await asyncio.sleep(5)
        assert it.cache.statistics()[0].own_writes == 0
        assert len(await it.names()) == 21


async def test_a_write_that_fails_leaves_nothing() -> None:
    """After an error, and after an answer that never came, the cache shows what the informer knows."""
    async with lab([DEAF, Rule(Silent(), method="PATCH")]) as it:
        client = CachedClient(it.cache, it.client)
        await it.cache.wait_for_sync()
        with pytest.raises(Exception, match="no answer"):
            await client.patch(CONFIGMAP, key("a"), MergePatch({"data": {"k": "1"}}))
        with pytest.raises(NotFound):
            await client.delete(CONFIGMAP, key("none"))
        assert it.cache.statistics()[0].own_writes == 0
        assert not (await client.get(CONFIGMAP, key("a"))).get("data")


async def test_a_write_that_takes_an_object_out_of_the_selection_hides_it() -> None:
    """What no longer matches the selectors is not shown as it was before."""
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


async def test_a_client_for_one_namespace_reads_there() -> None:
    """The namespace is filled in for reads from the cache as it is for the server, and others are refused."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        client = in_namespace(CachedClient(it.cache, it.client), DEFAULT)
        assert (await client.get(ConfigMap, Key("", "a"))).metadata.name == "a"
        assert len(await client.list(ConfigMap)) == 2
        with pytest.raises(ValueError, match="other"):
            await client.list(ConfigMap, namespace="other")
        assert (await client.live.get(ConfigMap, Key("", "a"))).metadata.name == "a"


# --- informers and subscriptions ---


async def test_a_subscription_begins_with_what_is_there() -> None:
    """Created for each object, marked as initial, then Synced once, then what happens."""
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


async def test_informers_come_and_go_while_the_cache_runs() -> None:
    """A kind that is added is listed at once; one that is removed is forgotten, and its watch ends."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        it.cache.informer(NAMESPACE)
        await it.cache.wait_for_sync(timeout=SECOND)
        assert await it.cache.find(NAMESPACE, Key("", "default")) is not None
        await it.cache.remove(CONFIGMAP)
        with pytest.raises(NotCovered):
            await it.cache.find(CONFIGMAP, key("a"))
        it.cache.informer(CONFIGMAP)
        await it.cache.wait_for_sync(timeout=SECOND)
        assert await it.names() == ["a", "b"]


async def test_a_kind_that_is_installed_later_is_found_then(caplog: pytest.LogCaptureFixture) -> None:
    """Until its definition is there the kind is a problem that is named; afterwards it is synced by itself."""
    gvk = GroupVersionKind("example.com", "v1", "Thing")
    async with lab() as it:
        it.cache.informer(gvk)
        await asyncio.sleep(60)
        assert "is its definition installed?" in it.cache.problems[gvk]
        assert "Thing" in caplog.text
        definition = GroupVersionKind("apiextensions.k8s.io", "v1", "CustomResourceDefinition")
        schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
        version = {"name": "v1", "served": True, "storage": True, "schema": schema}
        names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
        spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": [version]}
        await it.direct.create(Unstructured.new(definition, name="things.example.com", spec=spec))
        await it.cache.wait_for_sync(timeout=60 * SECOND)
        await it.direct.create(Unstructured.new(gvk, name="t", namespace=DEFAULT, spec={"size": 1}))
        await until(lambda: len(it.cache.informer(gvk).lister.store) == 1)
        assert (await it.cache.get(gvk, key("t")))["spec"] == {"size": 1}


async def test_a_reconcile_can_ask_how_old_its_view_is_and_bound_it() -> None:
    """The age grows in silence; waiting for a version or a fresh sign of life ends when it has come, or in time."""
    async with lab() as it:
        informer = it.cache.informer(CONFIGMAP)
        await it.cache.wait_for_sync()
        await asyncio.sleep(20)
        age = it.cache.age(CONFIGMAP)
        assert age is not None
        assert age >= timedelta(seconds=19)
        with pytest.raises(NotSynced):
            await informer.wait_for_age(SECOND, timeout=SECOND)
        made = await it.direct.create(config_map("c"))
        await informer.wait_for_version(made.metadata.resource_version, timeout=SECOND)
        assert "c" in await it.names()
        await informer.wait_for_age(SECOND, timeout=SECOND)


async def test_an_event_notifies_the_informer_only_while_someone_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """An event costs no notification, and yet a waiter for a version is woken by the event that has it."""
    async with lab() as it:
        informer = it.cache.informer(CONFIGMAP)
        await it.cache.wait_for_sync()
        notifications: list[None] = []
        monkeypatch.setattr(informer, "_on_notice", lambda: notifications.append(None))

        await it.direct.create(config_map("c"))
        await until(lambda: len(informer.lister.store) == 3)
        assert notifications == []

        made = await it.direct.create(config_map("d"))
        await informer.wait_for_version(made.metadata.resource_version, timeout=SECOND)
        assert len(notifications) >= 1


async def test_statistics_say_how_much_there_is() -> None:
    """Objects, their bytes, and how each reflector is doing."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        (statistics,) = it.cache.statistics()
        assert (statistics.objects, statistics.is_synced, statistics.error) == (2, True, None)
        assert statistics.size_bytes == sum(len(r.data) for r in it.cache.informer(CONFIGMAP).lister.store)
        assert statistics.stages == ("watching",)


# --- options ---


async def test_managed_fields_can_be_left_out() -> None:
    """They take no memory and nothing else is missing; own writes are treated alike."""
    async with lab(options=KindOptions(strip_managed_fields=True)) as it:
        await it.cache.wait_for_sync()
        mine = await it.client.apply(config_map("mine").to_wire())
        assert mine.metadata.managed_fields
        for name in ("a", "mine"):
            assert (await it.cache.get(ConfigMap, key(name))).metadata.managed_fields == []
        assert (await it.cache.get(ConfigMap, key("a"))).metadata.uid


async def test_a_transform_changes_what_is_kept_and_not_what_it_is() -> None:
    """The object can be cut down to nothing; its name and version stay known. One that fails keeps the object whole."""

    def cut(obj: dict[str, object]) -> dict[str, object]:
        if obj.get("data") == {"keep": "me"}:
            raise RuntimeError("no")
        return {"metadata": {"name": "other"}}

    async with lab(options=KindOptions(transform=cut)) as it:
        await it.create("whole", keep="me")
        await it.cache.wait_for_sync()
        await until(lambda: len(it.cache.informer(CONFIGMAP).lister.store) == 3)
        record = it.cache.informer(CONFIGMAP).find(key("a"))
        assert record is not None
        assert (record.name, record.data) == ("a", b'{"metadata":{"name":"other"}}')
        assert (await it.cache.get(ConfigMap, key("a"))).to_wire()["metadata"] == {"name": "other"}
        assert (await it.cache.get(ConfigMap, key("a"))).metadata.name == "other"
        assert (await it.cache.get(CONFIGMAP, key("whole")))["data"] == {"keep": "me"}
