"""Own writes that need no reconcile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

import msgspec
import pytest

from pyctrl.api import ObjectMeta
from pyctrl.cache import Record
from pyctrl.client import MergePatch, wait_for
from pyctrl.cluster import Cluster
from pyctrl.cluster._controllers.deployment.controller import add_deployments
from pyctrl.cluster._controllers.replicaset import add_replicasets
from pyctrl.cluster._own_writes import REMEMBERED, OwnWrites
from pyctrl.cluster._scheduler.scheduler import add_scheduler
from pyctrl.controller import Controller, ManagedCluster, ObjectChange
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Pod
from pyctrl.manager import Manager
from tests.unit.cluster._deployments import WEB, deployment
from tests.unit.cluster._pods import pod
from tests.unit.cluster._scheduling import refusal
from tests.unit.cluster._workloads import until_pods


def written(version: int) -> Pod:
    """Return a pod as the server answers a write."""
    return Pod(metadata=ObjectMeta(name="p", namespace="default", resource_version=str(version)))


def change(version: int, *, is_deletion: bool = False) -> ObjectChange[Pod]:
    """Return the event of a version of a pod."""
    metadata = {"name": "p", "namespace": "default", "resourceVersion": str(version)}
    record = Record(msgspec.json.encode({"metadata": metadata}), "p", "default", "u", version)
    return ObjectChange(Pod, record if is_deletion else None, None if is_deletion else record)


def test_the_event_of_an_own_write_triggers_nothing() -> None:
    """Only the event of the version that was recorded is rejected, once."""
    own_writes = OwnWrites()
    own_writes.record(written(5))
    assert own_writes(change(4))
    assert not own_writes(change(5))
    assert own_writes(change(5))


def test_a_deletion_always_triggers() -> None:
    """The deletion of an object is never an own write, although its last state may be one."""
    own_writes = OwnWrites()
    own_writes.record(written(5))
    assert own_writes(change(5, is_deletion=True))


def test_writes_without_events_are_forgotten() -> None:
    """Writes whose events never come do not fill the memory: the oldest ones are forgotten."""
    own_writes = OwnWrites()
    for version in range(REMEMBERED + 1):
        own_writes.record(written(version))
    assert own_writes(change(0))
    assert not own_writes(change(1))


@pytest.mark.parametrize(
    ("add", "most"), [(add_replicasets, 1), (add_deployments, 2)], ids=["replicaset", "deployment"]
)
async def test_a_controller_does_not_reconcile_its_own_writes(
    add: Callable[[ManagedCluster], Controller], most: int
) -> None:
    """A new Deployment takes one reconcile of its ReplicaSet, and two of its own: the ReplicaSet's status changes."""
    others = {add_replicasets, add_deployments} - {add}
    async with (
        Cluster(random=Random(1), controllers=["serviceaccount-controller"], kubelet=False) as cluster,
        Manager(cluster.config, random=Random(2)) as manager,
    ):
        controller = add(manager)
        for other in others:
            other(manager)
        async with manager.running():
            await manager.live_client.create(deployment(3))
            await until_pods(manager.live_client, lambda pods: len(pods) == 3)
            await wait_for(manager.live_client, Deployment, WEB, lambda found: found.status.replicas == 3)
            reconciles = controller.statistics().reconciles
    assert reconciles.success + reconciles.requeue_after == most


async def test_the_scheduler_tries_once_to_place_a_pod_that_fits_nowhere() -> None:
    """The report that a pod does not fit is no reason to try again; another change of the pod is one."""
    async with (
        Cluster(random=Random(1), controllers=["serviceaccount-controller"], kubelet=False) as cluster,
        Manager(cluster.config, random=Random(2)) as manager,
    ):
        scheduler = add_scheduler(manager)
        async with manager.running():
            created = await manager.live_client.create(pod())
            await asyncio.sleep(1)
            assert scheduler.statistics().reconciles.success == 1
            assert refusal(await manager.live_client.get(Pod, created.key)) == "no nodes available to schedule pods"
            await manager.live_client.patch(created, MergePatch({"metadata": {"labels": {"more": "1"}}}))
            await asyncio.sleep(1)
            assert scheduler.statistics().reconciles.success == 2
