"""SampleDB, in virtual time on the embedded cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from random import Random

import pytest
import pytest_asyncio

from examples.sampledb.api import SampleDB
from examples.sampledb.reconciler import FINALIZER
from pyctrl.api import Key, Quantity, is_controlled_by, now
from pyctrl.client import Client, MergePatch, wait_for, wait_until_gone
from pyctrl.cluster import Cluster, Kubelet, Script
from pyctrl.errors import Invalid
from pyctrl.kinds.apps.v1 import StatefulSet
from pyctrl.kinds.batch.v1 import Job
from pyctrl.kinds.core.v1 import Container, PersistentVolumeClaim, Pod, Secret, Service
from tests.unit.examples._sampledb import (
    KEY,
    backups,
    changed,
    container,
    install,
    message,
    names,
    operator,
    sampledb,
    until,
)

OFTEN = timedelta(minutes=1)  # interval of backups in these tests: simulated nodes make an hour of virtual time slow


class Jobs:
    """Makes the Jobs fail whose first argument is listed."""

    def __init__(self) -> None:
        self.failing: set[str] = set()

    def script(self, pod: Pod, container: Container) -> Script | None:
        is_failing = bool(self.failing.intersection(container.args[:1]))
        return Script(run_seconds=30, exit_code=1 if is_failing else 0) if container.args[0] != "serve" else None


@pytest.fixture
def jobs() -> Jobs:
    return Jobs()


@pytest_asyncio.fixture
async def cluster(jobs: Jobs) -> AsyncIterator[Cluster]:
    """A cluster with the definition."""
    async with Cluster(random=Random(1), kubelet=Kubelet(script=jobs.script)) as cluster:
        async with cluster.client() as client:
            await install(client)
        yield cluster


@pytest_asyncio.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    """A client of the cluster."""
    async with cluster.client() as client:
        yield client


async def test_a_new_database_is_initialised(cluster: Cluster, client: Client) -> None:
    """A new database gets pods, volumes, a Service, credentials, a backup volume, and a Job when its pods are ready."""
    async with operator(cluster):
        database = await client.create(sampledb(replicas=2, storage="3Gi"))
        assert message(await until(client, "Starting")).endswith("of 2 pods are ready; they get version 1.")
        assert await names(client, Job) == []
        await until(client, "Initializing")
        database = await until(client, "Running")
    assert database.status.version == 1
    stateful_set = await client.get(StatefulSet, KEY)
    service = await client.get(Service, KEY)
    assert all(is_controlled_by(each, database) for each in (stateful_set, service))
    assert service.spec.selector == stateful_set.spec.selector.match_labels
    assert await container(client, "shop-setup-1") == ("sampledb:1", ["init"])
    volumes = {volume.metadata.name: volume for volume in await client.list(PersistentVolumeClaim)}
    assert sorted(volumes) == ["data-shop-0", "data-shop-1", "shop-backups"]
    assert volumes["data-shop-1"].spec.resources.requests == {"storage": Quantity("3Gi")}
    (login,) = [each for each in await client.list(Secret) if is_controlled_by(each, database)]
    assert sorted(login.data) == ["SAMPLEDB_HOST", "SAMPLEDB_PASSWORD", "SAMPLEDB_USER"]
    (pod,) = stateful_set.spec.template.spec.containers
    assert pod.env_from[0].secret_ref is not None
    assert pod.env_from[0].secret_ref.name == login.metadata.name


async def test_what_is_right_is_left_alone(cluster: Cluster, client: Client) -> None:
    """The operator writes nothing for a running database until its next backup."""
    async with operator(cluster) as controller:
        await client.create(sampledb(backup_every=OFTEN))
        before = await until(client, "Running")
        await asyncio.sleep(1)
        runs = controller.statistics().reconciles
        await asyncio.sleep(50)
        assert controller.statistics().reconciles == runs
        assert await client.get(SampleDB, KEY) == before


async def test_backups_are_made_by_the_clock(cluster: Cluster, client: Client) -> None:
    """Backups run every two minutes or at the interval set since, and each updates its time in the status."""
    async with operator(cluster):
        await client.create(sampledb(backup_every=timedelta(minutes=2)))
        began = (await until(client, "Running")).status.next_backup
        assert began is not None
        await asyncio.sleep(120 + 40)
        (backup,) = await backups(client)
        assert backup == f"shop-backup-{began:%Y%m%d%H%M%S}"
        assert await container(client, backup) == ("sampledb:1", ["backup", f"--to=/backups/{began:%Y%m%d%H%M%S}"])
        database = await until(client, "Saved", kind="BackedUp")
        assert database.status.last_backup is not None
        assert timedelta(0) < now() - database.status.last_backup < timedelta(minutes=1)
        await changed(client, backupEvery="1m")
        await asyncio.sleep(60 + 10)
        assert len(await backups(client)) == 2


async def test_a_backup_that_was_missed_is_made_once(cluster: Cluster, client: Client) -> None:
    """An operator that is back after a missed backup makes one backup at once and the next one on schedule."""
    async with operator(cluster):
        await client.create(sampledb(backup_every=OFTEN))
        await until(client, "Running")
    await asyncio.sleep(180)
    async with operator(cluster, seed=3):
        await until(client, "Saved", kind="BackedUp")
        await asyncio.sleep(25)
        assert len(await backups(client)) == 1
        await asyncio.sleep(10)
        assert len(await backups(client)) == 2


async def test_a_backup_that_fails_is_told(cluster: Cluster, client: Client, jobs: Jobs) -> None:
    """A failed backup is reported in its own condition while the database runs, until a backup succeeds."""
    async with operator(cluster):
        await client.create(sampledb(backup_every=OFTEN))
        jobs.failing.add("backup")
        database = await until(client, "BackupFailed", kind="BackedUp", timeout=5000)
        assert "has reached the specified backoff limit" in message(database, "BackedUp")
        assert database.status.last_backup is None
        await until(client, "Running")
        jobs.failing.clear()
        assert (await until(client, "Saved", kind="BackedUp", timeout=5000)).status.last_backup is not None


async def test_an_upgrade(cluster: Cluster, client: Client, jobs: Jobs) -> None:
    """An upgrade rolls out the image and then runs a migration Job, which is retried when a failed one is deleted."""
    async with operator(cluster):
        await client.create(sampledb())
        await until(client, "Running")
        jobs.failing.add("upgrade")
        await changed(client, version=3)
        assert (await until(client, "Starting")).status.version == 1
        assert (await until(client, "Upgrading")).status.version == 1
        said = message(await until(client, "UpgradingFailed"))
        assert said.startswith("Job shop-setup-3 failed: ")
        assert said.endswith(". Delete the Job to have it tried again.")
        jobs.failing.clear()
        await client.delete(Job, Key("default", "shop-setup-3"), propagation="Background")
        assert (await until(client, "Running")).status.version == 3
    assert await container(client, "shop-setup-3") == ("sampledb:3", ["upgrade", "--from=1"])
    (pod,) = await client.list(Pod, labels={"app.kubernetes.io/component": "data"})
    assert pod.spec.containers[0].image == "sampledb.example.com/sampledb:3"


async def test_what_cannot_be(client: Client) -> None:
    """The server rejects a downgrade, a change of storage, and backups without an interval."""
    await client.create(sampledb(version=2))
    for change, said in (
        ({"version": 1}, "spec.version: Invalid value: 1: a database cannot be downgraded"),
        ({"storage": "2Gi"}, 'spec.storage: Invalid value: "2Gi": field is immutable'),
        ({"backupEvery": "10s"}, 'spec.backupEvery: Invalid value: "10s": at least a minute was expected'),
    ):
        with pytest.raises(Invalid, match=said):
            await changed(client, **change)


async def test_a_database_that_goes_is_saved_first(cluster: Cluster, client: Client) -> None:
    """Deleting a database ends its pods, saves the volume with a Job, deletes the volumes and keeps the backups."""
    async with operator(cluster):
        await client.create(sampledb(replicas=2))
        database = await until(client, "Running")
        assert database.metadata.finalizers == [FINALIZER]
        await client.delete(SampleDB, KEY)
        await until(client, "TakingSnapshot")
        assert not await client.list(Pod, labels={"app.kubernetes.io/component": "data"})
        assert "data-shop-0" in await names(client, PersistentVolumeClaim)
        snapshot = f"shop-snapshot-{database.metadata.uid[:8]}"
        to = f"--to=/backups/{database.metadata.uid}"
        assert await container(client, snapshot) == ("sampledb:1", ["snapshot", to])
        await wait_until_gone(client, SampleDB, KEY, timeout=600)
        assert await names(client, PersistentVolumeClaim) == ["shop-backups"]
        assert await client.find(StatefulSet, KEY) is None
        await wait_until_gone(client, Service, KEY)


async def test_a_snapshot_that_fails_keeps_the_data(cluster: Cluster, client: Client, jobs: Jobs) -> None:
    """A database stays until its snapshot succeeds or the user disables the snapshot."""
    async with operator(cluster):
        await client.create(sampledb())
        await until(client, "Running")
        jobs.failing.add("snapshot")
        await client.delete(SampleDB, KEY)
        await until(client, "TakingSnapshotFailed")
        await asyncio.sleep(60)
        assert "data-shop-0" in await names(client, PersistentVolumeClaim)
        await changed(client, snapshotOnDelete=False)
        await wait_until_gone(client, SampleDB, KEY)
        assert await names(client, PersistentVolumeClaim) == ["shop-backups"]


async def test_a_database_that_never_ran_has_nothing_to_save(cluster: Cluster, client: Client, jobs: Jobs) -> None:
    """A database whose initialisation failed is deleted without a snapshot."""
    jobs.failing.add("init")
    async with operator(cluster):
        await client.create(sampledb())
        await until(client, "InitializingFailed")
        await client.delete(SampleDB, KEY)
        await wait_until_gone(client, SampleDB, KEY)
        assert not [name for name in await names(client, Job) if "snapshot" in name]


async def test_a_database_is_made_again(cluster: Cluster, client: Client) -> None:
    """A database created again under the same name gets new credentials and volumes, and is initialised."""
    async with operator(cluster):
        first = await client.create(sampledb())
        await until(client, "Running")
        await client.delete(SampleDB, KEY)
        await wait_until_gone(client, SampleDB, KEY, timeout=600)
        second = await client.create(sampledb())
        await until(client, "Running")
        await wait_for(client, Service, KEY, lambda found: is_controlled_by(found, second))
        await asyncio.sleep(60)
        owned = [each for each in await client.list(Secret) if each.metadata.owner_references]
        assert [is_controlled_by(each, second) for each in owned] == [True]
        assert is_controlled_by(await client.get(Job, Key("default", "shop-setup-1")), second)
    assert first.metadata.uid != second.metadata.uid


async def test_a_name_that_is_taken(cluster: Cluster, client: Client) -> None:
    """The operator does not adopt the Job of another owner, and creates its own when that one is deleted."""
    labels = {"app.kubernetes.io/name": "sampledb", "app.kubernetes.io/instance": "shop"}
    async with operator(cluster):
        await client.create(sampledb())
        await until(client, "Running")
        theirs = await client.get(Job, Key("default", "shop-setup-1"))
        wire = theirs.to_wire()
        spec = {"template": {"spec": wire["spec"]["template"]["spec"] | {"restartPolicy": "Never"}}}
        meta = {"name": "shop-setup-2", "namespace": "default", "labels": labels}
        await client.create(Job.from_wire({"metadata": meta | {"ownerReferences": []}, "spec": spec}))
        await changed(client, version=2)
        assert message(await until(client, "NameTaken")) == "There is a Job shop-setup-2 that is not ours."
        await client.delete(Job, Key("default", "shop-setup-2"), propagation="Background")
        assert (await until(client, "Running")).status.version == 2


async def test_a_pod_that_is_lost_is_told(cluster: Cluster, client: Client) -> None:
    """A database is not ready while a pod is missing, and the operator reverts changes of its StatefulSet."""
    async with operator(cluster):
        await client.create(sampledb())
        await until(client, "Running")
        await client.delete(Pod, Key("default", "shop-0"))
        await until(client, "Starting")
        await until(client, "Running")
        await client.patch(StatefulSet, KEY, MergePatch({"spec": {"replicas": 0}}))
        await wait_for(client, StatefulSet, KEY, lambda found: found.spec.replicas == 1)
