"""Managers on a real API: their watches, their waits, and several in one process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from pyctrl.api import (
    GroupVersionKind,
    Key,
    ObjectMeta,
    Unstructured,
    is_controlled_by,
    set_controller_reference,
)
from pyctrl.client import BearerToken, Client, MergePatch, create_token, wait_for
from pyctrl.controller import Builder, OnSyncFailure, Reconciler, Request, Result
from pyctrl.errors import ControllerError, NotCovered, NotFound, NotSynced
from pyctrl.kinds.authorization.v1 import (
    ResourceAttributes,
    SelfSubjectAccessReview,
    SelfSubjectAccessReviewSpec,
)
from pyctrl.kinds.core.v1 import ConfigMap, Namespace, Secret, ServiceAccount
from pyctrl.kinds.rbac.v1 import PolicyRule, Role, RoleBinding, RoleRef, Subject
from pyctrl.manager import Manager
from pyctrl.rbac import allow
from pyctrl.testing import ClusterUnderTest, UnderRole
from tests.integration._definitions import install_kind, installed, uninstall_kind, widget_kind
from tests.integration._objects import config_map

pytestmark = pytest.mark.virtual_time  # where the cluster is embedded

PATIENCE = 60.0  # seconds; a cache retries a refused list after 0.8 to 30


class Marker(Reconciler[Any]):
    """Writes its mark into each requested object."""

    def __init__(self, mark: str, kind: Any = ConfigMap) -> None:
        self.mark = mark
        self.kind = kind

    async def reconcile(self, request: Request) -> Result | None:
        label = f"pyctrl.test/{self.mark}"
        found = await self.client.find(self.kind, request.key)
        if found is not None and label not in found.metadata.labels:
            await self.client.patch(found, MergePatch({"metadata": {"labels": {label: "seen"}}}))
        return None


async def marked(client: Client, kind: Any, key: Key, *marks: str, timeout: float = 15.0) -> None:
    """Wait until an object has these marks."""

    def has_all(found: Unstructured | ConfigMap | None) -> bool:
        return found is not None and all(f"pyctrl.test/{mark}" in found.metadata.labels for mark in marks)

    await wait_for(client, kind, key, has_all, timeout=timeout)


@asynccontextmanager
async def starting(manager: Manager) -> AsyncIterator[None]:
    """Run a manager beside the block, ready or not."""
    async with asyncio.TaskGroup() as group:
        group.create_task(manager.run(handle_signals=False))
        try:
            yield
        finally:
            manager.ask_to_stop()


async def until(holds: Callable[[], bool]) -> None:
    """Poll for a condition that has no event to wait for."""
    async with asyncio.timeout(15):
        while not holds():
            await asyncio.sleep(0.02)


async def test_two_managers_in_one_process(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """Two managers work in one process, with separate caches and equally named controllers."""
    async with (
        Manager(cluster.config, namespaces=[namespace]) as first,
        Manager(cluster.config, namespaces=[namespace]) as second,
    ):
        Builder(first).reconciles(ConfigMap).build(Marker("first"))
        Builder(second).reconciles(ConfigMap).build(Marker("second"))
        async with first.running():
            async with second.running():
                one = await client.create(config_map(namespace, "one"))
                await marked(client, ConfigMap, one.key, "first", "second")
            two = await client.create(config_map(namespace, "two"))
            await marked(client, ConfigMap, two.key, "first")

    assert "pyctrl.test/second" not in (await client.get(ConfigMap, two.key)).metadata.labels


async def test_only_its_namespaces(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """A manager restricted to namespaces reconciles only those; reads elsewhere raise NotCovered, not NotFound."""
    other = (await client.create(Namespace(metadata=ObjectMeta(generate_name="test-")))).metadata.name
    outside = await client.create(config_map(other, "outside"))

    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        Builder(manager).reconciles(ConfigMap).build(Marker("here"))
        async with manager.running():
            inside = await client.create(config_map(namespace, "inside"))
            await marked(client, ConfigMap, inside.key, "here")
            with pytest.raises(NotCovered, match=f"it covers namespace '{namespace}'"):
                await manager.client.get(ConfigMap, outside.key)
            everything = await manager.client.list(ConfigMap)
            assert {obj.key.namespace for obj in everything} == {namespace}
            assert inside.key in {obj.key for obj in await manager.client.list(ConfigMap, namespace=namespace)}
            assert await manager.live_client.get(ConfigMap, outside.key) == outside
    await client.delete(Namespace, Key("", other))


class Keeper(Reconciler[ConfigMap]):
    """Keeps one Secret for each ConfigMap, and lists Secrets without a namespace, like the README's PodSet."""

    owns = (Secret,)
    rbac = (allow(Secret, "create"),)

    async def reconcile(self, request: Request) -> None:
        owner = await self.client.find(ConfigMap, request.key)
        if owner is None or not owner.metadata.name.startswith("keep"):
            return
        if not await self.client.list(Secret, index=("owner", owner.metadata.uid)):
            secret = Secret(metadata=ObjectMeta(name=owner.metadata.name, namespace=owner.metadata.namespace))
            set_controller_reference(owner, secret)
            await self.client.create(secret)


