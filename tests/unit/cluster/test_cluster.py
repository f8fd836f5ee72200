"""The controllers of the embedded cluster, at work in virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from pyctrl.api import (
    Key,
    ObjectMeta,
    controller_of,
)
from pyctrl.client import Client, wait_for, wait_for_list
from pyctrl.cluster import Cluster
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec, ReplicaSet, ReplicaSetSpec
from pyctrl.kinds.core.v1 import (
    Container,
    Pod,
    PodSpec,
    PodTemplateSpec,
)
from pyctrl.kinds.meta.v1 import LabelSelector

WEB = Key("default", "web")


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a new cluster."""
    async with Cluster(random=Random(1)) as cluster, cluster.client() as client:
        yield client


def template(image: str = "busybox") -> PodTemplateSpec:
    """Make a template of pods labelled web."""
    spec = PodSpec(containers=[Container(name="c", image=image)])
    return PodTemplateSpec(metadata=ObjectMeta(labels={"app": "web"}), spec=spec)


def deployment(replicas: int, *, history: int | None = None) -> Deployment:
    """Make a Deployment."""
    selector = LabelSelector(match_labels={"app": "web"})
    return Deployment(
        metadata=ObjectMeta(name=WEB.name, namespace=WEB.namespace, annotations={"note": "n"}),
        spec=DeploymentSpec(replicas=replicas, selector=selector, template=template(), revision_history_limit=history),
    )


async def rolled_out(client: Client, image: str, replicas: int) -> Deployment:
    """Wait until all pods run an image and the status says so."""

    def is_done(found: Deployment) -> bool:
        return (
            found.spec.template.spec.containers[0].image == image
            and found.status.observed_generation == found.metadata.generation
            and found.status.updated_replicas == found.status.available_replicas == found.status.replicas == replicas
        )

    return await wait_for(client, Deployment, WEB, is_done)


async def test_a_deployment_runs_its_pods(client: Client) -> None:
    """A ReplicaSet of the template's hash, owned pods that run, and a status that counts them."""
    await client.create(deployment(3))
    done = await rolled_out(client, "busybox", 3)
    assert done.metadata.annotations == {"note": "n", "deployment.kubernetes.io/revision": "1"}
    conditions = {condition.type: (condition.status, condition.reason) for condition in done.status.conditions}
    assert conditions == {
        "Available": ("True", "MinimumReplicasAvailable"),
        "Progressing": ("True", "NewReplicaSetAvailable"),
    }
    (replica_set,) = await client.list(ReplicaSet)
    assert replica_set.metadata.annotations["note"] == "n"
    pods = await client.list(Pod, labels={"app": "web"})
    assert {(ref.name if (ref := controller_of(pod)) else None) for pod in pods} == {replica_set.metadata.name}
    assert {pod.status.phase for pod in pods} == {"Running"}


async def test_pods_that_go_are_replaced_and_orphans_adopted(client: Client) -> None:
    """A ReplicaSet keeps its number, counting pods that nobody owns and that fit it."""
    pod = Pod(metadata=ObjectMeta(name="orphan", namespace="default", labels={"app": "web"}), spec=template().spec)
    await client.create(pod)
    spec = ReplicaSetSpec(replicas=2, selector=LabelSelector(match_labels={"app": "web"}), template=template())
    await client.create(ReplicaSet(metadata=ObjectMeta(name="web", namespace="default"), spec=spec))
    two = await wait_for_list(
        client, Pod, lambda pods: len(pods) == 2 and all(p.status.phase == "Running" for p in pods)
    )
    assert "orphan" in {found.metadata.name for found in two}
    await client.delete(two[0])
    await wait_for_list(
        client, Pod, lambda pods: len(pods) == 2 and two[0].metadata.uid not in {p.metadata.uid for p in pods}
    )


async def test_a_seed_repeats_everything() -> None:
    """Two clusters with the same seed give the same names and uids."""

    async def life() -> list[tuple[str, str]]:
        async with Cluster(random=Random(7)) as cluster, cluster.client() as client:
            await client.create(deployment(3))
            await rolled_out(client, "busybox", 3)
            return [(pod.metadata.name, pod.metadata.uid) for pod in await client.list(Pod)]

    assert await life() == await life()
