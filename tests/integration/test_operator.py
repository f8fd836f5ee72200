"""Operators on a real API: reading own writes, restarts, retries, finalizers, timers."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from datetime import timedelta

import pytest

from pyctrl.api import (
    Key,
    ObjectMeta,
    add_finalizer,
    controller_of,
    is_deleting,
    remove_finalizer,
    set_controller_reference,
)
from pyctrl.client import Client, MergePatch, wait_for, wait_for_list, wait_until_gone
from pyctrl.controller import (
    Builder,
    ChangeCause,
    Reconciler,
    Request,
    Result,
    RetryCause,
    TimerCause,
    generation_changed,
    labels_changed,
    mapped,
    reconcile_causes,
    where,
)
from pyctrl.errors import Conflict, TerminalError
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.manager import Manager
from pyctrl.testing import ClusterUnderTest
from tests.integration._objects import config_map

pytestmark = pytest.mark.virtual_time  # where the cluster is embedded

FINALIZER = "pyctrl.test/clean-up"


def mine(found: ConfigMap | None) -> bool:
    """Return whether a ConfigMap belongs to the test: a cluster creates some in each namespace."""
    return found is not None and found.metadata.name == "a"


class Parent(Reconciler[ConfigMap]):
    """Keeps the number of Secrets that a ConfigMap sets, with generated names, and lists them after each write."""

    def __init__(self) -> None:
        self.blind: list[str] = []  # own writes missing from a later read
        self.made = self.unmade = 0

    async def reconcile(self, request: Request) -> Result | None:
        parent = await self.client.find(ConfigMap, request.key)
        if parent is None or "children" not in parent.data:
            return None
        wanted = int(parent.data["children"])
        for _ in range(wanted - len(await self.children(parent))):
            await self.make(parent)
        for child in (await self.children(parent))[wanted:]:
            await self.unmake(parent, child)
        return None

    async def children(self, parent: ConfigMap) -> list[Secret]:
        meta = parent.metadata
        by_label = await self.client.list(Secret, namespace=meta.namespace, labels={"parent": meta.name})
        by_index = await self.client.list(Secret, namespace=meta.namespace, index=("owner", meta.uid))
        if {child.key for child in by_label} != {child.key for child in by_index}:
            self.blind.append(f"{parent.key}: index and label disagree")
        return sorted(by_label, key=lambda child: child.key)

    async def make(self, parent: ConfigMap) -> None:
        meta = ObjectMeta(
            generate_name=f"{parent.metadata.name}-",
            namespace=parent.metadata.namespace,
            labels={"parent": parent.metadata.name},
        )
        child = Secret(metadata=meta)
        set_controller_reference(parent, child)
        made = await self.client.create(child)
        self.made += 1
        if made.key not in {seen.key for seen in await self.children(parent)}:
            self.blind.append(f"made {made.key}")
        if await self.client.find(Secret, made.key) is None:
            self.blind.append(f"made and did not find {made.key}")

    async def unmake(self, parent: ConfigMap, child: Secret) -> None:
        await self.client.delete(child)
        self.unmade += 1
        if child.key in {seen.key for seen in await self.children(parent)}:
            self.blind.append(f"unmade {child.key}")


async def has_children(client: Client, namespace: str, parents: int, children: int) -> list[Secret]:
    """Wait until every parent has this many children."""

    def fits(secrets: object) -> bool:
        assert isinstance(secrets, list)
        count: dict[str, int] = defaultdict(int)
        for secret in secrets:
            count[secret.metadata.labels["parent"]] += 1
        return len(secrets) == parents * children and set(count.values()) <= {children}

    return await wait_for_list(client, Secret, fits, namespace=namespace)


async def test_own_writes_are_read_back_under_load(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """A reconciler sees its own creates and deletes at once, so it repeats none."""
    parents = [await client.create(config_map(namespace, f"p{n}", children="5")) for n in range(10)]
    reconciler = Parent()

    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        Builder(manager).reconciles(ConfigMap).owns(Secret).options(workers=8).build(reconciler)
        async with manager.running():
            await has_children(client, namespace, 10, 5)
            for wanted in ("1", "4"):
                for parent in parents:
                    await client.patch(parent, MergePatch({"data": {"children": wanted}}))
                await has_children(client, namespace, 10, int(wanted))

    assert reconciler.blind == []
    assert (reconciler.made, reconciler.unmade) == (10 * 5 + 10 * 3, 10 * 4)


async def test_a_manager_after_another(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """A second manager creates only missing children, and leaves those of the first unchanged."""
    await client.create(config_map(namespace, "p", children="3"))
    for what, made in (("all", 3), ("the missing one", 1), ("nothing", 0)):
        before = {secret.key: secret for secret in await client.list(Secret, namespace=namespace)}
        reconciler = Parent()
        async with Manager(cluster.config, namespaces=[namespace]) as manager:
            Builder(manager).reconciles(ConfigMap).owns(Secret).build(reconciler)
            async with manager.running():
                after = {secret.key: secret for secret in await has_children(client, namespace, 1, 3)}
                await client.create(config_map(namespace, f"last-{made}"))  # once this is seen, all others are too
                await wait_for_reconciles(manager, reconciler, namespace, f"last-{made}")
        kept = before.keys() & after.keys()
        assert (reconciler.made, reconciler.unmade) == (made, 0), what
        assert {key: after[key] for key in kept} == {key: before[key] for key in kept}
        if what == "all":
            gone = next(iter(after))
            await client.delete(Secret, gone)


async def wait_for_reconciles(manager: Manager, reconciler: Parent, namespace: str, name: str) -> None:
    """Wait until the cache of a manager has an object and its queues are empty."""
    version = (await manager.live_client.get(ConfigMap, Key(namespace, name))).metadata.resource_version
    await manager.cache.informer(ConfigMap).wait_for_version(version, timeout=timedelta(seconds=10))
    done = asyncio.Event()

    class Last(Reconciler[ConfigMap]):
        async def reconcile(self, request: Request) -> Result | None:
            done.set()
            return None

    Builder(manager).reconciles(ConfigMap).options(name="last").build(Last())
    async with asyncio.timeout(10):
        await done.wait()


class Recorder(Reconciler[ConfigMap]):
    """Records why it ran, and runs an action of the test."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, tuple[object, ...]]] = []
        self.news = asyncio.Event()

    async def reconcile(self, request: Request) -> Result | None:
        self.runs.append((request.name, reconcile_causes()))
        self.news.set()
        return await self.act(request)

    async def act(self, request: Request) -> Result | None:
        """Run the action of this recorder."""
        return None

    def causes(self, name: str) -> list[object]:
        """Return why an object was reconciled, oldest first."""
        return [cause for run, causes in self.runs if run == name for cause in causes]

    async def until(self, name: str, runs: int) -> None:
        """Wait until an object was reconciled this many times."""
        async with asyncio.timeout(15):
            while sum(run == name for run, _ in self.runs) < runs:
                self.news.clear()
                await self.news.wait()


