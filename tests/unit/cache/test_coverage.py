"""Lists without a namespace in a cache that watches only some namespaces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager

import pytest

from pyctrl.api import Key, KindLike, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.cache import Cache, CachedClient, KindOptions, Outside, Selector
from pyctrl.client import Client, InProcessTransport
from pyctrl.errors import NotCovered
from pyctrl.kinds.core.v1 import ConfigMap, Namespace, Secret
from pyctrl.testing import FaultyTransport
from tests.unit.cache._kit import SECOND

WATCHED = ("one", "two")


@asynccontextmanager
async def _cache(
    options: Mapping[KindLike, KindOptions] | None = None,
    *,
    namespaces: Collection[str] | None = WATCHED,
    outside: Outside = Outside.RAISE,
) -> AsyncIterator[tuple[CachedClient, FaultyTransport]]:
    """Run a cache of ConfigMaps and Namespaces on a server where three namespaces have one object of each color."""
    network = FaultyTransport(InProcessTransport(ApiServer()))
    client = Client(network)
    for namespace in (*WATCHED, "three"):
        await client.create(Namespace(metadata=ObjectMeta.from_wire({"name": namespace})))
        for color in ("red", "blue"):
            metadata = ObjectMeta(name=color, namespace=namespace, labels={"color": color})
            await client.create(ConfigMap(metadata=metadata, data={"color": color}))
        await client.create(Secret(metadata=ObjectMeta.from_wire({"name": "s", "namespace": namespace})))
    cache = Cache(client, options=options, namespaces=namespaces, outside=outside)
    cache.add_index(ConfigMap, "color", lambda config_map: [config_map.data["color"]])
    cache.informer(Namespace)
    task = asyncio.create_task(cache.run())
    try:
        await cache.wait_for_sync(timeout=5 * SECOND)
        network.requests.clear()
        yield CachedClient(cache, client), network
    finally:
        task.cancel()
        await asyncio.wait([task])


def _keys(found: Collection[ConfigMap] | Collection[Secret]) -> set[str]:
    return {str(each.key) for each in found}


async def test_a_list_without_a_namespace_is_of_the_namespaces_that_are_watched() -> None:
    """A list without a namespace covers all watched namespaces, as in controller-runtime, for any selector or index."""
    async with _cache() as (client, network):
        assert _keys(await client.list(ConfigMap)) == {"one/red", "one/blue", "two/red", "two/blue"}
        red = {"one/red", "two/red"}
        assert _keys(await client.list(ConfigMap, labels="color=red")) == red
        assert _keys(await client.list(ConfigMap, fields="data.color=red")) == red
        assert _keys(await client.list(ConfigMap, index=("color", "red"))) == red
        assert _keys(await client.list(ConfigMap, fields="metadata.namespace=one", labels="color=red")) == {"one/red"}
        assert _keys(await client.list(ConfigMap, namespace="one")) == {"one/red", "one/blue"}
        assert {"one", "two", "three"} <= {each.metadata.name for each in await client.list(Namespace)}
        assert network.requests == []


async def test_what_is_elsewhere_is_not_covered_and_the_error_says_what_to_add() -> None:
    """Reads in an unwatched namespace raise an error that names the option to add; they never look empty."""
    async with _cache() as (client, _):
        for read in (
            client.get(ConfigMap, Key("three", "red")),
            client.find(ConfigMap, Key("three", "red")),
            client.list(ConfigMap, namespace="three"),
        ):
            with pytest.raises(NotCovered, match="add 'three' to the namespaces of the manager, or read with client"):
                await read
        with pytest.raises(NotCovered):
            await client.list(ConfigMap, fields="metadata.namespace=three")


async def test_selectors_of_a_restricted_kind_must_be_in_the_list() -> None:
    """If only red objects are watched, a list of all is refused and the error names the selectors."""
    options: dict[KindLike, KindOptions] = {
        ConfigMap: KindOptions(selectors=[Selector(labels="color=red"), Selector(labels="color=green")])
    }
    async with _cache(options) as (client, _):
        assert _keys(await client.list(ConfigMap, labels="color=red")) == {"one/red", "two/red"}
        with pytest.raises(NotCovered, match="select what is watched in the read, too"):
            await client.list(ConfigMap)
        with pytest.raises(NotCovered, match="select what is watched in the read, too"):
            await client.get(ConfigMap, Key("one", "blue"))


async def test_a_kind_with_namespaces_of_its_own_is_listed_there() -> None:
    """For a kind with its own namespaces, those replace the cache's namespaces."""
    options: dict[KindLike, KindOptions] = {ConfigMap: KindOptions(namespaces=["three"])}
    for namespaces in (WATCHED, None):
        async with _cache(options, namespaces=namespaces) as (client, _):
            assert _keys(await client.list(ConfigMap)) == {"three/red", "three/blue"}


async def test_with_live_reads_a_kind_that_alone_is_restricted_is_listed_whole() -> None:
    """With live reads, the server answers a cluster-wide list of a kind that is restricted only by its own options."""
    options: dict[KindLike, KindOptions] = {ConfigMap: KindOptions(namespaces=["one"], outside=Outside.LIVE)}
    async with _cache(options, namespaces=None) as (client, network):
        assert len(await client.list(ConfigMap)) == 6
        assert [request.path for request in network.requests] == ["/api/v1/configmaps"]
        assert len(await client.list(ConfigMap, namespace="one")) == 2
        assert len(network.requests) == 1


async def test_with_live_reads_a_restricted_cache_asks_for_its_namespaces_only() -> None:
    """With live reads, a restricted cache lists an uncached kind per namespace, as a namespaced role requires."""
    async with _cache(outside=Outside.LIVE) as (client, network):
        assert _keys(await client.list(Secret)) == {"one/s", "two/s"}
        assert [r.path for r in network.requests] == [f"/api/v1/namespaces/{name}/secrets" for name in WATCHED]
        assert _keys(await client.list(ConfigMap, labels="color=red")) == {"one/red", "two/red"}
        assert len(network.requests) == 2


async def test_a_kind_that_is_not_cached_says_how_to_cache_it() -> None:
    """The error for a kind without an informer names the ways to add one."""
    async with _cache() as (client, _):
        with pytest.raises(NotCovered, match=r"declare the kind in reads, owns or watches of the reconciler"):
            await client.list(Secret)
