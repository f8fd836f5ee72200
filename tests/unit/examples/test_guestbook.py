"""The example of a storage in SQLite, restarted."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from examples.guestbook import guestbook
from examples.guestbook.guestbook import Entry, add_guestbook
from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, Config
from pyctrl.cluster import Cluster
from pyctrl.errors import AlreadyExists, Gone, NotFound
from pyctrl.extension_apiserver import ExtensionAPIServer
from pyctrl.manager import Manager
from tests.unit.extension_apiserver._flavors import ADMIN, Aggregator


def entry(name: str, message: str = "") -> Entry:
    """Return an entry."""
    return Entry(metadata=ObjectMeta(name=name, namespace="default"), author="jane", message=message)


@asynccontextmanager
async def started() -> AsyncIterator[Client]:
    """Run the program, and yield a client of its API server."""
    async with Cluster(rbac=True, controllers=False, kubelet=False) as cluster, Manager(cluster.config) as manager:
        add_guestbook(manager)
        (server,) = [each.runnable for each in manager.members if isinstance(each.runnable, ExtensionAPIServer)]
        async with Client.connect(Config.in_process(Aggregator(server, ADMIN)), field_owner="test") as client:
            yield client


@pytest.fixture(autouse=True)
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the database."""
    file = tmp_path / "guestbook.db"
    monkeypatch.setenv("GUESTBOOK", str(file))
    return file


async def test_entries_and_versions_survive_a_restart(database: Path) -> None:
    """A new process has the entries, continues the versions, and sends a watch what it has missed."""
    async with started() as client:
        first = await client.create(entry("a", "hello"))
        second = await client.create(entry("b"))
        await client.delete(second)
    assert sqlite3.connect(database).execute("SELECT name FROM entries").fetchall() == [("a",)]
    async with started() as client:
        assert [each.message for each in await client.list(Entry)] == ["hello"]
        assert (await client.create(entry("c"))).metadata.resource_version == "4"
        with pytest.raises(AlreadyExists):
            await client.create(entry("a"))
        events = []
        async with asyncio.timeout(10):
            async for event in client.watch(Entry, resource_version=first.metadata.resource_version):
                events.append((event.type, event.object.metadata.name))
                if len(events) == 3:
                    break
        assert events == [("ADDED", "b"), ("DELETED", "b"), ("ADDED", "c")]


async def test_apply_and_finalizers_work_with_the_table() -> None:
    """Server-side apply and finalizers are done by the server, not by the storage."""
    async with started() as client:
        applied = entry("a", "one")
        applied.metadata.finalizers = ["example.com/keep"]
        await client.apply(applied)
        applied.message = "two"
        assert (await client.apply(applied)).message == "two"
        await client.delete(await client.get(Entry, Key("default", "a")))
        kept = await client.get(Entry, Key("default", "a"))
        kept.metadata.finalizers = []
        await client.update(kept)
        with pytest.raises(NotFound):
            await client.get(Entry, Key("default", "a"))


async def test_a_version_that_is_too_old_expires(monkeypatch: pytest.MonkeyPatch) -> None:
    """A watch after a change that is no longer kept gets 410, so that the client lists again."""
    monkeypatch.setattr(guestbook, "HISTORY", 2)
    async with started() as client:
        for name in "abcd":
            await client.create(entry(name))
        with pytest.raises(Gone):
            await anext(client.watch(Entry, resource_version="1"))
