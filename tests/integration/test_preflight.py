"""Permissions that are missing at start, granted later, revoked and restored, for operators as service accounts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from copy import deepcopy
from typing import Any

import pytest

from pyctrl.api import Key, ObjectMeta, Unstructured
from pyctrl.client import Client, MergePatch, wait_for
from pyctrl.controller import Builder, Controller, ControllerState, Reconciler, Request
from pyctrl.errors import MissingPermissions, NotFound
from pyctrl.kinds.core.v1 import ConfigMap, Secret, ServiceAccount
from pyctrl.manager import Manager, Preflight
from pyctrl.rbac import Grants, allow, manifests
from pyctrl.testing import ClusterUnderTest

pytestmark = [pytest.mark.virtual_time, pytest.mark.rbac]  # where the cluster is embedded

PATIENCE = 60.0  # seconds; missing permissions are reviewed again after 2 to 30
BOT = "bot"


class Marker(Reconciler[Any]):
    """Marks the objects that a test creates."""

    def __init__(self, kind: type[Any]) -> None:
        self.kind = kind
        self.rbac = (allow(kind, "patch"),)

    async def reconcile(self, request: Request) -> None:
        """Mark one object."""
        found = await self.client.find(self.kind, request.key)
        if found is not None and "test" in found.metadata.labels and "seen" not in found.metadata.labels:
            await self.client.patch(found, MergePatch({"metadata": {"labels": {"seen": "yes"}}}))


class Account:
    """A service account in the test's namespace, with changing permissions."""

    def __init__(self, cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
        self.key = Key(namespace, BOT)
        self._cluster, self._client = cluster, client
        self._granted: list[dict[str, Any]] = []

    @asynccontextmanager
    async def manager(self, preflight: Preflight = Preflight.WARN) -> AsyncIterator[Manager]:
        """Return a manager of the account, for its namespace."""
        await self._client.create(ServiceAccount(metadata=ObjectMeta(name=BOT, namespace=self.key.namespace)))
        config = await self._cluster.config_for_account(self.key)
        async with Manager(config, namespaces=[self.key.namespace], preflight=preflight) as manager:
            yield manager

    async def grant(self, granted: Grants) -> None:
        """Grant the account exactly these permissions."""
        await self.revoke()
        self._granted = manifests(granted, name=BOT, account=self.key)
        for document in self._granted:
            await self._client.create(Unstructured(deepcopy(document)))

    async def revoke(self) -> None:
        """Revoke all its permissions."""
        for document in self._granted:
            with suppress(NotFound):
                await self._client.delete(Unstructured(deepcopy(document)))
        self._granted = []

    async def create(self, kind: type[Any], name: str) -> Key:
        """Create an object to be marked."""
        meta = ObjectMeta(name=name, namespace=self.key.namespace, labels={"test": "yes"})
        made = await self._client.create(kind(metadata=meta))
        return Key(made.metadata.namespace, made.metadata.name)

    async def is_marked(self, kind: type[Any], key: Key) -> None:
        """Wait until an object is marked."""
        await wait_for(self._client, kind, key, lambda found: "seen" in found.metadata.labels, timeout=PATIENCE)


@pytest.fixture
def account(cluster: ClusterUnderTest, client: Client, namespace: str) -> Account:
    return Account(cluster, client, namespace)


async def until(holds: Callable[[], bool]) -> None:
    """Poll for a condition that has no event to wait for."""
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.05)


def build(manager: Manager, kind: type[Any]) -> Controller:
    return Builder(manager).reconciles(kind).build(Marker(kind))


def of(granted: Grants, resource: str) -> Grants:
    """Return the permissions for one resource."""
    return granted.without(*(access for access in granted.accesses() if access.resource != resource))


@pytest.mark.slow("what is missing is reviewed again after some seconds")
@pytest.mark.timeout(120)
async def test_one_controller_waits_until_it_may_and_the_other_runs(
    account: Account, caplog: pytest.LogCaptureFixture
) -> None:
    """A controller without permissions waits, names the rule, and catches up once granted; another one runs."""
    async with account.manager() as manager:
        blocked, free = build(manager, Secret), build(manager, ConfigMap)
        everything = manager.grants()
        await account.grant(of(everything, "configmaps"))
        secret, config_map = await account.create(Secret, "s"), await account.create(ConfigMap, "c")
        async with manager.running():
            await account.is_marked(ConfigMap, config_map)
            assert free.is_ready
            assert blocked.state is ControllerState.WAITING_FOR_RIGHTS
            assert "it may not list secrets in namespace" in manager.not_ready["secret"]
            await account.grant(everything)
            await account.is_marked(Secret, secret)
            await until(lambda: manager.not_ready == {})
    [told] = [r.getMessage() for r in caplog.records if "secret may not" in r.getMessage()]
    namespace = account.key.namespace
    assert told.startswith(f"secret may not list, patch and watch secrets in namespace '{namespace}', and waits")
    assert '    resources: ["secrets"]\n    verbs: ["list", "patch", "watch"]\n' in told
    assert f"--role={namespace}:bot:secrets:list-patch-watch --serviceaccount={namespace}:bot" in told


async def test_strict_ends_at_once_and_tells_everything(account: Account) -> None:
    """A strict manager reconciles nothing, and fails with a message for each resource."""
    async with account.manager(Preflight.STRICT) as manager:
        controllers = build(manager, Secret), build(manager, ConfigMap)
        with pytest.raises(MissingPermissions) as caught:
            await manager.run(handle_signals=False)
    assert "configmap may not list, patch and watch configmaps" in str(caught.value)
    assert "secret may not list, patch and watch secrets" in str(caught.value)
    assert [controller.statistics().reconciles.success for controller in controllers] == [0, 0]


@pytest.mark.slow("what is missing is reviewed again after some seconds")
@pytest.mark.timeout(120)
async def test_a_role_that_is_removed_and_given_back(account: Account, caplog: pytest.LogCaptureFixture) -> None:
    """A controller reports a removed role, and retries failed work as soon as the role is back."""
    async with account.manager() as manager:
        controller = build(manager, ConfigMap)
        await account.grant(manager.grants())
        async with manager.running():
            await account.is_marked(ConfigMap, await account.create(ConfigMap, "before"))
            await account.revoke()
            lost = await account.create(ConfigMap, "meanwhile")
            await until(lambda: controller.state is ControllerState.LACKING_RIGHTS)
            await until(lambda: any("may not patch configmaps" in r.getMessage() for r in caplog.records))
            await account.grant(manager.grants())
            await account.is_marked(ConfigMap, lost)
            await until(lambda: controller.is_ready)
            assert manager.not_ready == {}
