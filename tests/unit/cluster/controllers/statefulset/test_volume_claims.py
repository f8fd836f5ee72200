"""Claims of the pods of a StatefulSet, in virtual time, compared with a kube-controller-manager 1.36."""

from __future__ import annotations

from pyctrl.api import ObjectMeta, controller_of, owner_reference
from pyctrl.client import Client, MergePatch, wait_for, wait_for_list
from pyctrl.cluster._controllers.statefulset.pods import claim_owner_references
from pyctrl.kinds.apps.v1 import (
    StatefulSet,
    StatefulSetPersistentVolumeClaimRetentionPolicy,
)
from pyctrl.kinds.core.v1 import ConfigMap, PersistentVolumeClaim, Pod
from tests.unit.cluster._statefulsets import DB, change, settled, stateful_set
from tests.unit.cluster._workloads import (
    key,
)


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


async def test_a_claim_of_another_controller_does_not_block_the_pods(client: Client) -> None:
    """A claim that another controller owns is kept on scale-down, and the StatefulSet goes on."""
    policy = StatefulSetPersistentVolumeClaimRetentionPolicy(when_scaled="Delete", when_deleted="Retain")
    await client.create(stateful_set(2))
    await settled(client, 2)
    other = await client.create(ConfigMap(metadata=ObjectMeta(name="other", namespace=DB.namespace)))
    reference = owner_reference(other, controller=True).to_wire()
    await client.patch(
        PersistentVolumeClaim, key("data-db-1"), MergePatch({"metadata": {"ownerReferences": [reference]}})
    )
    await change(client, persistentVolumeClaimRetentionPolicy=policy.to_wire(), replicas=0)
    await wait_for_list(client, Pod, lambda left: not left)
    await wait_for_list(client, PersistentVolumeClaim, lambda left: [c.metadata.name for c in left] == ["data-db-1"])
    kept = await client.get(PersistentVolumeClaim, key("data-db-1"))
    assert [ref.kind for ref in kept.metadata.owner_references] == ["ConfigMap"]


def test_a_claim_of_an_earlier_object_of_the_name_is_left_to_the_garbage_collector() -> None:
    """A claim whose owner is an earlier StatefulSet or pod of the same name is not changed."""
    policy = StatefulSetPersistentVolumeClaimRetentionPolicy(when_scaled="Delete", when_deleted="Delete")
    owner = stateful_set(1, persistent_volume_claim_retention_policy=policy)
    pod = Pod(metadata=ObjectMeta(name="db-0", namespace=DB.namespace, uid="new"))
    for earlier in (owner.deep_copy(), pod.deep_copy()):
        earlier.metadata.uid = "old"
        stale = [owner_reference(earlier, controller=True)]
        claim = PersistentVolumeClaim(metadata=ObjectMeta(name="data-db-0", owner_references=stale))
        assert claim_owner_references(claim, owner, pod) == stale
