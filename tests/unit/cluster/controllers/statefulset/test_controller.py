"""StatefulSets in virtual time; the tests patch pod status in place of a kubelet.

What is expected was compared with a kube-controller-manager 1.36 that did the same.
"""

from __future__ import annotations

import asyncio
from typing import Any

from pyctrl.api import ObjectMeta, controller_of
from pyctrl.client import Client, MergePatch, wait_for, wait_for_list, wait_until_gone
from pyctrl.kinds.apps.v1 import (
    ControllerRevision,
    StatefulSet,
    StatefulSetOrdinals,
    StatefulSetPersistentVolumeClaimRetentionPolicy,
    StatefulSetSpec,
)
from pyctrl.kinds.core.v1 import PersistentVolumeClaim, Pod
from pyctrl.kinds.meta.v1 import LabelSelector
from tests.unit.cluster._workloads import (
    LABELS,
    NAMESPACE,
    claim,
    events_of,
    image_of,
    key,
    pods_of,
    run_all,
    set_phase,
    template,
    until_names,
    until_pods,
)

DB = key("db")


def stateful_set(replicas: int, **spec: Any) -> StatefulSet:
    """Make a StatefulSet with a claim for each pod."""
    made = StatefulSetSpec(
        replicas=replicas,
        service_name="svc",
        selector=LabelSelector(match_labels=LABELS),
        template=template(),
        volume_claim_templates=[claim("data")],
        **spec,
    )
    return StatefulSet(metadata=ObjectMeta(name=DB.name, namespace=NAMESPACE), spec=made)


async def change(client: Client, **spec: Any) -> None:
    """Patch the set's spec."""
    await client.patch(StatefulSet, DB, MergePatch({"spec": spec}))


async def new_image(client: Client, image: str, **strategy: Any) -> None:
    """Patch the set's template, and how updates go."""
    await change(client, template=template(image).to_wire(), **({"updateStrategy": strategy} if strategy else {}))


async def settled(client: Client, replicas: int) -> StatefulSet:
    """Run all pods until a number of them is available at the update revision."""

    def is_done(found: StatefulSet) -> bool:
        status = found.status
        is_seen = status.observed_generation == found.metadata.generation
        return is_seen and status.updated_replicas == status.available_replicas == status.replicas == replicas

    for _ in range(20):
        await asyncio.sleep(1)
        await run_all(client)
        if is_done(await client.get(StatefulSet, DB)):
            break
    return await wait_for(client, StatefulSet, DB, is_done)


