"""Claims of the pods of a StatefulSet, in virtual time, compared with a kube-controller-manager 1.36."""

from __future__ import annotations

from pyctrl.api import controller_of
from pyctrl.client import Client, wait_for, wait_for_list
from pyctrl.kinds.apps.v1 import (
    StatefulSet,
    StatefulSetPersistentVolumeClaimRetentionPolicy,
)
from pyctrl.kinds.core.v1 import PersistentVolumeClaim, Pod
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
