"""EphemeralVolumeClaim, in virtual time on the embedded cluster."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from random import Random

import pytest
import pytest_asyncio

from examples.evc.evc import CLASS_ANNOTATION, FINALIZER, EphemeralVolumeClaim
from pyctrl.api import Key, ObjectMeta, Quantity, is_controlled_by
from pyctrl.client import Client, MergePatch, wait_for, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.kinds.core.v1 import (
    PersistentVolumeClaim,
    PersistentVolumeClaimSpec,
    Pod,
    VolumeResourceRequirements,
)
from pyctrl.kinds.events.v1 import Event
from pyctrl.kinds.storage.v1 import StorageClass
from tests.unit.examples._evc import KEY, definition, evc, install, operator, ready, resized, until, volume_claim

E = EphemeralVolumeClaim
STANDARD = Key("", "standard")


@pytest_asyncio.fixture
async def cluster() -> AsyncIterator[Cluster]:
    """A cluster with the definition."""
    async with Cluster(random=Random(1)) as cluster:
        async with cluster.client() as client:
            await install(client)
        yield cluster


@pytest_asyncio.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    """A client of the cluster."""
    async with cluster.client() as client:
        yield client


async def test_a_claim_gets_its_volume(cluster: Cluster, client: Client) -> None:
    """A claim gets a volume of its name, size and class, and its status has size, phase, volume and generation."""
    async with operator(cluster):
        claim = await client.create(evc("2G"))
        bound = await until(client, "Bound")
    made = await volume_claim(client)
    assert is_controlled_by(made, claim)
    assert (made.spec.access_modes, made.spec.storage_class_name) == (["ReadWriteOnce"], "standard")
    assert made.metadata.annotations[CLASS_ANNOTATION] == "standard"
    assert made.spec.resources.requests == {"storage": Quantity("2G")}
    status = bound.status
    assert (status.size, status.phase, status.volume) == ("2G", "Bound", f"pvc-{made.metadata.uid}")
    assert (ready(bound).status, status.observed_generation) == ("True", bound.metadata.generation)


async def test_own_reports_cause_no_runs(cluster: Cluster, client: Client) -> None:
    """The operator does not reconcile a bound claim because of its own status writes, also after a restart."""
    async with operator(cluster) as controller:
        await client.create(evc())
        before = await until(client, "Bound")
        await asyncio.sleep(1)
        runs = controller.statistics().reconciles.success
        await asyncio.sleep(3600)
        assert controller.statistics().reconciles.success == runs <= 6
    async with operator(cluster) as controller:
        await asyncio.sleep(60)
        assert controller.statistics().reconciles.success == 1
    assert await client.get(E, KEY) == before


@pytest.mark.parametrize(
    ("size", "message"),
    [
        (None, "Size must be set. Got None."),
        ("", "Size must be set. Got ''."),
        (0, "Size must be set. Got 0."),
        ("2 Gigabytes", "Size must be a quantity: '2 Gigabytes' is not a quantity: expected a number with a suffix"),
        (["2G"], "Size must be a quantity: a quantity is made from text or a number, not ['2G']"),
        ({"of": "2G"}, "Size must be a quantity: a quantity is made from text or a number, not {'of': '2G'}"),
        (True, "Size must be a quantity: a quantity is made from text or a number, not True"),
        ("-2G", 'spec.resources[storage]: Invalid value: "-2G": must be greater than zero'),
        ("0G", 'spec.resources[storage]: Invalid value: "0": must be greater than zero'),
    ],
)
async def test_a_size_that_is_none(
    cluster: Cluster, client: Client, size: object, message: str, caplog: pytest.LogCaptureFixture
) -> None:
    """An invalid size is reported once in the condition and in the log, and retried only when the claim changes."""
    async with operator(cluster) as controller:
        await client.create(evc(size))
        claim = await until(client, "InvalidSize")
        assert (ready(claim).status, ready(claim).message[: len(message)]) in [
            ("False", message),
            ("False", f'PersistentVolumeClaim "my-claim" is invalid: {message}'[: len(message)]),
        ]
        assert message in ready(claim).message
        await asyncio.sleep(3600)
        assert controller.statistics().reconciles.terminal_error == 1
        assert [message in record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == [
            True
        ]
        assert await client.find(PersistentVolumeClaim, KEY) is None
        await resized(client, "1G")
        await until(client, "Bound")
    assert controller.statistics().reconciles.error == 0


async def told(client: Client) -> list[tuple[str, str, str]]:
    """Return the type, reason and note of each Event of the claim."""
    await asyncio.sleep(60)
    events = [each for each in await client.list(Event) if each.regarding.kind == E.gvk.kind]
    events.sort(key=lambda event: int(event.metadata.resource_version))
    return [(each.type or "", each.reason or "", each.note or "") for each in events]


async def test_events_tell_of_it(cluster: Cluster, client: Client) -> None:
    """Each action and each rejection is one Event of the claim, however often the operator retries."""
    async with operator(cluster):
        await client.create(evc(None))
        await until(client, "InvalidSize")
        await resized(client, "2G")
        await until(client, "Bound")
        await resized(client, "1G")
        refused = await until(client, "ResizeRefused")
        await client.patch(PersistentVolumeClaim, KEY, MergePatch({"metadata": {"labels": {"tried": "again"}}}))
        assert await told(client) == [
            ("Warning", "InvalidSize", "Size must be set. Got None."),
            ("Normal", "Created", "Created PersistentVolumeClaim of 2G"),
            ("Warning", "ResizeRefused", ready(refused).message),
        ]


async def test_a_size_that_is_lost(cluster: Cluster, client: Client) -> None:
    """A claim whose size is removed keeps its volume, and the status reports both."""
    async with operator(cluster):
        await client.create(evc())
        await until(client, "Bound")
        await resized(client, None)
        claim = await until(client, "InvalidSize")
    assert (claim.status.size, claim.status.phase) == ("2G", "Bound")
    assert await client.find(PersistentVolumeClaim, KEY) is not None


async def test_a_claim_grows(cluster: Cluster, client: Client, caplog: pytest.LogCaptureFixture) -> None:
    """The operator resizes the volume when the claim grows, and logs the old and the new size."""
    async with operator(cluster):
        await client.create(evc("2G"))
        await until(client, "Bound")
        caplog.set_level(logging.INFO, "evc")
        await resized(client, "4G")
        claim = await wait_for(client, E, KEY, lambda found: found.status.size == "4G")
        await asyncio.sleep(1)
        claim = await until(client, "Bound")
    assert claim.status.size == "4G"
    assert "size 2G -> 4G" in [record.getMessage() for record in caplog.records]
    assert (await volume_claim(client)).spec.resources.requests["storage"] == Quantity("4G")


async def test_a_claim_that_grew_while_the_operator_was_away(
    cluster: Cluster, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    """A claim that grew while the operator was down is resized from the size in the cluster."""
    async with operator(cluster):
        await client.create(evc("2G"))
        await until(client, "Bound")
    await resized(client, "3G")
    caplog.set_level(logging.INFO, "evc")
    async with operator(cluster):
        await wait_for(client, E, KEY, lambda found: found.status.size == "3G")
    assert "size 2G -> 3G" in [record.getMessage() for record in caplog.records]


async def test_a_size_written_otherwise_is_no_change(cluster: Cluster, client: Client) -> None:
    """Changing a size from 2G to 2000M changes nothing."""
    async with operator(cluster):
        await client.create(evc("2G"))
        await until(client, "Bound")
        before = await volume_claim(client)
        await resized(client, "2000M")
        await until(client, "Bound")
    assert await volume_claim(client) == before


async def test_a_claim_that_grows_before_it_is_bound(cluster: Cluster, client: Client) -> None:
    """A claim that grows before it is bound is resized once it has a volume."""
    standard = await client.get(StorageClass, STANDARD)
    await client.delete(standard)
    async with operator(cluster) as controller:
        await client.create(evc("2G"))
        await until(client, "Pending")
        await resized(client, "3G")
        claim = await until(client, "Pending")
        assert (claim.status.size, claim.status.phase, claim.status.volume) == (None, "Pending", None)
        await asyncio.sleep(60)
        standard.metadata.resource_version = ""
        await client.create(standard)
        await wait_for(client, E, KEY, lambda found: found.status.size == "3G")
    assert controller.statistics().reconciles.terminal_error == 0


async def test_shrinking_is_refused(cluster: Cluster, client: Client) -> None:
    """A claim that shrinks keeps its volume, reports the server's reason, and is not retried until it changes."""
    async with operator(cluster) as controller:
        await client.create(evc("2G"))
        await until(client, "Bound")
        await resized(client, "1G")
        claim = await until(client, "ResizeRefused")
        assert "spec.resources.requests.storage: Forbidden: field can not be less than" in ready(claim).message
        assert (ready(claim).status, claim.status.size, claim.status.phase) == ("False", "2G", "Bound")
        await asyncio.sleep(3600)
        assert controller.statistics().reconciles.terminal_error == 1
        await resized(client, "2G")
        await until(client, "Bound")
    assert controller.statistics().reconciles.error == 0


