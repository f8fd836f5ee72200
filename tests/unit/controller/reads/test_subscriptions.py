"""Subscriptions: a change of what the last reconcile has read causes the next one."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from pyctrl.api import Key
from pyctrl.client import (
    merge_from,
)
from pyctrl.controller import Builder, Request, Result, reading
from pyctrl.errors import TerminalError
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from tests.unit.controller._hosts import config_map, make_host, running, settle
from tests.unit.controller.reads._readers import Read, Readers, named_secret, secret


async def test_a_change_of_a_read_object_runs_the_request_again() -> None:
    """When the Secret that a reconcile has read changes, that request runs again, and says why."""
    host, readers = make_host(), Readers(named_secret)
    Builder(host).build(readers)
    async with running(host) as client:
        await client.create(secret("db", password="a"))
        await client.create(secret("other"))
        await client.create(config_map("web", secret="db"))
        await client.create(config_map("shop", secret="cache"))
        await settle()
        assert readers.take() == ["web", "shop"]

        db = await client.get(Secret, Key("default", "db"))
        before = db.deep_copy()
        db.data["more"] = "eA=="
        written = await client.patch(db, merge_from(before))
        await settle()
        assert readers.causes == [
            f"Secret default/db updated (version {written.metadata.resource_version}), which this reconcile read"
        ]
        assert readers.take() == ["web"]

        await client.delete(written)
        await settle()
        assert readers.take() == ["web"]

        await client.create(secret("db"))
        await client.create(secret("cache"))
        await settle()
        assert readers.take() == ["web", "shop"]


async def test_what_the_last_run_has_not_read_does_not_count() -> None:
    """A reference that was removed no longer causes a reconcile."""
    host, readers = make_host(), Readers(named_secret)
    Builder(host).build(readers)
    async with running(host) as client:
        web = await client.create(config_map("web", secret="old"))
        await settle()
        web.data["secret"] = "new"
        await client.update(web)
        await settle()
        readers.take()

        await client.create(secret("old"))
        await settle()
        assert readers.take() == []
        await client.create(secret("new"))
        await settle()
        assert readers.take() == ["web"]


@pytest.mark.parametrize("error", [RuntimeError("no"), TerminalError("no")], ids=["failed", "terminal"])
async def test_the_reads_of_a_failed_run_count(error: Exception) -> None:
    """A failed run is repeated when something changes that it has read, or the last successful run before it."""

    async def read(readers: Readers, request: Request) -> None:
        first = await readers.client.find(Secret, Key("default", "first"))
        if first is None:
            await readers.client.find(Secret, Key("default", "second"))
        else:
            await readers.client.find(Secret, Key("default", "third"))
            raise error

    host, readers = make_host(), Readers(read)
    Builder(host).build(readers)
    async with running(host) as client:
        await client.create(config_map("web"))
        await settle()
        await client.create(secret("first"))
        await settle()
        assert set(readers.take()) == {"web"}

        for name in ("second", "third"):
            await client.create(secret(name))
            await asyncio.sleep(0.001)
            assert any(f"Secret default/{name} created" in cause for cause in readers.causes)


async def test_own_writes_do_not_run_the_request_again_but_others() -> None:
    """A request that writes what it reads runs once; another one that has read the same object runs again."""

    async def read(readers: Readers, request: Request) -> None:
        found = await readers.client.find(Secret, Key("default", "shared"))
        if request.name == "writer" and found is None:
            await readers.client.create(secret("shared"))
        elif request.name == "writer" and found is not None and not found.metadata.labels:
            before = found.deep_copy()
            found.metadata.labels["seen"] = "yes"
            await readers.client.patch(found, merge_from(before))
        elif request.name == "remover" and found is not None and found.metadata.labels:
            await readers.client.delete(found)

    host, readers = make_host(), Readers(read)
    Builder(host).build(readers)
    async with running(host) as client:
        await client.create(config_map("reader"))
        await settle()
        await client.create(config_map("writer"))
        await settle()
        assert readers.take() == ["reader", "writer", "reader"]

        shared = await client.get(Secret, Key("default", "shared"))
        shared.metadata.annotations["by"] = "somebody else"
        await client.update(shared)
        await settle()
        assert sorted(readers.take()) == ["reader", "reader", "writer"]  # the second time for the label of the writer
        await client.create(config_map("remover"))
        await settle()
        # The deletion runs both others, and the writer creates the object again.
        assert sorted(readers.take()) == ["reader", "reader", "remover", "remover", "writer"]


async def secret_of_all(readers: Readers, request: Request) -> None:
    """Read a Secret, whether the object of the request exists or not."""
    await readers.client.find(Secret, Key("default", "db"))


@pytest.mark.parametrize("read", [named_secret, secret_of_all])
async def test_a_deleted_object_drops_its_subscriptions(read: Read) -> None:
    """Nothing is kept for a request whose object is gone, not even what its last run has read nevertheless."""
    host, readers = make_host(), Readers(read)
    controller = Builder(host).build(readers)
    async with running(host) as client:
        web = await client.create(config_map("web", secret="db"))
        await settle()
        assert [*controller.subscriptions] == [Request("default", "web")]
        await client.delete(web)
        await settle()
        assert len(controller.subscriptions) == 0
        assert [kind.reads for kind in controller.subscriptions.statistics()] == [0]


async def test_a_controller_that_runs_again_subscribes_again() -> None:
    """After a change of the leader nothing is left of the earlier term, and every request reads again."""
    host, readers = make_host(), Readers(named_secret)
    controller = Builder(host).build(readers)
    async with running(host) as client:
        await client.create(config_map("web", secret="db"))
        await settle()
    assert len(controller.subscriptions) == 0
    readers.take()
    async with running(host) as client:
        assert readers.take() == ["web"]
        await client.create(secret("db"))
        await settle()
        assert readers.take() == ["web"]


async def test_only_the_declared_part_of_an_object_counts() -> None:
    """With `of` a change of anything else causes no reconcile, while creation and deletion do."""
    host, readers = make_host(), Readers(named_secret)
    readers.reads = (reading(Secret, of="data"),)  # type: ignore[assignment]
    Builder(host).build(readers)
    async with running(host) as client:
        await client.create(config_map("web", secret="db"))
        await settle()
        db = await client.create(secret("db", a="b"))
        await settle()
        assert readers.take() == ["web", "web"]

        db.metadata.labels["x"] = "y"
        db = await client.update(db)
        await settle()
        assert readers.take() == []

        db.data["more"] = "eA=="
        db = await client.update(db)
        await settle()
        assert readers.take() == ["web"]

        await client.delete(db)
        await settle()
        assert readers.take() == ["web"]


async def test_an_object_that_leaves_a_list_counts_whatever_the_declared_part_is() -> None:
    """With `of` an object still counts when it begins or ceases to match a list."""

    async def read(readers: Readers, request: Request) -> None:
        await readers.client.list(Secret, labels={"app": "web"})

    host, readers = make_host(), Readers(read)
    readers.reads = (reading(Secret, of="data"),)  # type: ignore[assignment]
    Builder(host).build(readers)
    async with running(host) as client:
        await client.create(config_map("web"))
        made = await client.create(secret("one", labels={"app": "web"}))
        await settle()
        readers.take()
        made.metadata.annotations["x"] = "y"
        made = await client.update(made)
        await settle()
        assert readers.take() == []
        made.metadata.labels["app"] = "shop"
        await client.update(made)
        await settle()
        assert readers.take() == ["web"]


async def test_a_kind_that_triggers_nothing_is_only_cached() -> None:
    """With `triggers=False` the kind can be read, and its changes cause no reconcile."""
    host, readers = make_host(), Readers(named_secret)
    readers.reads = (reading(Secret, triggers=False),)  # type: ignore[assignment]
    Builder(host).build(readers)
    async with running(host) as client:
        await client.create(config_map("web", secret="db"))
        await client.create(secret("db"))
        await settle()
        await client.create(secret("more"))
        await settle()
        assert readers.take() == ["web"]


async def test_the_own_object_is_left_to_reconciles_and_its_predicates() -> None:
    """A controller may read other objects of its own kind; its own object counts only as `reconciles` says."""

    async def read(readers: Readers, request: Request) -> None:
        await readers.client.find(ConfigMap, request.key)
        if request.name == "web":
            await readers.client.list(ConfigMap, labels={"peer": "yes"})
            await readers.client.find(ConfigMap, Key("default", "parent"))

    host, readers = make_host(), Readers(read)
    readers.reads = (ConfigMap,)  # type: ignore[assignment]
    Builder(host).reconciles(ConfigMap, predicates=[lambda change: change.change == "created"]).build(readers)  # type: ignore[list-item]
    async with running(host) as client:
        web = await client.create(config_map("web"))
        await settle()
        web.metadata.labels["peer"] = "yes"
        await client.update(web)
        await settle()
        assert readers.take() == ["web"]
        parent = await client.create(config_map("parent"))
        await settle()
        assert sorted(readers.take()) == ["parent", "web"]
        parent.data["x"] = "y"
        await client.update(parent)
        await settle()
        assert readers.take() == ["web"]


async def test_reads_by_labels_see_objects_come_and_go() -> None:
    """A list causes a reconcile when an object begins to match, changes, or no longer matches."""

    async def read(readers: Readers, request: Request) -> None:
        await readers.client.list(Secret, namespace="default", labels={"app": request.name})

    host, readers = make_host(), Readers(read)
    Builder(host).build(readers)
    async with running(host) as client:
        for name in ("web", "shop"):
            await client.create(config_map(name))
        await settle()
        readers.take()

        made = await client.create(secret("one", labels={"app": "web"}))
        await client.create(secret("far", labels={"app": "web"}, namespace="kube-public"))
        await settle()
        assert readers.take() == ["web"]
        made.metadata.labels["app"] = "shop"
        made = await client.update(made)
        await settle()
        assert sorted(readers.take()) == ["shop", "web"]
        made.metadata.labels.clear()
        made = await client.update(made)
        await settle()
        assert readers.take() == ["shop"]
        await client.delete(made)
        await settle()
        assert readers.take() == []


async def test_a_cancelled_run_keeps_what_was_read_before() -> None:
    """A run that is cut off by its time limit keeps the reads of the last successful run."""
    is_slow = False

    async def read(readers: Readers, request: Request) -> Result | None:
        if is_slow:
            await asyncio.sleep(60)
        await readers.client.find(Secret, Key("default", "db"))
        return None

    host, readers = make_host(), Readers(read)
    controller = Builder(host).options(reconcile_timeout=timedelta(seconds=1)).build(readers)
    async with running(host) as client:
        web = await client.create(config_map("web"))
        await settle()
        is_slow = True
        web.data["x"] = "y"
        await client.update(web)
        await asyncio.sleep(1.5)
        assert [str(each) for each in controller.subscriptions.reads_of(Request("default", "web"))] == [
            "Secret default/db"
        ]
