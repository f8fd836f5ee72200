"""Leader election between replicas of an operator: on the embedded server, real binaries and existing clusters."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml

from pyctrl.api import Access, Key, ObjectMeta
from pyctrl.client import Client, MergePatch, wait_for
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.coordination.v1 import Lease, LeaseSpec
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import LeaderElection, Manager
from pyctrl.testing import ClusterUnderTest, UnderRole
from tests.integration._operators import has_nodes, install, podset
from tests.integration._processes import example_process, kubeconfig_for

#: For tests that may wait in real time: tries often, but is not lost when a busy machine stops a process for seconds.
QUICK = LeaderElection(name="op", retry_period=timedelta(milliseconds=500))


class Marker(Reconciler[ConfigMap]):
    """Writes its name into each object."""

    def __init__(self, name: str) -> None:
        self.name = name

    async def reconcile(self, request: Request) -> None:
        found = await self.client.find(ConfigMap, request.key)
        if found is not None and found.metadata.name.startswith("marked"):
            await self.client.patch(found, MergePatch({"data": {"by": self.name}}))


def quick(namespace: str, identity: str) -> LeaderElection:
    return replace(QUICK, namespace=namespace, identity=identity)


def replica(cluster: ClusterUnderTest, namespace: str, identity: str) -> Manager:
    return Manager(cluster.config, namespaces=[namespace], leader_election=quick(namespace, identity))


def choose_namespace(kubeconfig: Path, namespace: str) -> None:
    """Set the namespace of the kubeconfig, which then contains this test's Lease only."""
    document = yaml.safe_load(kubeconfig.read_text())
    for entry in document["contexts"]:
        entry["context"]["namespace"] = namespace
    kubeconfig.write_text(yaml.safe_dump(document))


async def marked_by(client: Client, key: Key, name: str) -> None:
    """Wait until an object has a replica's mark."""
    await wait_for(client, ConfigMap, key, lambda found: found.data.get("by") == name)


