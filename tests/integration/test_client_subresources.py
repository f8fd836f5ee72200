"""Subresources through the client, on any cluster."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

import pytest

from pyctrl import _clock
from pyctrl.api import Key, ObjectMeta
from pyctrl.client import (
    BearerToken,
    Client,
    JsonPatch,
    MergePatch,
    Preconditions,
    bind,
    create_token,
    dry_run,
    evict,
    get_scale,
    merge_from,
    set_scale,
    wait_for,
    wait_until_gone,
)
from pyctrl.errors import Conflict, Invalid, MethodNotAllowed, NotFound, UnknownKind
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.authentication.v1 import SelfSubjectReview
from pyctrl.kinds.autoscaling.v1 import Scale
from pyctrl.kinds.core.v1 import ConfigMap, Pod, ServiceAccount
from pyctrl.testing import ClusterUnderTest
from tests.integration._objects import config_map, deployment, pod

pytestmark = pytest.mark.virtual_time  # where the cluster is embedded

NODE = "pretend"  # the node that a simulated kubelet, if any, also binds pods to


# --- status ---------------------------------------------------------------------------------------------------------


async def test_a_status_is_validated(client: Client, namespace: str) -> None:
    """A status with counters that contradict each other, or with a condition of a wrong type, is refused."""
    made = await client.create(deployment(namespace, 0))
    with pytest.raises(
        Invalid, match="status.readyReplicas: Invalid value: 20: cannot be greater than status.replicas"
    ):
        await client.status.patch(Deployment, made.key, MergePatch({"status": {"replicas": 1, "readyReplicas": 20}}))
    with pytest.raises(Invalid, match="must be greater than or equal to 0"):
        await client.status.patch(Deployment, made.key, MergePatch({"status": {"updatedReplicas": -1}}))
    running = await client.create(pod(namespace))
    with pytest.raises(Invalid, match="field is immutable"):
        await client.status.patch(Pod, running.key, MergePatch({"status": {"qosClass": "Guaranteed"}}))
    with pytest.raises(Invalid, match="status.podIPs"):
        await client.status.patch(Pod, running.key, MergePatch({"status": {"podIPs": [{"ip": "nowhere"}]}}))


async def test_the_status_is_written_alone(client: Client, namespace: str) -> None:
    """A status write changes only the status; an object write changes everything else."""
    made = await client.create(pod(namespace))
    patch = MergePatch({"metadata": {"labels": {"seen": "no"}}, "status": {"message": "hello"}})

    through_status = await client.status.patch(Pod, made.key, patch)
    with pytest.warns(UserWarning, match="does not write status.message"):
        through_object = await client.patch(
            Pod, made.key, MergePatch({"metadata": {"labels": {"seen": "yes"}}, "status": {"message": "bye"}})
        )

    assert through_status.status.message == "hello"
    assert through_object.status.message == "hello"
    assert through_object.metadata.labels == {"seen": "yes"}
    assert (await client.status.get(Pod, made.key)).metadata.uid == made.metadata.uid


async def test_the_status_is_replaced(client: Client, namespace: str) -> None:
    """A status update replaces the status and keeps the spec; an old version is a Conflict."""
    made = await client.create(deployment(namespace, 0))
    old = await client.get(Deployment, made.key)
    await client.patch(made, MergePatch({"metadata": {"labels": {"changed": "yes"}}}))
    with pytest.raises(Conflict):
        await client.status.update(old)
    wanted = deployment(namespace, 9)  # without a version: its controller may write concurrently
    wanted.status.observed_generation = 5

    answer = await client.status.update(wanted)

    assert (answer.spec.replicas, answer.status.observed_generation) == (0, 5)


async def test_a_sub_resource_is_written_as_an_object_is(client: Client, namespace: str) -> None:
    """A subresource supports get, update, patch and apply with a field owner, by object or by kind and key."""
    made = await client.create(deployment(namespace, 0))
    status = client.subresource("status")

    found = await status.get(made, answer=Deployment)
    patch = merge_from(found)
    found.status.observed_generation = 4
    patched = await status.patch(found, patch, answer=Deployment, field_owner="patcher")
    patched.status.observed_generation = 6
    patched.metadata.resource_version = ""  # its controller may write concurrently
    updated = await status.update(patched, answer=Deployment, field_owner="updater")
    stated = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": made.key.name, "namespace": namespace},
        "status": {"collisionCount": 1},
    }
    applied = await status.apply(stated, answer=Deployment, field_owner="applier", force=True)

    assert (patched.spec.replicas, updated.status.observed_generation) == (0, 6)
    assert applied.status.collision_count == 1
    for answer, owner in ((patched, "patcher"), (updated, "updater"), (applied, "applier")):
        assert owner in {entry["manager"] for entry in answer.metadata.managed_fields or []}


# --- scale ----------------------------------------------------------------------------------------------------------


async def test_scale(client: Client, namespace: str) -> None:
    """The scale has the desired replicas and the selector; setting it changes nothing else."""
    made = await client.create(deployment(namespace, 0))

    before = await get_scale(client, Deployment, made.key)
    after = await set_scale(client, Deployment, made.key, 3)

    assert (before.replicas, str(before.selector)) == (0, "app=a")
    assert after.replicas == 3
    found = await client.get(Deployment, made.key)
    assert (found.spec.replicas, found.metadata.generation) == (3, 2)


async def test_scale_by_its_name(client: Client, namespace: str) -> None:
    """Any subresource is read, replaced and patched by name, and returns the requested class."""
    key = (await client.create(deployment(namespace, 0))).key
    scale = client.subresource("scale")

    read = await scale.get(Deployment, key, answer=Scale)
    read.spec.replicas = 2
    read.metadata.resource_version = ""  # the Deployment's controller may write concurrently
    replaced = await scale.update(Deployment, key, read, answer=Scale)
    patched = await scale.patch(Deployment, key, MergePatch({"spec": {"replicas": 4}}), answer=Scale)
    untyped = await scale.patch(
        Deployment, key, JsonPatch([{"op": "replace", "path": "/spec/replicas", "value": 5}]), dry_run=True
    )

    assert (replaced.spec.replicas, patched.spec.replicas, untyped["spec"]["replicas"]) == (2, 4, 5)
    assert (await scale.get(Deployment.gvk, key))["spec"]["replicas"] == 4


async def test_an_old_scale(client: Client, namespace: str) -> None:
    """Replacing a scale with an old version of its object is a Conflict."""
    key = (await client.create(deployment(namespace, 0))).key
    old = await client.subresource("scale").get(Deployment, key, answer=Scale)
    await set_scale(client, Deployment, key, 1)

    with pytest.raises(Conflict):
        await client.subresource("scale").update(Deployment, key, old)


# --- pods -----------------------------------------------------------------------------------------------------------


async def test_a_pod_is_bound_once(client: Client, namespace: str) -> None:
    """A binding sets a pod's node; a second one is a Conflict."""
    key = (await client.create(pod(namespace))).key

    with suppress(Conflict):  # a scheduler, simulated or real, was faster
        await bind(client, key, NODE)
    bound = await wait_for(client, Pod, key, lambda found: bool(found.spec.node_name))
    with pytest.raises(Conflict, match="already assigned"):
        await bind(client, key, "another")

    assert (await client.get(Pod, key)).spec.node_name == bound.spec.node_name


