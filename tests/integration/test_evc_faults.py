"""The EphemeralVolumeClaim operator under faults, on any cluster.

tests/unit/examples/test_faults.py tests both examples with more faults, in virtual time.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from examples.evc.evc import EphemeralVolumeClaim, add_evc
from pyctrl.api import Key, ObjectMeta, Unstructured
from pyctrl.client import Client, MergePatch, TokenFile, wait_for, wait_for_list, wait_until_gone
from pyctrl.kinds.authentication.v1 import TokenRequest, TokenRequestSpec
from pyctrl.kinds.core.v1 import PersistentVolumeClaim, ServiceAccount
from pyctrl.manager import Manager
from pyctrl.rbac import manifests
from pyctrl.testing import ClusterUnderTest
from tests.integration._operators import EVC_DEFINITION, evc, evc_operator, has_come_to, install
from tests.integration._processes import example_process, kubeconfig_for

BACK = 90.0  # seconds after an outage: one until the next retry of a write, half of one for watches


async def is_bound_at(client: Client, key: Key, size: str, *, timeout: float = 30.0) -> None:
    """Wait until a claim has a volume of this size."""
    await wait_for(client, EphemeralVolumeClaim, key, lambda found: found.status.size == size, timeout=timeout)
    await has_come_to(client, key, "Bound", timeout=timeout)


@pytest.mark.real_time
@pytest.mark.slow("starts processes, which import for a second each")
@pytest.mark.timeout(120)
async def test_killed_in_the_middle(
    cluster: ClusterUnderTest, client: Client, namespace: str, storage_class: str, tmp_path: Path
) -> None:
    """The next process finishes the work of a killed one, and repeats none of it."""
    await install(client, EVC_DEFINITION)
    names = [f"c{number}" for number in range(12)]
    async with kubeconfig_for(cluster, tmp_path) as kubeconfig:
        arguments = ("--kubeconfig", str(kubeconfig), "--watch-namespace", namespace, "--storage-class", storage_class)
        async with example_process("evc", *arguments) as first:
            await first.says("Starting workers")
            for name in names:
                await client.create(evc(namespace, "1G", name))
            some = await wait_for_list(
                client, PersistentVolumeClaim, lambda found: len(found) >= 3, namespace=namespace
            )
            await first.end(signal.SIGKILL)
        made = {obj.key: obj.metadata.uid for obj in some}
        async with example_process("evc", *arguments) as second:
            for name in names:
                await is_bound_at(client, Key(namespace, name), "1G")
            assert await second.end(signal.SIGTERM) == 0
    found = {obj.key: obj.metadata.uid for obj in await client.list(PersistentVolumeClaim, namespace=namespace)}
    assert {key.name for key in found} == set(names)
    assert {key: found[key] for key in made} == made


async def test_two_operators_at_once(
    cluster: ClusterUnderTest, client: Client, namespace: str, storage_class: str
) -> None:
    """Two operators create nothing twice, both settle, and either can stop."""
    await install(client, EVC_DEFINITION)
    keys = [Key(namespace, name) for name in "abcd"]
    async with evc_operator(cluster, namespace, storage_class):
        async with evc_operator(cluster, namespace, storage_class):
            for key in keys:
                await client.create(evc(namespace, "1G", key.name))
            for key in keys:
                await is_bound_at(client, key, "1G")
            for key in keys:
                await client.patch(EphemeralVolumeClaim, key, MergePatch({"spec": {"size": "2G"}}))
            for key in keys:
                await is_bound_at(client, key, "2G")
        rested = {obj.key: obj.metadata.uid for obj in await client.list(PersistentVolumeClaim, namespace=namespace)}
        assert sorted(rested) == keys
        await client.patch(EphemeralVolumeClaim, keys[0], MergePatch({"spec": {"size": "3G"}}))
        await is_bound_at(client, keys[0], "3G")
    found = await client.list(PersistentVolumeClaim, namespace=namespace)
    assert {obj.key: obj.metadata.uid for obj in found} == rested


@asynccontextmanager
async def with_account(
    cluster: ClusterUnderTest, client: Client, namespace: str, storage_class: str, file: Path
) -> AsyncIterator[Unstructured]:
    """Run the operator as an account with its token in a file; return the binding of its role."""
    account = Key(namespace, "operator")
    await client.create(ServiceAccount(metadata=ObjectMeta(name=account.name, namespace=account.namespace)))
    await renew(client, account, file)
    tls = replace(cluster.config.tls, certificate=None)
    config = replace(cluster.config, credentials=TokenFile(file), tls=tls, impersonate=None)
    async with Manager(config, namespaces=[namespace]) as manager:
        add_evc(manager, storage_class=storage_class)
        role, binding = manifests(manager.grants(), name="operator", account=account)
        await client.create(Unstructured.from_wire(role))
        bound = await client.create(Unstructured.from_wire(binding))
        async with manager.running():
            yield bound


async def renew(client: Client, account: Key, file: Path) -> None:
    """Act as the kubelet: request a token and write it to the operator's file."""
    wanted = TokenRequest(spec=TokenRequestSpec(expiration_seconds=600))
    answer = await client.subresource("token").create(ServiceAccount, account, wanted, answer=TokenRequest)
    file.write_text(answer.status.token)


