"""A storage that can only be listed is watched by comparing its lists."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import timedelta

import pytest

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client
from pyctrl.errors import Gone, NotFound
from pyctrl.extension_apiserver import APIResource, PollingStorage, StorageRequest, _polling
from tests.unit.extension_apiserver._flavors import Flavor, client_of


class Measured:
    """Flavors that change by themselves."""

    def __init__(self) -> None:
        self.sweetness = {"a": 1}

    async def list(self, request: StorageRequest) -> Iterable[Flavor]:
        """Compute the flavors."""
        return [
            Flavor(metadata=ObjectMeta(name=name, namespace="default"), sweetness=value)
            for name, value in self.sweetness.items()
        ]


async def seen(client: Client, version: str, count: int) -> list[tuple[str, str, int]]:
    """Return the next changes of a watch."""
    found: list[tuple[str, str, int]] = []
    async for event in client.watch(Flavor, resource_version=version):
        found.append((event.type, event.object.metadata.name, event.object.sweetness))
        if len(found) == count:
            break
    return found


async def test_changes_are_seen_within_the_interval() -> None:
    """A watch has what changed, is new or is gone, at the interval; unchanged objects keep their version."""
    measured = Measured()
    storage = PollingStorage(measured, interval=timedelta(seconds=10))
    async with client_of(APIResource(Flavor, storage)) as client:
        listed = await client.list(Flavor)
        assert listed.resource_version == listed[0].metadata.resource_version
        assert (await client.get(Flavor, listed[0].key)).metadata.resource_version == listed.resource_version
        loop = asyncio.get_running_loop()
        started = loop.time()
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(seen(client, listed.resource_version, 3))
            await asyncio.sleep(1)
            measured.sweetness = {"a": 2, "b": 3}
            await asyncio.sleep(15)
            measured.sweetness = {"b": 3}
        assert watching.result() == [("MODIFIED", "a", 2), ("ADDED", "b", 3), ("DELETED", "a", 2)]
        assert loop.time() - started == pytest.approx(20, abs=1)
        with pytest.raises(NotFound):
            await client.get(Flavor, Key("default", "a"))


async def test_versions_of_an_earlier_process_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A watch after a version that is no longer known gets 410, so that the client lists again."""
    monkeypatch.setattr(_polling, "HISTORY", 2)
    measured = Measured()
    storage = PollingStorage(measured, interval=timedelta(seconds=10))
    async with client_of(APIResource(Flavor, storage)) as client:
        first = (await client.list(Flavor)).resource_version
        with pytest.raises(Gone):
            await seen(client, "1", 1)
        for value in range(2, 6):
            measured.sweetness = {"a": value}
            await client.list(Flavor)
        with pytest.raises(Gone):
            await seen(client, first, 1)


async def test_a_watch_without_a_version_begins_with_all_objects() -> None:
    """A watch without a version has the current objects as ADDED."""
    storage = PollingStorage(Measured(), interval=timedelta(seconds=10))
    async with client_of(APIResource(Flavor, storage)) as client:
        assert await seen(client, "", 1) == [("ADDED", "a", 1)]
