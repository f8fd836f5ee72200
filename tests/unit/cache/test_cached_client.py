"""Cached reads of reconcilers, including their own writes."""

from __future__ import annotations

import pytest

from pyctrl.api import Key
from pyctrl.cache import CachedClient
from pyctrl.client import MergePatch, in_namespace
from pyctrl.errors import NotFound
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.testing import Rule, Silent
from tests.unit.cache._kit import CONFIGMAP, DEAF, DEFAULT, config_map, key, lab


async def test_own_writes_are_read_at_once() -> None:
    """Own creates, updates, patches and deletes show in get, find and list before their events arrive."""
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


async def test_a_write_that_fails_leaves_nothing() -> None:
    """After an error, or without an answer to a write, the cache shows the informer's state."""
    async with lab([DEAF, Rule(Silent(), method="PATCH")]) as it:
        client = CachedClient(it.cache, it.client)
        await it.cache.wait_for_sync()
        with pytest.raises(Exception, match="no answer"):
            await client.patch(CONFIGMAP, key("a"), MergePatch({"data": {"k": "1"}}))
        with pytest.raises(NotFound):
            await client.delete(CONFIGMAP, key("none"))
        assert it.cache.statistics()[0].own_writes == 0
        assert not (await client.get(CONFIGMAP, key("a"))).get("data")


async def test_a_client_for_one_namespace_reads_there() -> None:
    """Cached reads default to the client's namespace, as live reads do; other namespaces are refused."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        client = in_namespace(CachedClient(it.cache, it.client), DEFAULT)
        assert (await client.get(ConfigMap, Key("", "a"))).metadata.name == "a"
        assert len(await client.list(ConfigMap)) == 2
        with pytest.raises(ValueError, match="other"):
            await client.list(ConfigMap, namespace="other")
        assert (await client.live.get(ConfigMap, Key("", "a"))).metadata.name == "a"


async def test_reads_that_only_the_server_can_answer_go_to_the_server() -> None:
    """A version, a limit or a continue token makes a request; the cache knows neither versions nor pages."""
    async with lab([DEAF]) as it:
        client = CachedClient(it.cache, it.client)
        await it.cache.wait_for_sync()
        await it.create("c")
        assert (await client.get(CONFIGMAP, key("c"), resource_version="0")).metadata.name == "c"

        first = await client.list(CONFIGMAP, namespace=DEFAULT, limit=2)
        rest = await client.list(CONFIGMAP, namespace=DEFAULT, limit=2, continue_token=first.continue_token)
        assert [obj.key.name for page in (first, rest) for obj in page] == ["a", "b", "c"]
        assert len(await client.list(CONFIGMAP, namespace=DEFAULT, resource_version="0")) == 3
        assert len(await client.list(CONFIGMAP, namespace=DEFAULT)) == 2