async def test_a_list_without_a_namespace_works_under_a_role_for_some(
    client: Client, namespace: str, under_role: UnderRole
) -> None:
    """In a manager restricted to namespaces, a list without one covers these."""
    async with under_role(lambda m: Builder(m).build(Keeper()), namespaces=[namespace]) as operator:
        made = await client.create(config_map(namespace, "keep"))
        assert is_controlled_by(await wait_for(client, Secret, made.key), made)
        assert [each.key for each in await operator.manager.client.list(Secret) if each.metadata.name == "keep"] == [
            made.key
        ]


async def test_kinds_and_controllers_are_added_while_it_runs(
    cluster: ClusterUnderTest, client: Client, namespace: str
) -> None:
    """An added informer or controller starts at once; a removed kind is no longer covered."""
    made = await client.create(Secret(metadata=ObjectMeta(name="a", namespace=namespace)))

    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        Builder(manager).reconciles(ConfigMap).build(Marker("first"))
        async with manager.running():
            with pytest.raises(NotCovered):
                await manager.client.list(Secret, namespace=namespace)
            await manager.cache.informer(Secret).wait_for_sync(timedelta(seconds=10))
            assert list(await manager.client.list(Secret, namespace=namespace)) == [made]
            Builder(manager).reconciles(Secret).build(Marker("second", Secret))
            await marked(client, Secret, made.key, "second")
            await manager.cache.remove(Secret)
            with pytest.raises(NotCovered):
                await manager.client.list(Secret, namespace=namespace)


