"""The decisions of the webhooks without a cluster, and the conversion with one."""

import pytest

import disk
from disk import CONVERSION, Disk, DiskSpec, DiskWebhook, OldDisk, OldDiskSpec
from pyctrl import Client, ObjectMeta, Quantity
from pyctrl.errors import Rejected
from pyctrl.testing import InstallKinds, admission_request
from pyctrl.webhook import check_round_trip


def disk_of(size: str, owner: str = "") -> Disk:
    """Return a Disk."""
    return Disk(metadata=ObjectMeta(name="data"), spec=DiskSpec(size=Quantity(size), owner=owner))


def test_the_owner_is_who_creates_the_disk() -> None:
    """A Disk without an owner belongs to the user of the request; an owner that is set is kept."""
    mine, hers = disk_of("1G"), disk_of("1G", owner="jane")
    for each in (mine, hers):
        DiskWebhook().default(each, admission_request(each, username="joe"))
    assert (mine.spec.owner, hers.spec.owner) == ("joe", "jane")


@pytest.mark.parametrize(("size", "message"), [("30.5G", "must be whole gigabytes"), ("5G", "does not shrink")])
def test_a_change_is_rejected(size: str, message: str) -> None:
    """A size with a fraction and a smaller size are errors of the field spec.size."""
    old, new = disk_of("20G"), disk_of(size)
    with pytest.raises(Rejected, match=message) as rejected:
        DiskWebhook().validate_update(old, new, admission_request(new, old=old))
    assert [cause.field for cause in rejected.value.causes] == ["spec.size"]


def test_both_versions_say_the_same() -> None:
    """A Disk that is converted and converted back is unchanged, from either version."""
    check_round_trip(CONVERSION, disk_of("20G", owner="jane"))
    check_round_trip(CONVERSION, OldDisk(metadata=ObjectMeta(name="data"), spec=OldDiskSpec(gigabytes=20)))


async def test_a_cluster_converts(install_kinds: InstallKinds, client: Client, namespace: str) -> None:
    """An object that is created in v1 is read in v2."""
    await install_kinds(disk)
    metadata = ObjectMeta(name="data", namespace=namespace)
    key = (await client.create(OldDisk(metadata=metadata, spec=OldDiskSpec(gigabytes=20)))).key
    assert (await client.get(Disk, key)).spec.size == Quantity("20G")