async def test_predicates(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """Only changes that pass the predicate cause a reconcile."""
    made = await client.create(config_map(namespace))
    recorder = Recorder()

    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        Builder(manager).reconciles(ConfigMap, predicates=[labels_changed & where(mine)]).build(recorder)
        async with manager.running():
            await recorder.until("a", 1)
            for patch in ({"data": {"k": "1"}}, {"metadata": {"annotations": {"k": "1"}}}, {"data": {"k": "2"}}):
                await client.patch(made, MergePatch(patch))
            labelled = await client.patch(made, MergePatch({"metadata": {"labels": {"k": "1"}}}))
            await recorder.until("a", 2)

    first, second = recorder.causes("a")
    assert isinstance(first, ChangeCause)
    assert isinstance(second, ChangeCause)
    assert (first.change, first.initial) == ("created", True)
    assert (second.change, second.times, second.version) == ("updated", 1, labelled.metadata.resource_version)
    assert {name for name, _ in recorder.runs} == {"a"}


async def test_changes_of_other_kinds(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """A change of a watched kind reconciles the objects that the handler names."""
    recorder = Recorder()

    def named(secret: Secret) -> list[Request]:
        return [Request(secret.metadata.namespace, name) for name in secret.metadata.labels.values()]

    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        Builder(manager).watches(Secret, mapped(named), predicates=[~generation_changed | labels_changed]).options(
            name="watcher"
        ).build(recorder)
        async with manager.running():
            labels = {"a": "x", "b": "y"}
            secret = await client.create(Secret(metadata=ObjectMeta(name="s", namespace=namespace, labels=labels)))
            await recorder.until("x", 1)
            await recorder.until("y", 1)
            await client.patch(secret, MergePatch({"metadata": {"labels": {"a": None, "b": "z"}}}))
            await recorder.until("z", 1)

    assert {name for name, _ in recorder.runs} == {"x", "y", "z"}


class CleanUp(Recorder):
    """Creates something external for each object, and removes it before the object is deleted."""

    def __init__(self) -> None:
        super().__init__()
        self.outside: set[str] = set()

    async def act(self, request: Request) -> Result | None:
        found = await self.client.find(ConfigMap, request.key)
        if found is None or not mine(found):
            return None
        if is_deleting(found):
            self.outside.discard(request.name)
            if remove_finalizer(found, FINALIZER):
                await self.client.update(found)
            return None
        if add_finalizer(found, FINALIZER):
            await self.client.update(found)
        self.outside.add(request.name)
        return None


async def test_finalizers(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """The external resource exists before the object is used, and is removed before the object is."""
    reconciler = CleanUp()

    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        Builder(manager).reconciles(ConfigMap).build(reconciler)
        async with manager.running():
            made = await client.create(config_map(namespace))
            await wait_for(client, ConfigMap, made.key, lambda found: bool(found.metadata.finalizers))
            await reconciler.until("a", 2)  # also caused by its own update
            assert reconciler.outside == {"a"}
            await client.delete(made)
            await wait_until_gone(client, ConfigMap, made.key)

    assert reconciler.outside == set()


async def test_requeue_after(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """A requested requeue runs after its delay, without any change."""
    delay = timedelta(milliseconds=100)

    class Clock(Recorder):
        async def act(self, request: Request) -> Result | None:
            return Result.after(delay) if request.name == "a" and len(self.causes("a")) < 3 else None

    clock = Clock()
    await client.create(config_map(namespace))
    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        Builder(manager).reconciles(ConfigMap).build(clock)
        async with manager.running():
            loop = asyncio.get_running_loop()
            await clock.until("a", 1)
            begun = loop.time()
            await clock.until("a", 3)
            took = loop.time() - begun

    first, *timers = clock.causes("a")
    assert isinstance(first, ChangeCause)
    assert timers == [TimerCause(delay)] * 2
    assert took >= 2 * delay.total_seconds() * 0.95


async def test_terminal_errors_are_not_retried(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """An error is retried; a TerminalError waits for the next change of its object."""

    class Failing(Recorder):
        async def act(self, request: Request) -> Result | None:
            if request.name == "hopeless":
                raise TerminalError("this can never work")
            if request.name == "flaky" and sum(run == "flaky" for run, _ in self.runs) < 5:
                raise RuntimeError("not yet")
            return None

    failing = Failing()
    hopeless = await client.create(config_map(namespace, "hopeless"))
    await client.create(config_map(namespace, "flaky"))
    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        controller = Builder(manager).reconciles(ConfigMap).build(failing)
        async with manager.running():
            await failing.until("flaky", 5)
            assert len(failing.causes("hopeless")) == 1
            await client.patch(hopeless, MergePatch({"data": {"k": "v"}}))
            await failing.until("hopeless", 2)

    retries = failing.causes("flaky")[1:]
    assert [cause.failures for cause in retries if isinstance(cause, RetryCause)] == [1, 2, 3, 4]
    reconciles = controller.statistics().reconciles
    assert (reconciles.error, reconciles.terminal_error) == (4, 2)


async def test_a_conflict_is_retried(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """A write after a concurrent change is a Conflict, and the retry keeps both changes."""

    class Slow(Recorder):
        conflicts = 0

        async def act(self, request: Request) -> Result | None:
            found = await self.client.find(ConfigMap, request.key)
            if found is None or not mine(found) or "mine" in found.data:
                return None
            if not self.conflicts:  # a concurrent write, once
                await client.patch(ConfigMap, request.key, MergePatch({"data": {"theirs": "1"}}))
            found.data["mine"] = "1"
            try:
                await self.client.update(found)
            except Conflict:
                self.conflicts += 1
                raise
            return None

    slow = Slow()
    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        Builder(manager).reconciles(ConfigMap).build(slow)
        async with manager.running():
            made = await client.create(config_map(namespace))
            found = await wait_for(client, ConfigMap, made.key, lambda obj: "mine" in obj.data)

    assert found.data == {"mine": "1", "theirs": "1"}
    assert slow.conflicts >= 1


async def test_the_owner_of_what_it_made(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """A deleted or changed child is repaired; an object without owner is ignored."""
    await client.create(config_map(namespace, "p", children="2"))
    reconciler = Parent()

    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        Builder(manager).reconciles(ConfigMap).owns(Secret).build(reconciler)
        async with manager.running():
            first, second = await has_children(client, namespace, 1, 2)
            await client.delete(first)
            left = await wait_for_list(
                client,
                Secret,
                lambda found: len(found) == 2 and first.key not in {child.key for child in found},
                namespace=namespace,
            )

    assert second.key in {child.key for child in left}
    owner = controller_of(left[0])
    assert owner is not None
    assert (owner.kind, owner.name) == ("ConfigMap", "p")