@pytest.mark.slow("a cache waits before it tries again, and a real API server lets the first creation wait")
@pytest.mark.timeout(90)
async def test_a_kind_that_is_installed_later(
    cluster: ClusterUnderTest, client: Client, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The manager reports a missing definition, waits for it, and works once it is installed."""
    kind = widget_kind(namespace)
    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        Builder(manager).reconciles(kind).build(Marker("seen", kind))
        async with starting(manager):
            await until(lambda: "does not serve" in manager.cache.problems.get(kind, ""))
            await manager.elected.wait()
            assert manager.not_ready["widget"].startswith("waits for a definition")
            with pytest.raises(NotSynced, match="does not serve .*Widget.*definition installed"):
                await manager.client.list(kind, namespace=namespace)
            async with installed(client, kind):
                made = await client.create(Unstructured.new(kind, name="a", namespace=namespace, spec={"size": 1}))
                await marked(client, kind, made.key, "seen", timeout=PATIENCE)
                assert manager.cache.problems == {}

    loud = [record.getMessage() for record in caplog.records if record.levelname in ("WARNING", "ERROR")]
    assert any("Widget" in text and "is its definition installed" in text for text in loud), loud


@pytest.mark.slow("a cache waits before it tries again, and a real API server lets the first creation wait")
@pytest.mark.timeout(90)
async def test_a_kind_that_goes_and_comes_back(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """Deleting a definition empties the cache of its kind; installing it again resumes all work."""
    kind = widget_kind(namespace)
    await install_kind(client, kind)
    made = await client.create(Unstructured.new(kind, name="a", namespace=namespace, spec={"size": 1}))
    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        Builder(manager).reconciles(kind).build(Marker("seen", kind))
        async with manager.running():
            await marked(client, kind, made.key, "seen")
            await uninstall_kind(client, kind)
            await until(lambda: not manager.cache.informer(kind).lister.store)
            with pytest.raises(NotFound):
                await manager.client.get(kind, made.key)
            async with installed(client, kind):
                made = await client.create(Unstructured.new(kind, name="b", namespace=namespace, spec={"size": 1}))
                await marked(client, kind, made.key, "seen", timeout=PATIENCE)


async def may_list(client: Client, namespace: str) -> bool:
    """Return whether a client may list Secrets: not every cluster checks permissions."""
    attributes = ResourceAttributes(namespace=namespace, verb="list", resource="secrets")
    review = SelfSubjectAccessReview(spec=SelfSubjectAccessReviewSpec(resource_attributes=attributes))
    return bool((await client.create(review)).status.allowed)


@pytest.mark.slow("a cache that was refused waits before it tries again")
@pytest.mark.timeout(90)
async def test_a_right_that_is_granted_later(
    cluster: ClusterUnderTest, client: Client, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A manager reports the rule that it lacks, and works once it is granted."""
    account = await client.create(ServiceAccount(metadata=ObjectMeta(name="robot", namespace=namespace)))
    made = await client.create(Secret(metadata=ObjectMeta(name="a", namespace=namespace)))
    login = replace(cluster.config, credentials=BearerToken((await create_token(client, account.key)).token))
    async with Manager(login, namespaces=[namespace]) as manager:
        Builder(manager).reconciles(Secret).build(Marker("seen", Secret))
        is_refused = not await may_list(manager.live_client, namespace)
        async with starting(manager):
            if is_refused:
                secret = GroupVersionKind("", "v1", "Secret")
                await until(lambda: "forbidden" in manager.cache.problems.get(secret, ""))
            await grant(client, account)
            await marked(client, Secret, made.key, "seen", timeout=PATIENCE)

    loud = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert any("secrets" in text and "list" in text and namespace in text for text in loud) == is_refused, loud


async def grant(client: Client, account: ServiceAccount) -> None:
    """Allow a service account to read and change the Secrets of its namespace."""
    meta = ObjectMeta(name="secrets", namespace=account.metadata.namespace)
    rule = PolicyRule(api_groups=[""], resources=["secrets"], verbs=["get", "list", "watch", "patch"])
    await client.create(Role(metadata=meta, rules=[rule]))
    subject = Subject(kind="ServiceAccount", name=account.metadata.name, namespace=account.metadata.namespace)
    role = RoleRef(api_group="rbac.authorization.k8s.io", kind="Role", name="secrets")
    await client.create(RoleBinding(metadata=meta, role_ref=role, subjects=[subject]))


async def test_a_manager_that_waits_for_too_long(
    cluster: ClusterUnderTest, namespace: str, caplog: pytest.LogCaptureFixture
) -> None:
    """With a sync timeout, a missing kind ends the manager with an error that names it."""
    kind = widget_kind(namespace)
    limit = timedelta(milliseconds=200)
    options: dict[str, Any] = {"cache_sync_timeout": limit, "on_sync_failure": OnSyncFailure.END}
    async with Manager(cluster.config, namespaces=[namespace], **options) as manager:
        Builder(manager).reconciles(kind).build(Marker("seen", kind))
        with pytest.raises((NotSynced, ControllerError), match="Widget.*is its definition installed"):
            await manager.run(handle_signals=False)
