"""Shard selectors of the client's reads and deletes, against the embedded API server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from random import Random

import pytest
import pytest_asyncio

from pyctrl.api import Metadata, ObjectMeta, ShardRange, ShardSelector
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config
from pyctrl.errors import SelectorError
from pyctrl.kinds.core.v1 import ConfigMap

LOWER, UPPER = (ShardSelector((part,)) for part in ShardRange.split(2))


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a server with the feature and eight ConfigMaps."""
    server = ApiServer(random=Random(3), feature_gates={"ShardedListAndWatch": True})
    async with Client.connect(Config.in_process(server, token=server.loopback_token)) as client:
        for name in "abcdefgh":
            await client.create(ConfigMap(metadata=ObjectMeta(name=name, namespace="default")))
        yield client


async def test_reads_of_a_shard_have_its_objects_only(client: Client) -> None:
    """list, pages, each and watch with a selector have the objects whose uid it matches, and no others."""
    everything = await client.list(ConfigMap, namespace="default")
    wanted = [obj.metadata.name for obj in everything if LOWER.matches(obj.metadata.uid)]
    assert 0 < len(wanted) < len(everything)

    listed = await client.list(ConfigMap, namespace="default", shard_selector=LOWER)
    assert [obj.metadata.name for obj in listed] == wanted
    pages = [
        page async for page in client.pages(ConfigMap, namespace="default", shard_selector=str(LOWER), page_size=1)
    ]
    assert [obj.metadata.name for page in pages for obj in page] == wanted
    each = client.each(ConfigMap, namespace="default", shard_selector=LOWER)
    assert [obj.metadata.name async for obj in each] == wanted
    async with aclosing(client.watch(ConfigMap, namespace="default", shard_selector=LOWER)) as events:
        assert [(await anext(events)).object.metadata.name for _ in wanted] == wanted


async def test_the_list_says_whether_the_server_has_applied_the_selector(client: Client) -> None:
    """The metadata of a list has the selector; that of a list without one, or of metadata only, has none."""
    listed = await client.list(ConfigMap, shard_selector=UPPER)
    assert listed.metadata.shard_info is not None
    assert listed.metadata.shard_info.selector == str(UPPER)
    assert (await client.list(ConfigMap)).metadata.shard_info is None
    assert (await client.list(Metadata[ConfigMap], shard_selector=UPPER)).metadata.shard_info is None


async def test_delete_all_of_a_shard_leaves_the_others(client: Client) -> None:
    """delete_all_of with a selector deletes the objects that it matches."""
    before = await client.list(ConfigMap, namespace="default")
    await client.delete_all_of(ConfigMap, namespace="default", shard_selector=LOWER)
    after = await client.list(ConfigMap, namespace="default")
    assert [obj.metadata.name for obj in after] == [o.metadata.name for o in before if UPPER.matches(o.metadata.uid)]


async def test_a_text_that_is_no_selector_is_not_sent(client: Client) -> None:
    """A text that does not parse raises SelectorError, and nothing is deleted."""
    with pytest.raises(SelectorError, match="expected a shard selector like"):
        await client.delete_all_of(ConfigMap, namespace="default", shard_selector="uid in (a)")
    assert len(await client.list(ConfigMap, namespace="default")) == 8