async def test_a_class_that_does_not_grow(cluster: Cluster, client: Client) -> None:
    """A class without growth puts the server's reason into the condition, and the operator retries every 5 minutes."""
    async with operator(cluster) as controller:
        await client.create(evc("2G"))
        await until(client, "Bound")
        await client.patch(StorageClass, STANDARD, MergePatch({"allowVolumeExpansion": False}))
        await resized(client, "4G")
        claim = await until(client, "ResizeRefused")
        assert "only dynamically provisioned pvc can be resized" in ready(claim).message
        before = controller.statistics().reconciles.requeue_after
        await asyncio.sleep(3601)
        assert controller.statistics().reconciles.requeue_after - before == 12
        await client.patch(StorageClass, STANDARD, MergePatch({"allowVolumeExpansion": True}))
        await wait_for(client, E, KEY, lambda found: found.status.size == "4G", timeout=301)
    assert controller.statistics().reconciles.error == 0


async def test_a_deleted_claim_takes_its_volume_along(cluster: Cluster, client: Client) -> None:
    """Deleting a claim deletes its volume, also when no operator runs."""
    async with operator(cluster):
        await client.create(evc())
        await until(client, "Bound")
    await client.delete(E, KEY)
    assert await client.find(E, KEY) is None
    await wait_until_gone(client, PersistentVolumeClaim, KEY)