@pytest.mark.virtual_time
@pytest.mark.rbac
@pytest.mark.slow("on a real cluster the outage takes some seconds, and so does its end")
@pytest.mark.timeout(150)
async def test_the_role_is_taken_away_and_given_back(
    cluster: ClusterUnderTest,
    client: Client,
    namespace: str,
    storage_class: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Without its role the operator names the missing permission; it recovers soon after, without a restart."""
    await install(client, EVC_DEFINITION)
    async with with_account(cluster, client, namespace, storage_class, tmp_path / "token") as binding:
        key = (await client.create(evc(namespace, "1G"))).key
        await is_bound_at(client, key, "1G")
        await client.delete(binding)
        await asyncio.sleep(1)
        await client.patch(EphemeralVolumeClaim, key, MergePatch({"spec": {"size": "2G"}}))
        new = (await client.create(evc(namespace, "1G", "new"))).key
        await asyncio.sleep(5)
        assert await client.find(PersistentVolumeClaim, new) is None
        said = 'cannot create resource "persistentvolumeclaims" in API group "" in the namespace'
        assert said in caplog.text
        binding.metadata.resource_version = ""
        await client.create(binding)
        await is_bound_at(client, key, "2G", timeout=BACK)
        await is_bound_at(client, new, "1G", timeout=BACK)


@pytest.mark.virtual_time
@pytest.mark.rbac
@pytest.mark.slow("on a real cluster the outage takes some seconds, and so does its end")
@pytest.mark.timeout(150)
async def test_the_token_is_no_longer_good(
    cluster: ClusterUnderTest, client: Client, namespace: str, storage_class: str, tmp_path: Path
) -> None:
    """A refused token is read again from its file; the operator recovers soon after its renewal."""
    await install(client, EVC_DEFINITION)
    file = tmp_path / "token"
    async with with_account(cluster, client, namespace, storage_class, file):
        key = (await client.create(evc(namespace, "1G"))).key
        await is_bound_at(client, key, "1G")
        account = Key(namespace, "operator")
        await client.delete(ServiceAccount, account)
        await wait_until_gone(client, ServiceAccount, account)
        await client.create(ServiceAccount(metadata=ObjectMeta(name=account.name, namespace=namespace)))
        await asyncio.sleep(11)  # kube-apiserver caches authenticated tokens for ten seconds
        await client.patch(EphemeralVolumeClaim, key, MergePatch({"spec": {"size": "2G"}}))
        await asyncio.sleep(2)
        assert (await client.get(EphemeralVolumeClaim, key)).status.size == "1G"
        await renew(client, account, file)
        await is_bound_at(client, key, "2G", timeout=BACK)
