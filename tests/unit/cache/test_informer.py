"""Informers: start, stop, kinds installed later, age and statistics."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from pyctrl.api import GroupVersionKind, Key, Unstructured
from pyctrl.cache import KindOptions
from pyctrl.errors import NotCovered, NotSynced
from pyctrl.testing import ConnectionRefused, Rule, Silent
from tests.unit.cache._kit import CONFIGMAP, DEFAULT, NAMESPACE, SECOND, config_map, key, lab, until


async def test_informers_come_and_go_while_the_cache_runs() -> None:
    """A kind added at run time is listed at once; a removed one is dropped and its watch ends."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        it.cache.informer(NAMESPACE)
        await it.cache.wait_for_sync(timeout=SECOND)
        assert await it.cache.find(NAMESPACE, Key("", "default")) is not None
        removed = it.cache.informer(CONFIGMAP)
        await it.cache.remove(CONFIGMAP)
        await it.create("c")
        await asyncio.sleep(1)
        assert removed.statistics().objects == 2
        with pytest.raises(NotCovered):
            await it.cache.find(CONFIGMAP, key("a"))
        it.cache.informer(CONFIGMAP)
        await it.cache.wait_for_sync(timeout=SECOND)
        assert await it.names() == ["a", "b", "c"]


async def test_a_kind_that_is_installed_later_is_found_then(caplog: pytest.LogCaptureFixture) -> None:
    """A kind without a CRD is reported as a problem and syncs automatically after the CRD is installed."""
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
        assert (it.cache.problems, it.cache.informer(gvk).failures) == ({}, 0)


async def test_a_reconcile_can_ask_how_old_its_view_is_and_bound_it() -> None:
    """The age grows without events; waiting for a version or for fresh data returns on arrival or times out."""
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


TWO_NAMESPACES = KindOptions(namespaces=[DEFAULT, "kube-system"])


async def test_the_age_is_that_of_the_part_that_is_furthest_behind() -> None:
    """A namespace whose watch is silent makes the whole kind old, however new the other namespaces are."""
    silent = Rule(Silent(lines=1), path="*/kube-system/configmaps", query={"watch": "true"})
    async with lab([silent], options=TWO_NAMESPACES) as it:
        informer = it.cache.informer(CONFIGMAP)
        await it.cache.wait_for_sync()
        for number in range(5):
            await asyncio.sleep(10)
            await it.create(f"n{number}")
        await asyncio.sleep(10)
        made = await it.direct.create(config_map("last"))
        with pytest.raises(NotSynced):  # the silent part may have missed something up to this version
            await informer.wait_for_version(made.metadata.resource_version, timeout=SECOND)
        age = informer.age
        assert age is not None
        assert age >= timedelta(seconds=60)


async def test_a_kind_is_synced_and_has_an_age_when_all_of_its_parts_are_listed() -> None:
    """A kind with a namespace that was never listed is neither synced nor of any age."""
    refused = Rule(ConnectionRefused(), path="*/kube-system/configmaps", times=None)
    async with lab([refused], options=TWO_NAMESPACES) as it:
        await asyncio.sleep(30)
        informer = it.cache.informer(CONFIGMAP)
        assert (informer.is_synced, informer.age) == (False, None)
        with pytest.raises(NotSynced):
            await it.cache.find(CONFIGMAP, key("a"))

        it.network.clear()
        await it.cache.wait_for_sync(timeout=31 * SECOND)
        assert informer.age is not None


async def test_an_event_notifies_the_informer_only_while_someone_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """An event notifies the informer only if there is a waiter; a waiter for a version wakes at the event with it."""
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
    """Statistics show the number of objects, their bytes and the state of each reflector."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        (statistics,) = it.cache.statistics()
        assert (statistics.objects, statistics.is_synced, statistics.error) == (2, True, None)
        assert statistics.size_bytes == sum(len(r.data) for r in it.cache.informer(CONFIGMAP).lister.store)
        assert statistics.stages == ("watching",)
