"""Lists and lookups in the store of a kind."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pyctrl.api import Unstructured
from pyctrl.cache._coverage import Coverage
from pyctrl.cache._lister import Lister
from pyctrl.cache._record import RecordReader
from pyctrl.client import MergePatch
from pyctrl.errors import IndexMissing
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.cache._kit import CONFIGMAP, DEFAULT, NAMESPACE, _is, config_map, key, lab, record, until


async def test_a_list_is_filtered_by_namespace_labels_and_fields() -> None:
    """All conditions of a list must hold; each is optional."""
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
    """An index follows changes and own writes; if its function fails, the object is missing from this index only."""
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


async def test_owned_objects_are_found_by_their_owners_uid() -> None:
    """Every kind has the index "owner"."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        owner = await it.direct.get(ConfigMap, key("a"))
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "a", "uid": owner.metadata.uid}
        owned = {**config_map("owned").to_wire(), "metadata": {"name": "owned", "namespace": DEFAULT}}
        owned["metadata"]["ownerReferences"] = [reference]
        await it.client.create(Unstructured(owned))
        assert [o.key.name for o in await it.cache.list(CONFIGMAP, index=("owner", owner.metadata.uid))] == ["owned"]


def test_the_namespace_of_a_cluster_scoped_object_is_ignored() -> None:
    """A key with a namespace finds an object of a cluster-scoped kind, as a request to the server does."""
    lister = Lister(NAMESPACE, RecordReader())
    lister.is_namespaced = False
    lister.add_writer(Coverage(), []).put(record("web", 1, namespace=""))

    found = lister.find(key("web", "shop"))

    assert found is not None
    assert found.name == "web"
