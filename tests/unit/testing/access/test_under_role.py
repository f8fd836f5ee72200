"""Operators under the roles generated from their wiring, and the missing permissions that a test finds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import wait_for
from pyctrl.cluster import Cluster
from pyctrl.controller import Builder, ManagedCluster, Reconciler, Request
from pyctrl.errors import ConfigError, NotFound
from pyctrl.kinds.core.v1 import ConfigMap, ServiceAccount
from pyctrl.kinds.rbac.v1 import ClusterRole, ClusterRoleBinding
from pyctrl.rbac import EVENTS, Permission, allow
from pyctrl.testing import AccessRecorder, ClusterUnderTest, UnderRole
from pyctrl.testing._cluster.choice import ClusterChoice
from pyctrl.testing._cluster.service_account_token import AccountToken

KEY = Key("default", "guest")


class Greeter(Reconciler[ConfigMap]):
    """Writes greetings with update, but declares patch."""

    rbac: Sequence[Permission] = (allow(ConfigMap, "patch"),)

    async def reconcile(self, request: Request) -> None:
        """Greet the object if it lacks a greeting."""
        found = await self.client.find(ConfigMap, request.key)
        if found is not None and request.key == KEY and "greeting" not in found.data:
            found.data["greeting"] = "hello"
            await self.client.update(found)


class HonestGreeter(Greeter):
    """Declares the permission that it uses."""

    rbac = (allow(ConfigMap, "update"),)


class RecordingGreeter(Greeter):
    """Also declares the permission for Events, and writes none."""

    rbac = (allow(ConfigMap, "update"), EVENTS)


def add_greeter(host: ManagedCluster) -> None:
    Builder(host).reconciles(ConfigMap).build(Greeter())


def add_honest_greeter(host: ManagedCluster) -> None:
    Builder(host).reconciles(ConfigMap).build(HonestGreeter())


def add_recording_greeter(host: ManagedCluster) -> None:
    Builder(host).reconciles(ConfigMap).build(RecordingGreeter())


@pytest.fixture
async def guarded() -> AsyncIterator[ClusterUnderTest]:
    async with Cluster(rbac=True, kubelet=False) as cluster:
        yield ClusterUnderTest(config=cluster.config, choice=ClusterChoice.EMBEDDED)


async def is_greeted(cluster: ClusterUnderTest, *, timeout: float = 30.0) -> None:
    async with cluster.client() as client:
        await client.create(ConfigMap(metadata=ObjectMeta(name=KEY.name, namespace=KEY.namespace)))
        await wait_for(client, ConfigMap, KEY, lambda found: "greeting" in found.data, timeout=timeout)


async def test_who_declares_what_it_does_passes(guarded: ClusterUnderTest) -> None:
    """The operator works, the permissions match, and its objects are deleted afterwards."""
    under_role = UnderRole(cluster=guarded, namespace="default", accesses=AccessRecorder())
    async with under_role(add_honest_greeter) as operator:
        await is_greeted(guarded)
        assert operator.compare().lines() == []
    assert under_role.accesses.asked == operator.accesses.asked
    async with guarded.client() as client:
        for kind in (ServiceAccount, ClusterRole, ClusterRoleBinding):
            assert not [found for found in await client.list(kind) if "operator" in found.metadata.name]


async def test_rights_to_events_need_not_be_used(guarded: ClusterUnderTest) -> None:
    """The assertion of a scaffolded test passes for an operator that declares EVENTS, and writes none."""
    under_role = UnderRole(cluster=guarded, namespace="default", accesses=AccessRecorder())
    async with under_role(add_recording_greeter) as operator:
        await is_greeted(guarded)
        assert "events" in {access.resource for access in operator.granted.accesses()}
        assert operator.compare().lines() == []


@pytest.mark.slow(reason="hours of a whole cluster")
async def test_its_token_is_renewed(guarded: ClusterUnderTest) -> None:
    """An operator in a test that lasts longer than its one-hour token, in virtual time, still works at the end."""
    under_role = UnderRole(cluster=guarded, namespace="default", accesses=AccessRecorder())
    async with under_role(add_honest_greeter) as operator:
        await asyncio.sleep(2.5 * 3600)
        await is_greeted(guarded)
        assert operator.compare().lines() == []


@pytest.mark.slow(reason="hours of a whole cluster")
async def test_a_token_is_renewed_as_kubelet_does(guarded: ClusterUnderTest) -> None:
    """A token is renewed at 80 % of its life, once for many requests; a failure keeps it; a 401 renews it at once."""
    account = Key("default", "bot")
    async with guarded.client() as admin:
        await admin.create(ServiceAccount(metadata=ObjectMeta(name="bot", namespace="default")))
        login = (await guarded.config_for_account(account)).credentials
        assert isinstance(login, AccountToken)
        first = await login.authorization()
        await asyncio.sleep(0.79 * 3600)
        assert await login.authorization() == first
        await asyncio.sleep(0.02 * 3600)
        second, same = await asyncio.gather(login.authorization(), login.authorization())
        assert first != second == same
        assert await login.refresh(first)
        assert await login.authorization() == second
        await asyncio.sleep(1)  # in which another token would be created
        assert await login.refresh(second)
        third = await login.authorization()
        assert third not in (first, second)
        await admin.delete(ServiceAccount, account)
        await asyncio.sleep(0.9 * 3600)
        assert await login.authorization() == third
        assert f"Bearer {login.to_kubeconfig_user()['token']}" == third
        await asyncio.sleep(0.2 * 3600)
        with pytest.raises(NotFound):
            await login.authorization()


async def test_what_is_not_declared_fails_the_test_and_is_named(guarded: ClusterUnderTest) -> None:
    """The error of a block that times out names the requests that were refused meanwhile."""
    under_role = UnderRole(cluster=guarded, namespace="default", accesses=AccessRecorder(), by="a test")
    with pytest.raises(TimeoutError) as failure:
        async with under_role(add_greeter) as operator:
            await is_greeted(guarded, timeout=0.001)
    [note] = failure.value.__notes__
    right = "update configmaps 'guest' in namespace 'default'"
    assert note.startswith(f"refused: {right} (requested ")
    assert note.endswith("by controller configmap for default/guest in a test)")
    assert "missing: update configmaps in namespace 'default'" in operator.compare().lines()[0]
    assert operator.compare().lines()[1:] == ["unused: patch configmaps at the cluster scope"]


async def test_a_refusal_fails_a_test_that_did_not_notice(guarded: ClusterUnderTest) -> None:
    """A denied access fails a block that raises no error itself."""
    under_role = UnderRole(cluster=guarded, namespace="default", accesses=AccessRecorder())
    with pytest.raises(
        AssertionError, match=r"(?s)role does not grant accesses that it needs.*refused: update configmaps 'guest'"
    ):
        async with under_role(add_greeter) as operator, guarded.client() as client:
            await client.create(ConfigMap(metadata=ObjectMeta(name=KEY.name, namespace=KEY.namespace)))
            await operator.accesses.wait_until_refused()


async def test_a_cluster_without_roles_proves_nothing() -> None:
    """Without RBAC, the login of an account raises an error that says how to get a cluster with RBAC."""
    async with Cluster(kubelet=False) as cluster:
        under_test = ClusterUnderTest(config=cluster.config, choice=ClusterChoice.EMBEDDED, has_rbac=False)
        with pytest.raises(ConfigError, match=r"^this cluster has no RBAC; mark the test with pytest\.mark\.rbac"):
            await under_test.config_for_account(Key("default", "default"))
