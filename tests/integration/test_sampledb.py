"""SampleDB from creation to snapshot, on any cluster.

Nothing runs in its pods: the Jobs of a simulated kubelet succeed at once, so the tests cover only the order of steps.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from functools import partial

import pytest

from examples.sampledb.api import SampleDB, SampleDBSpec
from examples.sampledb.reconciler import FINALIZER, add_sampledb
from pyctrl.api import ObjectMeta, find_condition, is_condition_true
from pyctrl.client import Client, MergePatch, wait_for, wait_until_gone
from pyctrl.errors import Invalid, NotFound
from pyctrl.kinds.apps.v1 import StatefulSet
from pyctrl.kinds.batch.v1 import Job
from pyctrl.kinds.core.v1 import PersistentVolumeClaim, Pod
from pyctrl.testing import UnderRole
from tests.integration._operators import EXAMPLES, install

pytestmark = pytest.mark.virtual_time  # where the cluster is embedded

DEFINITION = EXAMPLES / "sampledb" / "config" / "crd" / "bases" / "databases.example.com_sampledbs.yaml"
PATIENCE = 60.0


def runs(version: int, database: SampleDB) -> bool:
    """Return whether a database runs with data of this version."""
    return database.status.version == version and is_condition_true(database.status.conditions, "Ready")


def sampledb(namespace: str, storage_class: str, *, every: timedelta = timedelta(days=1)) -> SampleDB:
    """Make a database of two pods."""
    spec = SampleDBSpec(version=1, replicas=2, storage_class=storage_class, backup_every=every)
    return SampleDB(metadata=ObjectMeta(name="shop", namespace=namespace), spec=spec)


@pytest.mark.timeout(120)
async def test_a_database_lives(
    client: Client, namespace: str, storage_class: str, running_pods: None, under_role: UnderRole
) -> None:
    """A database is created, upgraded and backed up before deletion with exactly its declared permissions."""
    await install(client, DEFINITION)
    async with under_role(add_sampledb, namespaces=[namespace]) as operator:
        made = await client.create(sampledb(namespace, storage_class))
        database = await wait_for(client, SampleDB, made.key, partial(runs, 1), timeout=PATIENCE)
        assert database.metadata.finalizers == [FINALIZER]
        await client.patch(SampleDB, made.key, MergePatch({"spec": {"version": 2}}))
        await wait_for(client, SampleDB, made.key, partial(runs, 2), timeout=PATIENCE)
        images = {pod.spec.containers[0].image for pod in await client.list(Pod, namespace=namespace, labels=DATA)}
        assert images == {"sampledb.example.com/sampledb:2"}
        with pytest.raises(Invalid, match="a database cannot be downgraded"):
            await client.patch(SampleDB, made.key, MergePatch({"spec": {"version": 1}}))

        await client.delete(made, propagation="Foreground")
        await wait_until_gone(client, SampleDB, made.key, timeout=PATIENCE)
        assert await client.find(StatefulSet, made.key) is None
        (kept,) = await client.list(PersistentVolumeClaim, namespace=namespace)
        assert kept.metadata.name == "shop-backups"
        assert operator.compare().lines() == []


DATA = {"app.kubernetes.io/instance": "shop", "app.kubernetes.io/component": "data"}


@pytest.mark.slow("a minute of a real clock, where the cluster is not embedded: no backup is made more often")
@pytest.mark.timeout(180)
async def test_a_backup_in_time(
    client: Client, namespace: str, storage_class: str, running_pods: None, under_role: UnderRole
) -> None:
    """A scheduled Job has the credentials of the database and the backup volume; the status has its time."""
    await install(client, DEFINITION)
    async with under_role(add_sampledb, namespaces=[namespace]):
        made = await client.create(sampledb(namespace, storage_class, every=timedelta(minutes=1)))

        def is_saved(found: SampleDB) -> bool:
            return is_condition_true(found.status.conditions, "BackedUp") and found.status.last_backup is not None

        database = await wait_for(client, SampleDB, made.key, is_saved, timeout=150)
        condition = find_condition(database.status.conditions, "BackedUp")
        assert condition is not None
        job = await client.get(Job, made.key._replace(name=condition.message.removeprefix("By ").removesuffix(".")))
        await client.patch(SampleDB, made.key, MergePatch({"spec": {"snapshotOnDelete": False}}))
        await client.delete(made)
        await wait_until_gone(client, SampleDB, made.key, timeout=PATIENCE)
    with suppress(NotFound):
        await client.delete(job, propagation="Background")  # its pod uses the backup volume
    pod = job.spec.template.spec
    claims = [each.persistent_volume_claim.claim_name for each in pod.volumes if each.persistent_volume_claim]
    logins = [each.secret_ref.name for each in pod.containers[0].env_from if each.secret_ref]
    assert (claims, logins) == (["shop-backups"], [f"shop-credentials-{made.metadata.uid[:8]}"])