async def test_pods_come_one_after_the_other(client: Client) -> None:
    """A pod is created when its predecessor is ready; each has a name, an ordinal, a hostname and a claim."""
    await client.create(stateful_set(2))
    (first,) = await until_names(client, "db-0")
    await asyncio.sleep(60)
    await until_names(client, "db-0")
    await set_phase(client, first, "Running")
    _, second = await until_names(client, "db-0", "db-1")
    assert second.metadata.labels == {
        **LABELS,
        "statefulset.kubernetes.io/pod-name": "db-1",
        "apps.kubernetes.io/pod-index": "1",
        "controller-revision-hash": "db-795968f978",  # what the real controller names this template
    }
    assert (second.spec.hostname, second.spec.subdomain, second.metadata.generate_name) == ("db-1", "svc", "db-")
    assert second.spec.volumes[0].to_wire() == {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-1"}}
    made = await client.get(PersistentVolumeClaim, key("data-db-1"))
    assert made.metadata.labels == {"of": "claim", **LABELS}
    assert await events_of(client, "db") == [
        f"SuccessfulCreate: Create {what} x1"
        for n in (0, 1)
        for what in (
            f"Claim data-db-{n} Pod db-{n} in StatefulSet db success",
            f"Pod db-{n} in StatefulSet db successful",
        )
    ]


async def test_parallel_makes_all_at_once_from_the_first_number(client: Client) -> None:
    """Parallel creates all pods at once, with ordinals from ordinals.start."""
    await client.create(stateful_set(3, pod_management_policy="Parallel", ordinals=StatefulSetOrdinals(start=5)))
    await until_names(client, "db-5", "db-6", "db-7")
    await change(client, replicas=1)
    await until_names(client, "db-5")


async def test_status_counts_from_the_first_step(client: Client) -> None:
    """Counts and revisions are set at once, with zeros where the real controller writes them."""
    await client.create(stateful_set(1))
    found = await wait_for(client, StatefulSet, DB, lambda found: found.status.replicas == 1)
    assert found.status.to_wire() == {
        "observedGeneration": 1,
        "replicas": 1,
        "currentReplicas": 1,
        "updatedReplicas": 1,
        "currentRevision": "db-795968f978",
        "updateRevision": "db-795968f978",
        "collisionCount": 0,
        "availableReplicas": 0,
    }


async def test_an_update_goes_from_the_highest_number_down(client: Client) -> None:
    """Pods are updated one by one, and the current revision changes after the last one."""
    await client.create(stateful_set(3))
    await settled(client, 3)
    await new_image(client, "other")
    pods = await until_pods(client, lambda pods: any(image_of(pod) == "other" for pod in pods))
    assert [image_of(pod) for pod in pods] == ["busybox", "busybox", "other"]
    half = await wait_for(client, StatefulSet, DB, lambda found: found.status.updated_replicas == 1)
    assert (half.status.current_revision, half.status.current_replicas) == ("db-795968f978", 2)
    done = await settled(client, 3)
    assert done.status.current_revision == done.status.update_revision == "db-77ccfb69b6"
    assert [image_of(pod) for pod in await pods_of(client)] == ["other"] * 3


async def test_going_back_finds_the_old_revision_again(client: Client) -> None:
    """An old template reuses its revision with a new number."""
    await client.create(stateful_set(1))
    await settled(client, 1)
    for image in ("other", "busybox"):
        await new_image(client, image)
        await settled(client, 1)
    revisions = {found.metadata.name: found.revision for found in await client.list(ControllerRevision)}
    assert revisions == {"db-795968f978": 3, "db-77ccfb69b6": 2}


async def test_history_is_limited(client: Client) -> None:
    """Revisions beyond revisionHistoryLimit without pods are deleted."""
    await client.create(stateful_set(1, revision_history_limit=1))
    for image in ("busybox", "b", "c", "d"):
        await new_image(client, image)
        await settled(client, 1)
    await wait_for_list(client, ControllerRevision, lambda left: len(left) == 2)


async def test_below_the_partition_nothing_changes(client: Client) -> None:
    """Pods below the partition keep their revision, also when they are recreated."""
    await client.create(stateful_set(3))
    await settled(client, 3)
    await new_image(client, "other", type="RollingUpdate", rollingUpdate={"partition": 2})
    await until_pods(client, lambda pods: any(image_of(pod) == "other" for pod in pods))
    await run_all(client)
    await client.delete(Pod, key("db-0"))
    await until_names(client, "db-0", "db-1", "db-2")
    assert [image_of(pod) for pod in await pods_of(client)] == ["busybox", "busybox", "other"]


async def test_on_delete_waits_for_the_deletion(client: Client) -> None:
    """Nothing is replaced automatically; a deleted pod is recreated from the new template."""
    await client.create(stateful_set(2))
    await settled(client, 2)
    await new_image(client, "other", type="OnDelete", rollingUpdate=None)
    await asyncio.sleep(60)
    assert [image_of(pod) for pod in await pods_of(client)] == ["busybox", "busybox"]
    await client.delete(Pod, key("db-0"))
    await until_pods(client, lambda pods: [image_of(pod) for pod in pods] == ["other", "busybox"])


async def test_a_failed_pod_is_replaced(client: Client) -> None:
    """A finished pod is deleted and recreated."""
    await client.create(stateful_set(1))
    for phase in ("Failed", "Succeeded"):
        (pod,) = await until_names(client, "db-0")
        await set_phase(client, pod, phase)
        uid = pod.metadata.uid
        await until_pods(client, lambda pods, uid=uid: [p.metadata.uid for p in pods] not in ([], [uid]))  # type: ignore[misc]


async def test_scaling_down_deletes_the_highest_ordinal_first(client: Client) -> None:
    """Scaling down deletes the highest ordinal first, even if unready, and never two at a time."""
    await client.create(stateful_set(3))
    await settled(client, 3)
    broken = await client.get(Pod, key("db-2"))
    await set_phase(client, broken, "Running", is_ready=False)
    await change(client, replicas=1)
    await until_names(client, "db-0")


async def test_claims_go_by_the_retention_policy(client: Client) -> None:
    """Claims are kept by default; whenScaled and whenDeleted delete them."""
    policy = StatefulSetPersistentVolumeClaimRetentionPolicy(when_scaled="Delete", when_deleted="Retain")
    await client.create(stateful_set(2, persistent_volume_claim_retention_policy=policy))
    await settled(client, 2)
    await change(client, replicas=1)
    await wait_for_list(client, PersistentVolumeClaim, lambda left: [c.metadata.name for c in left] == ["data-db-0"])
    await change(client, persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete"})
    owned = await wait_for(client, PersistentVolumeClaim, key("data-db-0"), lambda c: controller_of(c) is not None)
    assert [ref.kind for ref in owned.metadata.owner_references] == ["StatefulSet"]
    await client.delete(StatefulSet, DB)
    await wait_for_list(client, PersistentVolumeClaim, lambda left: not left)


async def test_claims_stay_for_the_next_pod_of_the_name(client: Client) -> None:
    """A recreated pod reuses its claim."""
    await client.create(stateful_set(1))
    await settled(client, 1)
    before = await client.get(PersistentVolumeClaim, key("data-db-0"))
    await client.delete(Pod, key("db-0"))
    await settled(client, 1)
    assert (await client.get(PersistentVolumeClaim, key("data-db-0"))).metadata.uid == before.metadata.uid


async def test_min_ready_seconds_hold_up_the_next_pod(client: Client) -> None:
    """The next pod is created only after the previous one has been ready for minReadySeconds."""
    await client.create(stateful_set(2, min_ready_seconds=30))
    await until_names(client, "db-0")
    await run_all(client)
    await asyncio.sleep(25)
    await until_names(client, "db-0")
    await asyncio.sleep(10)
    await until_names(client, "db-0", "db-1")


async def test_a_new_set_adopts_what_an_orphaning_one_left(client: Client) -> None:
    """A new StatefulSet adopts the orphaned pods and revisions of its predecessor."""
    await client.create(stateful_set(2))
    old = await settled(client, 2)
    await client.delete(StatefulSet, DB, propagation="Orphan")
    await wait_until_gone(client, StatefulSet, DB)
    await until_pods(client, lambda pods: not any(pod.metadata.owner_references for pod in pods))
    await wait_until_gone(client, StatefulSet, DB)
    new = await client.create(stateful_set(2))
    pods = await until_pods(client, lambda pods: all(pod.metadata.owner_references for pod in pods))
    assert {ref.uid for pod in pods for ref in pod.metadata.owner_references} == {new.metadata.uid}
    found = await settled(client, 2)
    assert found.status.current_revision == old.status.current_revision


async def test_labels_that_name_the_pod_are_put_back(client: Client) -> None:
    """A pod that lost its identity label gets it again."""
    await client.create(stateful_set(1))
    await settled(client, 1)
    lost = {"metadata": {"labels": {"statefulset.kubernetes.io/pod-name": None}}}
    await client.patch(Pod, key("db-0"), MergePatch(lost))
    await until_pods(client, lambda pods: "statefulset.kubernetes.io/pod-name" in pods[0].metadata.labels)
    assert (await events_of(client, "db"))[-1] == "SuccessfulUpdate: Update Pod db-0 in StatefulSet db successful x1"
