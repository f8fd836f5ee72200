"""Subscriptions: a change of what the last reconcile has read causes the next one."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from pyctrl.api import Key
from pyctrl.client import merge_from
from pyctrl.controller import Builder, Request, Result, reading
from pyctrl.errors import CacheError, NotCovered, PyctrlError, TerminalError
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.rbac import allow
from tests.unit.controller._hosts import config_map, make_host, running, settle
from tests.unit.controller.reads._readers import Readers, named_secret, secret


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


async def test_a_change_between_the_read_and_the_end_of_the_run_is_not_lost() -> None:
    """A run that has read an old state runs once more after its end."""
    host, seen, has_read, may_end = make_host(), list[bool](), asyncio.Event(), asyncio.Event()

    async def read(readers: Readers, request: Request) -> None:
        found = await readers.client.find(Secret, Key("default", "db"))
        seen.append(found is not None)
        has_read.set()
        await may_end.wait()

    Builder(host).build(Readers(read))
    async with running(host) as client:
        await client.create(config_map("web"))
        await has_read.wait()
        await client.create(secret("db"))
        await settle()
        assert seen == [False]
        may_end.set()
        await settle()
    assert seen == [False, True]


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


async def test_an_own_write_whose_event_comes_during_the_run_does_not_run_it_again() -> None:
    """A run that goes on after its write, so that the event comes before its end, is not repeated."""

    async def read(readers: Readers, request: Request) -> None:
        if await readers.client.find(Secret, Key("default", "made")) is None:
            await readers.client.create(secret("made"))
            await asyncio.sleep(1)

    host, readers = make_host(), Readers(read)
    Builder(host).build(readers)
    async with running(host) as client:
        await client.create(config_map("web"))
        await settle()
        assert readers.take() == ["web"]


async def test_a_deleted_object_drops_its_subscriptions() -> None:
    """Nothing is kept for a request whose object is gone."""
    host, readers = make_host(), Readers(named_secret)
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


async def test_reads_by_other_tasks_of_the_reconcile_count() -> None:
    """A task group inside of a reconcile reads for its request; a task that outlives the run does not."""
    late = asyncio.Event()

    async def outlive(readers: Readers) -> None:
        await late.wait()
        await readers.client.find(Secret, Key("default", "later"))

    outliving: list[asyncio.Task[None]] = []

    async def read(readers: Readers, request: Request) -> None:
        async with asyncio.TaskGroup() as group:
            for name in ("a", "b"):
                group.create_task(readers.client.find(Secret, Key("default", name)))
        if not outliving:
            outliving.append(asyncio.create_task(outlive(readers)))

    host, readers = make_host(), Readers(read)
    controller = Builder(host).build(readers)
    async with running(host) as client:
        await client.create(config_map("web"))
        await settle()
        late.set()
        await settle()
        reads = [str(each) for each in controller.subscriptions.reads_of(Request("default", "web"))]
        assert reads == ["Secret default/a", "Secret default/b"]
        await outliving[0]


async def test_live_reads_do_not_subscribe() -> None:
    """What the server has answered does not cause a reconcile when it changes."""

    async def read(readers: Readers, request: Request) -> None:
        await readers.client.live.find(Secret, Key("default", "db"))

    host, readers = make_host(), Readers(read)
    controller = Builder(host).build(readers)
    async with running(host) as client:
        await client.create(config_map("web"))
        await settle()
        await client.create(secret("db"))
        await settle()
        assert readers.take() == ["web"]
        assert len(controller.subscriptions) == 0


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


async def test_a_shared_object_is_a_storm_that_others_overtake() -> None:
    """A change that all requests have read runs them at low priority, the first hundred at once and the rest spread."""
    host, ran = make_host(), list[tuple[float, str]]()

    async def read(readers: Readers, request: Request) -> None:
        await readers.client.find(Secret, Key("default", "shared"))
        ran.append((asyncio.get_running_loop().time(), request.name))

    Builder(host).build(Readers(read))
    async with running(host) as client:
        for number in range(400):
            await client.create(config_map(f"m{number}"))
        await settle()
        ran.clear()
        began = asyncio.get_running_loop().time()
        await client.create(secret("shared"))
        await settle()
    assert len({name for _, name in ran}) == len(ran) == 400
    times = [at - began for at, _ in ran]
    assert sum(at < 0.01 for at in times) in range(100, 115)
    assert 0.28 < times[-1] < 0.32


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


async def test_a_kind_that_is_synced_late_runs_those_that_had_to_do_without() -> None:
    """A reconcile that cannot read a kind yet, and goes on without it, runs again once the kind is synced."""

    async def read(readers: Readers, request: Request) -> None:
        try:
            await readers.client.find(Secret, Key("default", "db"))
        except PyctrlError:
            readers.runs.append("without")

    host, readers = make_host(), Readers(read)
    readers.reads = (reading(Secret, optional=True),)  # type: ignore[assignment]
    controller = Builder(host).build(readers)
    informer = host.cache.informer(Secret)
    async with asyncio.TaskGroup() as group:
        # the informer of ConfigMap alone, as if Secrets were served later
        alone = group.create_task(host.cache.informer(ConfigMap).run())
        await host.live_client.create(config_map("web"))
        await settle()
        observer = controller.subscriptions.begin(Request("default", "web"))
        observer.not_answered(informer.gvk, informer)
        controller.subscriptions.end(observer, None)
        assert len(controller.subscriptions) == 1
        source = controller.sources[-1]
        following = group.create_task(source.run(controller.queue))
        synced = group.create_task(informer.run())
        await settle()
        assert controller.queue.remaining() == [Request("default", "web")]
        for task in (alone, following, synced):
            task.cancel()


async def test_reads_need_the_permissions_to_list_and_watch() -> None:
    """`reads` adds the permissions to list and watch the kind, as `watches` does."""
    host = make_host()
    controller = Builder(host).build(Readers(named_secret))
    assert host.cache.informer(Secret).rbac[0] in controller.rbac


async def test_a_declaration_for_namespaces_and_names_watches_and_needs_only_these() -> None:
    """`namespaces` and `names` restrict what is watched, the permissions, and what can be read."""
    host, readers = make_host(), Readers(named_secret)
    readers.reads = (reading(Secret, namespaces="default", names=["db", "mail"]),)  # type: ignore[assignment]
    controller = Builder(host).build(readers)
    needed = [allow(Secret, "list", "watch", names=[name], where={"default"}) for name in ("db", "mail")]
    assert [each for each in controller.rbac if each in needed] == needed
    async with running(host) as client:
        for name in ("db", "other"):
            await client.create(secret(name))
        await client.create(config_map("web", secret="db"))
        await settle()
        assert readers.take() == ["web"]
        await client.delete(secret("other"))
        await client.delete(secret("db"))
        await settle()
        assert readers.take() == ["web"]
        with pytest.raises(NotCovered):
            await host.client.find(Secret, Key("default", "other"))


async def test_two_declarations_are_watched_together() -> None:
    """Two controllers that read parts of a kind have both parts; one that reads all of it has everything."""
    host = make_host()
    for name, declared in (("one", reading(Secret, names="a")), ("two", reading(Secret, namespaces=["kube-public"]))):
        readers = Readers(named_secret)
        readers.reads = (declared,)  # type: ignore[assignment]
        Builder(host).options(name=name).build(readers)
    assert len(host.cache.informer(Secret, names=["a"]).rbac) == 2
    assert [each.rule.names for each in host.cache.informer(Secret).rbac] == [()]


async def test_a_kind_that_is_watched_in_part_cannot_be_widened_later() -> None:
    """What is needed of a kind must be declared before it is watched; the error says so."""
    host, readers = make_host(), Readers(named_secret)
    readers.reads = (reading(Secret, names="db"),)  # type: ignore[assignment]
    Builder(host).build(readers)
    async with running(host):
        with pytest.raises(CacheError, match="Secret is watched already, and not all of it; declare"):
            host.cache.informer(Secret)
