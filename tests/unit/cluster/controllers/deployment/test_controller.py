"""Deployments in virtual time; the tests patch pod status in place of a kubelet.

The expected results were verified against a kube-controller-manager 1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest_asyncio

from pyctrl.api import ObjectMeta, controller_of
from pyctrl.cache import Cache, CachedClient
from pyctrl.client import Client, MergePatch, wait_for, wait_for_list
from pyctrl.cluster import Cluster
from pyctrl.cluster._controllers.deployment.controller import DeploymentReconciler
from pyctrl.cluster._controllers.deployment.rolling import Rollout
from pyctrl.cluster._controllers.pod_template_hash import template_hash
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec, DeploymentStrategy, ReplicaSet, ReplicaSetSpec
from pyctrl.kinds.core.v1 import Pod
from pyctrl.kinds.meta.v1 import LabelSelector
from tests.unit.cluster._workloads import (
    LABELS,
    NAMESPACE,
    image_of,
    key,
    run_all,
    template,
    until_pods,
)

WEB = key("web")


REVISION = "deployment.kubernetes.io/revision"


async def create(client: Client, replicas: int, **spec: Any) -> None:
    """Create the Deployment."""
    made = DeploymentSpec(replicas=replicas, selector=LabelSelector(match_labels=LABELS), template=template(), **spec)
    await client.create(Deployment(metadata=ObjectMeta(name=WEB.name, namespace=NAMESPACE), spec=made))


async def change(client: Client, **spec: Any) -> None:
    """Patch the Deployment's spec."""
    await client.patch(Deployment, WEB, MergePatch({"spec": spec}))


async def progress(client: Client, reason: str) -> Deployment:
    """Wait until the condition Progressing has a reason."""

    def is_told(found: Deployment) -> bool:
        return any(c.type == "Progressing" and c.reason == reason for c in found.status.conditions)

    return await wait_for(client, Deployment, WEB, is_told, timeout=900)


async def rolled_out(client: Client) -> Deployment:
    """Run pods until the rollout is complete."""
    for _ in range(30):
        await asyncio.sleep(1)
        await run_all(client)
        found = await client.get(Deployment, WEB)
        reasons = {condition.reason for condition in found.status.conditions}
        is_seen = found.status.observed_generation == found.metadata.generation
        if is_seen and "NewReplicaSetAvailable" in reasons and found.status.updated_replicas == found.status.replicas:
            break
    return await progress(client, "NewReplicaSetAvailable")


async def test_pause_holds_a_rollout_and_resume_goes_on(client: Client) -> None:
    """A paused Deployment creates no pods for a new template; the condition shows pause and resume."""
    await create(client, 2)
    await rolled_out(client)
    await change(client, paused=True, template=template("other").to_wire())
    await progress(client, "DeploymentPaused")
    await asyncio.sleep(60)
    assert len(await client.list(ReplicaSet)) == 1
    await change(client, paused=False)
    done = await rolled_out(client)
    await until_pods(client, lambda pods: [image_of(pod) for pod in pods] == ["other", "other"])
    assert done.metadata.annotations[REVISION] == "2"


async def test_old_sets_are_cleaned_up_after_the_last_write_of_the_status(client: Client) -> None:
    """A rollout without history leaves one ReplicaSet, although only its own status tells that it is complete."""
    await create(client, 2, revision_history_limit=0)
    await rolled_out(client)
    await change(client, template={"spec": {"containers": [{"name": "main", "image": "busybox:2"}]}})
    await rolled_out(client)
    await wait_for_list(client, ReplicaSet, lambda found: len(found) == 1, timeout=5)


async def test_recreate_has_no_two_templates_at_once(client: Client) -> None:
    """New pods are created only after the old ones have been removed, not while they terminate."""
    await create(client, 2, strategy=DeploymentStrategy(type="Recreate"))
    await rolled_out(client)
    (pod, _) = await until_pods(client, lambda pods: len(pods) == 2)
    await client.patch(Pod, pod.key, MergePatch({"metadata": {"finalizers": ["x.io/f"]}}))
    await change(client, template=template("other").to_wire())
    await until_pods(client, lambda pods: len(pods) == 1)
    await asyncio.sleep(60)
    await until_pods(client, lambda pods: [image_of(pod) for pod in pods] == ["busybox"])
    await client.patch(Pod, pod.key, MergePatch({"metadata": {"finalizers": None}}))
    await until_pods(client, lambda pods: [image_of(pod) for pod in pods] == ["other", "other"])


async def test_an_old_template_remembers_its_revisions(client: Client) -> None:
    """A rollback gives the ReplicaSet a new revision and records the earlier one."""
    await create(client, 1)
    for image in ("busybox", "other", "busybox"):
        await change(client, template=template(image).to_wire())
        await rolled_out(client)
    sets = {found.metadata.annotations[REVISION]: found for found in await client.list(ReplicaSet)}
    assert sorted(sets) == ["2", "3"]
    assert sets["3"].metadata.annotations["deployment.kubernetes.io/revision-history"] == "1"


async def test_sets_without_a_controller_are_adopted(client: Client) -> None:
    """A new Deployment adopts orphaned ReplicaSets and pods unchanged."""
    await create(client, 2)
    await rolled_out(client)
    (left,) = await client.list(ReplicaSet)
    await client.delete(Deployment, WEB, propagation="Orphan")
    await wait_for(client, ReplicaSet, left.key, lambda found: not found.metadata.owner_references)
    await create(client, 2)
    await wait_for(client, ReplicaSet, left.key, lambda found: controller_of(found) is not None)
    await rolled_out(client)
    assert [found.metadata.uid for found in await client.list(ReplicaSet)] == [left.metadata.uid]


@pytest_asyncio.fixture
async def quiet() -> AsyncIterator[Client]:
    """A client of a new cluster without controllers."""
    async with Cluster(random=Random(1), controllers=False, kubelet=False) as cluster, cluster.client() as client:
        yield client


async def created(client: Client) -> ReplicaSet | None:
    """Create the ReplicaSet of the Deployment as a controller whose cache has no ReplicaSets; None if it could not."""
    reconciler = DeploymentReconciler(LegacyEventRecorder(client, "deployment-controller"))
    reconciler.client = CachedClient(Cache(client), client)
    rollout = Rollout(await client.get(Deployment, WEB), None, [])
    await reconciler._create(rollout)
    return rollout.new


async def test_a_name_that_is_taken_makes_another_name(quiet: Client) -> None:
    """If another ReplicaSet has the name of the new one, the collision is counted, and the name differs."""
    await create(quiet, 1)
    taken = f"web-{template_hash((await quiet.get(Deployment, WEB)).spec.template, 0)}"
    other = template()
    other.metadata.labels = {"app": "other"}
    spec = ReplicaSetSpec(selector=LabelSelector(match_labels=other.metadata.labels), template=other)
    await quiet.create(ReplicaSet(metadata=ObjectMeta(name=taken, namespace=NAMESPACE), spec=spec))

    assert await created(quiet) is None
    assert (await quiet.get(Deployment, WEB)).status.collision_count == 1
    made = await created(quiet)
    assert made is not None
    assert made.metadata.name != taken


async def test_a_set_whose_creation_was_not_answered_is_used(quiet: Client) -> None:
    """A ReplicaSet that exists although the cache does not have it yet is no collision."""
    await create(quiet, 1)
    first, second = await created(quiet), await created(quiet)
    assert first is not None
    assert second is not None
    assert first.metadata.uid == second.metadata.uid
    assert (await quiet.get(Deployment, WEB)).status.collision_count is None