async def test_with_a_finalizer_a_claim_stays_until_its_volume_is_gone(cluster: Cluster, client: Client) -> None:
    """The operator deletes the PersistentVolumeClaim, waits until no pod uses it, and then releases the claim."""
    volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": KEY.name}}]
    spec = {"containers": [{"name": "c", "image": "busybox"}], "volumes": volumes}
    pod = Pod.from_wire({"metadata": {"name": "user", "namespace": "default"}, "spec": spec})
    async with operator(cluster, finalizer=True):
        await client.create(evc())
        assert FINALIZER in (await until(client, "Bound")).metadata.finalizers
        user = await client.create(pod)
        await wait_for(client, Pod, user.key, lambda found: found.status.phase == "Running")
        await client.delete(E, KEY)
        await asyncio.sleep(60)
        assert (await volume_claim(client)).metadata.deletion_timestamp is not None
        assert await client.find(E, KEY) is not None
        await client.delete(user)
        await wait_until_gone(client, E, KEY)
        assert await client.find(PersistentVolumeClaim, KEY) is None


async def test_with_a_finalizer_a_claim_waits_for_the_operator(cluster: Cluster, client: Client) -> None:
    """A claim deleted while the operator is down is released with its volume when the operator is back."""
    async with operator(cluster, finalizer=True):
        await client.create(evc())
        await until(client, "Bound")
    await client.delete(E, KEY)
    await asyncio.sleep(60)
    assert await client.find(PersistentVolumeClaim, KEY) is not None
    async with operator(cluster, finalizer=True):
        await wait_until_gone(client, E, KEY)
        assert await client.find(PersistentVolumeClaim, KEY) is None


