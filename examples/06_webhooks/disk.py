"""Disk: webhooks that complete, check and convert Disks. It has two versions, of which v2 is stored."""

from pyctrl import CustomResource, Model, Quantity
from pyctrl.errors import Rejected
from pyctrl.webhook import AdmissionRequest, Conversion, Defaulter, FieldError, Spoke, Validator, same_fields

GIGABYTE = 10**9


class OldDiskSpec(Model):
    gigabytes: int
    owner: str = ""


class OldDisk(CustomResource[OldDiskSpec], group="example.com", version="v1", kind="Disk"):
    """Disk has a size in gigabytes."""


class DiskSpec(Model):
    size: Quantity
    owner: str = ""


class Disk(CustomResource[DiskSpec], group="example.com", version="v2"):
    """Disk has a size such as 20G."""


class DiskWebhook(Defaulter[Disk], Validator[Disk]):
    def default(self, disk: Disk, request: AdmissionRequest) -> None:
        disk.spec.owner = disk.spec.owner or request.user.username

    def validate_create(self, disk: Disk, request: AdmissionRequest) -> None:
        if int(disk.spec.size) % GIGABYTE:
            raise Rejected(FieldError.invalid("spec.size", disk.spec.size, "must be whole gigabytes, such as 20G"))

    def validate_update(self, old: Disk, new: Disk, request: AdmissionRequest) -> None:
        self.validate_create(new, request)
        if new.spec.size < old.spec.size:
            raise Rejected(FieldError.forbidden("spec.size", f"a disk of {old.spec.size} does not shrink"))


def to_new(old: OldDisk) -> Disk:
    return same_fields(old, Disk, values={"spec.size": Quantity(f"{old.spec.gigabytes}G")})


def to_old(new: Disk) -> OldDisk:
    return same_fields(new, OldDisk, values={"spec.gigabytes": int(new.spec.size) // GIGABYTE})


CONVERSION = Conversion(Disk, Spoke(OldDisk, to_hub=to_new, from_hub=to_old))
