"""The controllers of the embedded cluster, at work in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random

import pytest
import pytest_asyncio

from pyctrl.api import (
    GroupVersionKind,
    Key,
    ObjectMeta,
    Quantity,
    Unstructured,
    controller_of,
    owner_reference,
    set_controller_reference,
)
from pyctrl.client import Client, MergePatch, wait_for, wait_for_list, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec, ReplicaSet, ReplicaSetSpec
from pyctrl.kinds.core.v1 import (
    ConfigMap,
    Container,
    Namespace,
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimVolumeSource,
    Pod,
    PodSpec,
    PodTemplateSpec,
    ServiceAccount,
    Volume,
    VolumeResourceRequirements,
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


def configmap(name: str, owner: Unstructured | ConfigMap | None = None) -> ConfigMap:
    """Make a ConfigMap, owned or not."""
    made = ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))
    if owner is not None:
        set_controller_reference(owner, made)
    return made


async def rolled_out(client: Client, image: str, replicas: int) -> Deployment:
    """Wait until all pods run an image and the status says so."""

    def is_done(found: Deployment) -> bool:
        return (
            found.spec.template.spec.containers[0].image == image
            and found.status.observed_generation == found.metadata.generation
            and found.status.updated_replicas == found.status.available_replicas == found.status.replicas == replicas
        )

    return await wait_for(client, Deployment, WEB, is_done)


async def gone(client: Client, *names: str) -> None:
    """Wait until ConfigMaps are gone."""
    for name in names:
        await wait_until_gone(client, ConfigMap, Key("default", name))


async def test_a_namespace_is_furnished(client: Client) -> None:
    """A new namespace gets its service account and root certificate, and gets them back when somebody deletes them."""
    await client.create(Namespace(metadata=ObjectMeta(name="new")))
    account = await wait_for(client, ServiceAccount, Key("new", "default"))
    await wait_for(client, ConfigMap, Key("new", "kube-root-ca.crt"))
    await client.delete(account)
    await wait_for(
        client,
        ServiceAccount,
        account.key,
        lambda found: found.metadata.uid != account.metadata.uid,
    )


async def test_a_deleted_namespace_is_emptied_first(client: Client) -> None:
    """Its objects go with it, and a finalizer in it holds it back until it is taken away."""
    await client.create(Namespace(metadata=ObjectMeta(name="going")))
    held = await client.create(ConfigMap(metadata=ObjectMeta(name="held", namespace="going", finalizers=["x.io/f"])))
    await client.create(ConfigMap(metadata=ObjectMeta(name="free", namespace="going")))
    await client.delete(Namespace, Key("", "going"))
    await wait_until_gone(client, ConfigMap, Key("going", "free"))
    await asyncio.sleep(60)
    assert (await client.get(Namespace, Key("", "going"))).status.phase == "Terminating"
    await client.patch(held, MergePatch({"metadata": {"finalizers": None}}))
    await wait_until_gone(client, Namespace, Key("", "going"))


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


async def test_background_deletion_collects_in_a_chain(client: Client) -> None:
    """What the deleted object owned goes, and what that owned."""
    a = await client.create(configmap("a"))
    b = await client.create(configmap("b", a))
    await client.create(configmap("c", b))
    await client.delete(a)
    await gone(client, "a", "b", "c")


async def test_foreground_deletion_ends_with_the_owner(client: Client) -> None:
    """The owner goes after the dependents that block it."""
    a = await client.create(configmap("a"))
    held = configmap("b", a)
    held.metadata.finalizers = ["x.io/f"]
    held = await client.create(held)
    await client.delete(a, propagation="Foreground")
    await wait_for(client, ConfigMap, held.key, lambda found: found.metadata.deletion_timestamp is not None)
    await asyncio.sleep(60)
    assert (await client.get(ConfigMap, a.key)).metadata.finalizers == ["foregroundDeletion"]
    await client.patch(held, MergePatch({"metadata": {"finalizers": None}}))
    await gone(client, "b", "a")


async def test_orphans_are_left_behind(client: Client) -> None:
    """Deletion with orphans takes the reference away and leaves the object."""
    a = await client.create(configmap("a"))
    b = await client.create(configmap("b", a))
    await client.delete(a, propagation="Orphan")
    await gone(client, "a")
    await wait_for(client, ConfigMap, b.key, lambda found: not found.metadata.owner_references)
    await asyncio.sleep(60)
    assert await client.find(ConfigMap, b.key) is not None


async def test_one_owner_left_is_enough(client: Client) -> None:
    """With one of two owners gone, only the reference goes."""
    a, b = await client.create(configmap("a")), await client.create(configmap("b"))
    child = configmap("child")
    child.metadata.owner_references = [owner_reference(a), owner_reference(b)]
    await client.create(child)
    await client.delete(a)
    left = await wait_for(client, ConfigMap, child.key, lambda found: len(found.metadata.owner_references) == 1)
    assert left.metadata.owner_references[0].uid == b.metadata.uid


async def test_an_owner_that_never_was_does_not_keep_anything(client: Client) -> None:
    """A reference to a uid that does not exist counts as an owner that is gone."""
    ghost = Unstructured.new(GroupVersionKind("", "v1", "ConfigMap"), name="ghost", namespace="default")
    ghost.metadata.uid = "33333333-3333-3333-3333-333333333333"
    await client.create(configmap("child", ghost))
    await gone(client, "child")


@pytest.mark.parametrize("phase", ["Running", "Succeeded"])
async def test_a_claim_goes_when_no_pod_uses_it(client: Client, phase: str) -> None:
    """A deleted claim waits for the pod that uses it, even one that has ended; one that nobody uses goes at once."""
    for name in ("used", "free"):
        await client.create(
            PersistentVolumeClaim(
                metadata=ObjectMeta(name=name, namespace="default"),
                spec=PersistentVolumeClaimSpec(
                    access_modes=["ReadWriteOnce"],
                    resources=VolumeResourceRequirements(requests={"storage": Quantity("1Gi")}),
                ),
            )
        )
    pod = Pod(metadata=ObjectMeta(name="user", namespace="default"), spec=template().spec)
    source = PersistentVolumeClaimVolumeSource(claim_name="used")
    pod.spec.volumes = [Volume(name="v", persistent_volume_claim=source)]
    if phase == "Succeeded":
        pod.spec.restart_policy, pod.spec.containers[0].command = "Never", ["true"]
    await client.create(pod)
    await wait_for(client, Pod, pod.key, lambda found: found.status.phase == phase)
    for name in ("used", "free"):
        await client.delete(PersistentVolumeClaim, Key("default", name))
    await wait_until_gone(client, PersistentVolumeClaim, Key("default", "free"))
    await asyncio.sleep(60)
    assert await client.find(PersistentVolumeClaim, Key("default", "used")) is not None
    await client.delete(pod)
    await wait_until_gone(client, PersistentVolumeClaim, Key("default", "used"))


async def test_a_seed_repeats_everything() -> None:
    """Two clusters with the same seed give the same names and uids."""

    async def life() -> list[tuple[str, str]]:
        async with Cluster(random=Random(7)) as cluster, cluster.client() as client:
            await client.create(deployment(3))
            await rolled_out(client, "busybox", 3)
            return [(pod.metadata.name, pod.metadata.uid) for pod in await client.list(Pod)]

    assert await life() == await life()