async def test_the_definition_waits_for_claims_that_are_held(cluster: Cluster, client: Client) -> None:
    """Deleting the definition completes after the operator has released its claims."""
    async with operator(cluster, finalizer=True):
        await client.create(evc())
        await until(client, "Bound")
        await client.delete(definition())
        await wait_until_gone(client, CustomResourceDefinition, definition().key)
        assert await client.find(PersistentVolumeClaim, KEY) is None


async def test_the_finalizer_goes_with_the_option(cluster: Cluster, client: Client) -> None:
    """An operator without the finalizer option releases claims that have the finalizer."""
    async with operator(cluster, finalizer=True):
        await client.create(evc())
        await until(client, "Bound")
    async with operator(cluster):
        await client.delete(E, KEY)
        await wait_until_gone(client, E, KEY)
        await wait_until_gone(client, PersistentVolumeClaim, KEY)


@pytest.mark.parametrize("finalizer", [False, True])
async def test_a_name_that_is_taken(cluster: Cluster, client: Client, finalizer: bool) -> None:
    """The operator leaves the PersistentVolumeClaim of another owner alone, and continues when it is deleted."""
    spec = PersistentVolumeClaimSpec(
        access_modes=["ReadWriteOnce"], resources=VolumeResourceRequirements(requests={"storage": Quantity("1G")})
    )
    theirs = await client.create(
        PersistentVolumeClaim(metadata=ObjectMeta(name=KEY.name, namespace="default"), spec=spec)
    )
    await wait_for(client, PersistentVolumeClaim, KEY, lambda found: found.status.phase == "Bound")
    async with operator(cluster, finalizer=finalizer):
        await client.create(evc())
        claim = await until(client, "NameTaken")
        assert (claim.status.size, claim.status.phase, claim.status.volume) == (None, None, None)
        await client.delete(E, KEY)
        await wait_until_gone(client, E, KEY)
        await asyncio.sleep(60)
        assert (await volume_claim(client)).metadata.uid == theirs.metadata.uid
        claim = await client.create(evc())
        await until(client, "NameTaken")
        await client.delete(PersistentVolumeClaim, KEY)
        await until(client, "Bound")
    assert is_controlled_by(await volume_claim(client), claim)


async def test_a_claim_is_made_again(cluster: Cluster, client: Client) -> None:
    """A claim created again under the same name waits until the previous volume is gone and gets a new one."""
    async with operator(cluster) as controller:
        await client.create(evc())
        await until(client, "Bound")
        before = await volume_claim(client)
        await client.delete(E, KEY)
        claim = await client.create(evc("3G"))
        await wait_for(client, E, KEY, lambda found: found.status.size == "3G")
    made = await volume_claim(client)
    assert is_controlled_by(made, claim)
    assert made.metadata.uid != before.metadata.uid
    assert controller.statistics().reconciles.terminal_error == 0


async def test_a_volume_that_somebody_deletes_is_made_again(cluster: Cluster, client: Client) -> None:
    """A volume that a user deletes is created again."""
    async with operator(cluster):
        await client.create(evc())
        await until(client, "Bound")
        before = await volume_claim(client)
        await client.delete(PersistentVolumeClaim, KEY)
        await wait_for(
            client,
            PersistentVolumeClaim,
            KEY,
            lambda found: found.metadata.uid != before.metadata.uid and found.status.phase == "Bound",
        )


async def test_a_status_that_somebody_spoils_is_mended(cluster: Cluster, client: Client) -> None:
    """The operator restores its part of a status that a user changes, and keeps the other fields."""
    async with operator(cluster):
        await client.create(evc())
        before = await until(client, "Bound")
        theirs = {"create_fn": {"size": "2G"}, "kopf": {"progress": {}}}
        await client.patch(E, KEY, MergePatch({"status": {"phase": "Broken", "conditions": None, **theirs}}))
        after = await until(client, "Bound")
        assert after.status.phase == before.status.phase
        await asyncio.sleep(60)
        await resized(client, "4G")
        after = await wait_for(client, E, KEY, lambda found: found.status.size == "4G")
    assert {name: after.to_wire()["status"][name] for name in theirs} == theirs