@pytest.mark.virtual_time
async def test_one_works_and_the_other_takes_over(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """Of two managers with one Lease the second takes over as soon as the first has ended."""
    made = [ConfigMap(metadata=ObjectMeta(name=f"marked-{n}", namespace=namespace)) for n in range(2)]
    async with replica(cluster, namespace, "one") as one, replica(cluster, namespace, "two") as two:
        for manager, name in ((one, "one"), (two, "two")):
            Builder(manager).reconciles(ConfigMap).build(Marker(name))
        async with asyncio.TaskGroup() as group:
            first = group.create_task(one.run(handle_signals=False))
            await one.elected.wait()
            group.create_task(two.run(handle_signals=False))
            await two.started.wait()
            await client.create(made[0])
            await marked_by(client, made[0].key, "one")
            held = await client.get(Lease, Key(namespace, "op"))
            assert (held.spec.holder_identity, held.spec.lease_duration_seconds) == ("one", 15)

            one.ask_to_stop()
            await first
            released = await client.get(Lease, Key(namespace, "op"))
            assert (released.spec.holder_identity or "") in ("", "two")  # a fast replica has done so already
            await two.elected.wait()
            held = await client.get(Lease, Key(namespace, "op"))
            assert (held.spec.holder_identity, held.spec.lease_transitions) == ("two", 1)
            await client.create(made[1])
            await marked_by(client, made[1].key, "two")
            two.ask_to_stop()


@pytest.mark.virtual_time
async def test_a_holder_that_is_no_more_is_left_its_time(
    cluster: ClusterUnderTest, client: Client, namespace: str
) -> None:
    """A Lease in Go's format that is no longer renewed is taken after its duration, not before."""
    now = datetime.now(UTC)
    theirs = LeaseSpec(
        holder_identity="manager-5d8_6a1f7f3c-0a3f-4d53-9f29-6f3a2d9f1d60",
        lease_duration_seconds=4,
        acquire_time=now,
        renew_time=now,
        lease_transitions=2,
    )
    await client.create(Lease(metadata=ObjectMeta(name="op", namespace=namespace), spec=theirs))
    loop = asyncio.get_running_loop()
    async with replica(cluster, namespace, "me") as manager, asyncio.TaskGroup() as group:
        begun = loop.time()
        group.create_task(manager.run(handle_signals=False))
        await manager.elected.wait()
        assert loop.time() - begun >= 4
        held = await client.get(Lease, Key(namespace, "op"))
        assert (held.spec.holder_identity, held.spec.lease_transitions) == ("me", 3)
        manager.ask_to_stop()


@pytest.mark.virtual_time
async def test_a_lease_that_was_deleted_is_made_anew(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """The leader creates a deleted Lease again, and stays leader."""
    async with replica(cluster, namespace, "one") as manager, manager.running():
        before = await client.get(Lease, Key(namespace, "op"))
        await client.delete(before)
        after = await wait_for(client, Lease, before.key, lambda found: found.metadata.uid != before.metadata.uid)
        assert after.spec.holder_identity == "one"
        assert manager.elected.is_set()


@pytest.mark.virtual_time
async def test_the_rights_that_electing_takes_are_enough(client: Client, namespace: str, under_role: UnderRole) -> None:
    """With exactly its generated role a manager acquires, renews and releases the Lease."""

    def is_renewed(lease: Lease) -> bool:
        return lease.spec.renew_time != lease.spec.acquire_time

    async with under_role(lambda _: None, leader_election=quick(namespace, "one"), namespaces=[namespace]) as operator:
        await operator.manager.elected.wait()
        await wait_for(client, Lease, Key(namespace, "op"), is_renewed)
        assert {access.verb for access in operator.granted.accesses() if access.resource == "leases"} == {
            *("create", "get", "update")
        }
    assert operator.compare().lines() == []


@pytest.mark.virtual_time
@pytest.mark.parametrize("verb", ["create", "get", "update"])
async def test_without_one_of_these_rights_nobody_leads_for_long(
    namespace: str, under_role: UnderRole, verb: str
) -> None:
    """Without any one permission for the Lease, the server refuses that very request."""
    name = "" if verb == "create" else "op"
    lacking = Access(verb=verb, group="coordination.k8s.io", resource="leases", namespace=namespace, name=name)
    election = quick(namespace, "one")
    async with under_role(
        lambda _: None, without=[lacking], leader_election=election, namespaces=[namespace]
    ) as operator:
        refused = await operator.accesses.wait_until_refused()
        assert (verb, "leases") in {(asked.access.verb, asked.access.resource) for asked in refused}


@pytest.mark.slow("starts processes, which import for a second each, and waits for a lease of 15 seconds")
@pytest.mark.timeout(150)
async def test_a_process_that_is_killed(
    cluster: ClusterUnderTest, client: Client, namespace: str, tmp_path: Path
) -> None:
    """After the leader is killed, the standby waits for the lease to expire, then does the pending work."""
    await install(client)
    async with kubeconfig_for(cluster, tmp_path) as kubeconfig:
        choose_namespace(kubeconfig, namespace)
        arguments = ("podset", "--verbose", "--leader-elect", "--kubeconfig", str(kubeconfig))
        async with example_process(*arguments) as first:
            await first.says("Starting workers")
            await client.create(podset(namespace, 1, "before"))
            await has_nodes(client, Key(namespace, "before"), 1)
            async with example_process(*arguments) as second:
                await second.says("Lease is held by another replica")
                assert await first.end(signal.SIGKILL) == -signal.SIGKILL
                await client.create(podset(namespace, 1, "after"))
                await has_nodes(client, Key(namespace, "after"), 1, timeout=60)
                assert await client.find(Deployment, Key(namespace, "before")) is not None
                assert await second.end(signal.SIGTERM) == 0
                assert any("Released lease" in line for line in second.log)