async def test_eviction(client: Client, namespace: str) -> None:
    """Eviction deletes a pod without a budget; a dry run does not, and a changed pod is a Conflict."""
    made = await client.create(pod(namespace))
    older = Preconditions(resource_version="1")  # the server retries for 10 s when only the uid differs

    await evict(client, made.key, dry_run=True)
    with pytest.raises(Conflict):
        await evict(client, made.key, preconditions=older)
    assert (await client.get(Pod, made.key)).metadata.deletion_timestamp is None
    await evict(client, made.key, grace_period_seconds=0)
    await wait_until_gone(client, Pod, made.key)
    with pytest.raises(NotFound):
        await evict(client, made.key)


# --- tokens ---------------------------------------------------------------------------------------------------------


async def test_a_token_is_a_login(cluster: ClusterUnderTest, client: Client, namespace: str) -> None:
    """A token for a service account has the requested lifetime, and authenticates as that account."""
    await client.create(ServiceAccount(metadata=ObjectMeta(name="robot", namespace=namespace)))

    token = await create_token(client, Key(namespace, "robot"), expiration_seconds=3600)
    login = replace(cluster.config, credentials=BearerToken(token.token))
    async with Client.connect(login) as robot:
        review = await robot.create(SelfSubjectReview())

    assert review.status.user_info.username == f"system:serviceaccount:{namespace}:robot"
    assert abs(token.expires_at - _clock.now() - timedelta(hours=1)) < timedelta(minutes=1)
    assert token.token not in repr(token)
    with pytest.raises(NotFound):
        await create_token(client, Key(namespace, "nobody"))


# --- mistakes -------------------------------------------------------------------------------------------------------


async def test_what_has_no_such_subresource(client: Client, namespace: str) -> None:
    """A missing subresource raises a clear error, not a NotFound for the object."""
    made = await client.create(config_map(namespace))

    with pytest.raises(UnknownKind, match="ConfigMap, sub-resource scale"):
        await get_scale(client, ConfigMap, made.key)
    with pytest.raises(UnknownKind, match="ConfigMap, sub-resource status"):
        await client.status.patch(made, MergePatch({"status": {}}))
    with pytest.raises(MethodNotAllowed):
        await client.subresource("eviction").get(Pod, Key(namespace, "a"))


async def test_dry_run_of_subresources(client: Client, namespace: str) -> None:
    """A dry-run client does not change anything through subresources."""
    made = await client.create(deployment(namespace, 0))

    tried = await set_scale(dry_run(client), Deployment, made.key, 3)

    assert tried.replicas == 3
    assert (await get_scale(client, Deployment, made.key)).replicas == 0
