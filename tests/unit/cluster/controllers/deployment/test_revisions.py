"""Revisions of Deployments with a running kubelet, in virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from pyctrl.api import (
    Key,
    ObjectMeta,
)
from pyctrl.client import Client, MergePatch, wait_for, wait_for_list
from pyctrl.cluster import Cluster
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec, ReplicaSet
from pyctrl.kinds.core.v1 import (
    Container,
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


async def test_another_image_rolls_out(client: Client) -> None:
    """A second ReplicaSet takes over, the first stays at zero for the history, and going back finds it again."""
    await client.create(deployment(4))
    await rolled_out(client, "busybox", 4)
    await client.patch(Deployment, WEB, MergePatch({"spec": {"template": template("other").to_wire()}}))
    done = await rolled_out(client, "other", 4)
    assert done.metadata.annotations["deployment.kubernetes.io/revision"] == "2"
    old, new = sorted(await client.list(ReplicaSet), key=lambda found: found.spec.replicas or 0)
    assert (old.spec.replicas, new.spec.replicas) == (0, 4)
    await client.patch(Deployment, WEB, MergePatch({"spec": {"template": template("busybox").to_wire()}}))
    done = await rolled_out(client, "busybox", 4)
    assert done.metadata.annotations["deployment.kubernetes.io/revision"] == "3"
    assert {found.metadata.uid for found in await client.list(ReplicaSet)} == {old.metadata.uid, new.metadata.uid}


async def test_history_is_limited(client: Client) -> None:
    """Old ReplicaSets beyond revisionHistoryLimit are deleted."""
    await client.create(deployment(1, history=1))
    for image in ("busybox", "b", "c", "d"):
        await client.patch(Deployment, WEB, MergePatch({"spec": {"template": template(image).to_wire()}}))
        await rolled_out(client, image, 1)
    await wait_for_list(client, ReplicaSet, lambda left: len(left) == 2)
