"""Heartbeats of idle nodes as clients see them, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from itertools import pairwise
from random import Random

import msgspec
import pytest
import pytest_asyncio

from pyctrl import _clock
from pyctrl.api import Key
from pyctrl.apiserver import ApiServer, WebhookRequest, WebhookResponse
from pyctrl.client import Client
from pyctrl.cluster import Cluster
from pyctrl.kinds.admissionregistration.v1 import ValidatingWebhookConfiguration
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.kinds.core.v1 import Node
from tests.unit.cluster._nodes import ONE, taints, tell

LEASE = Key("kube-node-lease", "node-1")
WEBHOOK = {
    "metadata": {"name": "leases"},
    "webhooks": [
        {
            "name": "leases.example.com",
            "clientConfig": {"url": "https://hook.example.com/"},
            "rules": [
                {
                    "apiGroups": ["coordination.k8s.io"],
                    "apiVersions": ["v1"],
                    "operations": ["*"],
                    "resources": ["leases"],
                }
            ],
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
        }
    ],
}


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """A new cluster with one node."""
    async with Cluster(random=Random(1)) as cluster:
        yield cluster


@pytest_asyncio.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    """A client of the cluster."""
    async with cluster.client() as client:
        yield client


async def renewed(client: Client) -> datetime:
    """Return the time in the lease of the node."""
    lease = await client.get(Lease, LEASE)
    assert lease.spec is not None
    assert lease.spec.renew_time is not None
    return lease.spec.renew_time


@pytest.mark.parametrize("seconds", [3, 15, 1_000, 40_000])
async def test_a_lease_is_renewed_when_it_is_read(client: Client, seconds: int) -> None:
    """After any time without a request, the lease that is read is at most as old as the interval of renewals."""
    await asyncio.sleep(seconds)
    age = _clock.now() - await renewed(client)
    assert timedelta(0) <= age <= timedelta(seconds=10.5)


async def test_an_idle_cluster_hardly_writes(cluster: Cluster) -> None:
    """In ten hours without requests there are fewer writes than in five minutes of heartbeats."""
    await asyncio.sleep(60)
    version = cluster.server.storage.version
    await asyncio.sleep(36_000)
    assert cluster.server.storage.version - version < 30
    async with cluster.client() as client:
        node = await client.get(Node, ONE)
        [ready] = [each for each in node.status.conditions if each.type == "Ready"]
        assert ready.status == "True"
        assert ready.last_heartbeat_time is not None
        assert _clock.now() - ready.last_heartbeat_time <= timedelta(minutes=5, seconds=11)
        assert node.spec.taints == []


async def test_a_watch_sees_every_renewal(client: Client) -> None:
    """A client that watches leases gets an event every ten seconds, with the time of the renewal."""
    await asyncio.sleep(1_000)
    seen: list[tuple[float, datetime]] = []

    async def watch() -> None:
        async for event in client.watch(Lease, namespace=LEASE.namespace, bookmarks=False):
            assert event.object.spec is not None
            assert event.object.spec.renew_time is not None
            seen.append((asyncio.get_running_loop().time(), event.object.spec.renew_time))

    task = asyncio.create_task(watch())
    await asyncio.sleep(100)
    task.cancel()
    renewals = seen[1:]  # without the state at first
    assert 9 <= len(renewals) <= 11
    for before, after in pairwise(renewals):
        assert 9.5 <= after[0] - before[0] <= 10.5
        assert 9.5 <= (after[1] - before[1]).total_seconds() <= 10.5


async def test_a_deleted_lease_is_created_again(client: Client) -> None:
    """The node creates its lease again at the next renewal."""
    await asyncio.sleep(5)
    before = await client.get(Lease, LEASE)
    await client.delete(Lease, LEASE)
    await asyncio.sleep(11)
    after = await client.get(Lease, LEASE)
    assert after.metadata.uid != before.metadata.uid
    assert [each.name for each in after.metadata.owner_references] == ["node-1"]


async def test_a_lost_node_is_detected_after_idle_hours(client: Client) -> None:
    """A node that fails after hours without a request becomes unknown after 50 seconds, and recovers."""
    await asyncio.sleep(10_000)
    await tell(client, "lost")
    await asyncio.sleep(45)
    assert taints(await client.get(Node, ONE)) == set()
    last = await renewed(client)
    await asyncio.sleep(10)
    assert ("unreachable", "NoSchedule") in taints(await client.get(Node, ONE))
    assert await renewed(client) == last
    await tell(client, None)
    await asyncio.sleep(10)
    assert taints(await client.get(Node, ONE)) == set()
    assert await renewed(client) > last


async def test_a_webhook_for_leases_is_asked() -> None:
    """With a webhook for leases that takes time, renewals still arrive, and the webhook allows each."""
    asked: list[str] = []

    async def allow(request: WebhookRequest) -> WebhookResponse:
        review = msgspec.json.decode(request.body)
        asked.append(review["request"]["operation"])
        await asyncio.sleep(0.1)
        review["response"] = {"uid": review["request"]["uid"], "allowed": True}
        return WebhookResponse(status=200, body=msgspec.json.encode(review))

    server = ApiServer(random=Random(1), webhooks=allow)
    async with Cluster(random=Random(1), server=server) as cluster, cluster.client() as client:
        await client.create(ValidatingWebhookConfiguration.from_wire(WEBHOOK))
        await asyncio.sleep(1_000)
        await renewed(client)
        await asyncio.sleep(1)
        assert _clock.now() - await renewed(client) <= timedelta(seconds=12)
        assert asked


async def test_a_deleted_node_has_no_heartbeat(client: Client, cluster: Cluster) -> None:
    """The heartbeat of a node ends with its deletion, and the lease is collected."""
    await client.delete(Node, ONE)
    await asyncio.sleep(100)
    assert cluster.server.storage.heartbeats.find("node-1") is None
    assert await client.find(Lease, LEASE) is None
