"""StatefulSets in virtual time; the tests patch pod status in place of a kubelet.

The expected results were verified against a kube-controller-manager 1.36.
"""

from __future__ import annotations

import asyncio

from pyctrl.client import Client, wait_for, wait_until_gone
from pyctrl.kinds.apps.v1 import (
    StatefulSet,
)
from pyctrl.kinds.core.v1 import PersistentVolumeClaim
from tests.unit.cluster._statefulsets import DB, new_image, settled, stateful_set
from tests.unit.cluster._workloads import (
    LABELS,
    events_of,
    image_of,
    key,
    pods_of,
    set_phase,
    until_names,
    until_pods,
)


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
        "controller-revision-hash": "db-795968f978",  # the real controller's hash of this template
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


async def test_a_failed_pod_is_replaced(client: Client) -> None:
    """A finished pod is deleted and recreated."""
    await client.create(stateful_set(1))
    for phase in ("Failed", "Succeeded"):
        (pod,) = await until_names(client, "db-0")
        await set_phase(client, pod, phase)
        uid = pod.metadata.uid
        await until_pods(client, lambda pods, uid=uid: [p.metadata.uid for p in pods] not in ([], [uid]))  # type: ignore[misc]


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
