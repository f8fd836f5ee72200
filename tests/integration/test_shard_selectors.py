"""Shard selectors on a server with ShardedListAndWatch: lists, watches, and a cache of hash ranges that change."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from pyctrl.api import GroupVersionKind, Key, ShardRange, ShardSelector, Unstructured, hash_field
from pyctrl.apiserver import ApiServer
from pyctrl.cache import Cache, CachedClient, Informer
from pyctrl.client import Client, Config, HttpRequest
from pyctrl.errors import NotCovered
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.testing import control_plane
from pyctrl.testing._cluster.choice import ClusterChoice, cluster_choice
from tests.integration._definitions import installed

pytestmark = pytest.mark.slow("a real API server of its own takes ten seconds to start")

PATIENCE = timedelta(seconds=30)
LOWER, UPPER = ShardRange.split(2)
CONFIGMAP = GroupVersionKind("", "v1", "ConfigMap")
WIDGET = GroupVersionKind("shards.pyctrl.test", "v1", "Widget")


@pytest.fixture(scope="module")
def real() -> Iterator[Config | None]:
    """The login of a real API server with the feature, if binaries exist."""
    if cluster_choice() is not ClusterChoice.ASSETS:
        yield None
        return
    flags = ["--feature-gates=ShardedListAndWatch=true"]
    with control_plane(Path(os.environ["KUBEBUILDER_ASSETS"]), apiserver_flags=flags) as plane:
        yield Config.from_kubeconfig(plane.kubeconfig)


@pytest_asyncio.fixture
async def client(real: Config | None) -> AsyncIterator[Client]:
    """An administrator's client of a server with the feature, real or embedded."""
    server = ApiServer(feature_gates={"ShardedListAndWatch": True})
    async with Client.connect(real or Config.in_process(server, token=server.loopback_token)) as client:
        yield client


@pytest_asyncio.fixture(params=[CONFIGMAP, WIDGET], ids=str)
async def kind(request: pytest.FixtureRequest, client: Client) -> AsyncIterator[GroupVersionKind]:
    """A built-in kind and a custom one, without objects in the namespace default."""
    if request.param == CONFIGMAP:
        yield CONFIGMAP
        await client.delete_all_of(ConfigMap, namespace="default")
        return
    async with installed(client, WIDGET):
        yield WIDGET


async def make(client: Client, kind: GroupVersionKind, names: Iterable[str]) -> dict[str, str]:
    """Create objects and return their uids by name."""
    uids: dict[str, str] = {}
    for name in names:
        obj = Unstructured.new(kind, name=name, namespace="default")
        obj.metadata.labels = {"made": "here"}
        uids[name] = (await client.create(obj)).metadata.uid
    return uids


def within(uids: dict[str, str], *ranges: ShardRange) -> set[str]:
    """Return the names of the objects in the ranges."""
    return {name for name, uid in uids.items() if any(hash_field(uid) in part for part in ranges)}


async def test_list_watch_and_delete_of_a_shard(client: Client, kind: GroupVersionKind) -> None:
    """A list, a watch and delete_all_of with a selector concern the objects of its ranges, and no others."""
    uids = await make(client, kind, [f"n{number}" for number in range(12)])
    lower = ShardSelector((LOWER,))
    selected: dict[str, Any] = {"namespace": "default", "labels": "made=here", "shard_selector": lower}
    listed = await client.list(kind, **selected)
    assert {obj.metadata.name for obj in listed} == within(uids, LOWER)
    info = listed.metadata.shard_info
    assert (None if info is None else info.selector) == (str(lower) if kind == CONFIGMAP else None)

    version = listed.resource_version
    more = await make(client, kind, [f"m{number}" for number in range(12)])
    wanted = within(more, LOWER)
    async with (
        asyncio.timeout(PATIENCE.total_seconds()),
        aclosing(client.watch(kind, resource_version=version, **selected)) as events,
    ):
        seen = [(await anext(events)).object.metadata.name for _ in wanted]
    assert set(seen) == wanted

    await client.delete_all_of(kind, **selected)
    left = await client.list(kind, namespace="default", labels="made=here")
    assert {obj.metadata.name for obj in left} == within({**uids, **more}, UPPER)


async def test_a_selector_that_does_not_parse_is_refused(client: Client) -> None:
    """The server refuses a selector that is none, with 500 and the reason in the message."""
    query = (("shardSelector", "shardRange(object.metadata.name, '0x0', '0x8')"),)
    answer = await client.transport.request(HttpRequest(method="GET", path="/api/v1/configmaps", query=query))
    assert answer.status == 500
    assert b'unsupported field path \\"object.metadata.name\\"' in answer.body


async def until_stored(informer: Informer, names: set[str]) -> None:
    """Wait until the store has exactly these objects, of those that a test has made."""
    async with asyncio.timeout(PATIENCE.total_seconds()):
        while {r.name for r in informer.lister.store if r.labels.get("made") == "here"} != names:
            await asyncio.sleep(0.02)


async def test_a_cache_follows_the_ranges(client: Client, kind: GroupVersionKind) -> None:
    """A cache covers half of the objects, then all, then the other half, while objects come and go."""
    uids = await make(client, kind, [f"n{number}" for number in range(12)])
    cache = Cache(client)
    informer = cache.informer(kind)
    informer.cover([LOWER])
    running = asyncio.create_task(cache.run())
    try:
        await informer.wait_until_covered(PATIENCE)
        await until_stored(informer, within(uids, LOWER))
        reader = CachedClient(cache, client)
        with pytest.raises(NotCovered):
            await reader.get(kind, Key("default", min(within(uids, UPPER))))

        informer.cover(None)
        uids |= await make(client, kind, [f"m{number}" for number in range(12)])
        await informer.wait_until_covered(PATIENCE)
        await until_stored(informer, set(uids))

        informer.cover([UPPER])
        found = await reader.list(kind, namespace="default", labels="made=here", covered_only=True)
        assert {obj.metadata.name for obj in found} == within(uids, UPPER)
        uids |= await make(client, kind, [f"k{number}" for number in range(12)])
        for name in sorted(uids)[::2]:
            await client.delete(kind, Key("default", name))
            del uids[name]
        await until_stored(informer, within(uids, UPPER))
        assert len(await reader.list(kind, namespace="default", labels="made=here", covered_only=True)) == len(
            within(uids, UPPER)
        )
    finally:
        running.cancel()
        await asyncio.wait([running])
