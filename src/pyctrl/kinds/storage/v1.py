# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of storage/v1 and their parts."""

from pydantic import Field

from pyctrl.api import Quantity, Time
from pyctrl.kinds._builtin import Kind, Part
from pyctrl.kinds.core.v1 import PersistentVolumeSpec, TopologySelectorTerm
from pyctrl.kinds.meta.v1 import LabelSelector

__all__ = [
    "CSIDriver",
    "CSIDriverSpec",
    "CSINode",
    "CSINodeDriver",
    "CSINodeSpec",
    "CSIStorageCapacity",
    "StorageClass",
    "TokenRequest",
    "VolumeAttachment",
    "VolumeAttachmentSource",
    "VolumeAttachmentSpec",
    "VolumeAttachmentStatus",
    "VolumeAttributesClass",
    "VolumeError",
    "VolumeNodeResources",
]


class TokenRequest(Part):
    """`token_requests` of CSIDriverSpec."""

    audience: str = ""
    expiration_seconds: int | None = None


class CSIDriverSpec(Part):
    """`spec` of CSIDriver."""

    attach_required: bool | None = None
    fs_group_policy: str | None = None
    node_allocatable_update_period_seconds: int | None = None
    pod_info_on_mount: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None
    requires_republish: bool | None = None
    se_linux_mount: bool | None = None
    service_account_token_in_secrets: bool | None = None
    storage_capacity: bool | None = None
    token_requests: list[TokenRequest] = Field(default_factory=list)
    volume_lifecycle_modes: list[str] = Field(default_factory=list)


class CSIDriver(Kind, group="storage.k8s.io", version="v1", plural="csidrivers", scope="Cluster"):
    """CSIDriver of storage.k8s.io/v1."""

    spec: CSIDriverSpec = Field(default_factory=CSIDriverSpec)


class VolumeNodeResources(Part):
    """`allocatable` of CSINodeDriver."""

    count: int | None = None


class CSINodeDriver(Part):
    """`drivers` of CSINodeSpec."""

    allocatable: VolumeNodeResources | None = None
    name: str = ""
    node_id: str = Field(default="", validation_alias="nodeID", serialization_alias="nodeID")
    topology_keys: list[str] = Field(default_factory=list)


class CSINodeSpec(Part):
    """`spec` of CSINode."""

    drivers: list[CSINodeDriver] = Field(default_factory=list)


class CSINode(Kind, group="storage.k8s.io", version="v1", plural="csinodes", scope="Cluster"):
    """CSINode of storage.k8s.io/v1."""

    spec: CSINodeSpec = Field(default_factory=CSINodeSpec)


class CSIStorageCapacity(Kind, group="storage.k8s.io", version="v1", plural="csistoragecapacities"):
    """CSIStorageCapacity of storage.k8s.io/v1."""

    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None
    node_topology: LabelSelector | None = None
    storage_class_name: str = ""


class StorageClass(
    Kind, group="storage.k8s.io", version="v1", plural="storageclasses", scope="Cluster", short_names=("sc",)
):
    """StorageClass of storage.k8s.io/v1."""

    allow_volume_expansion: bool | None = None
    allowed_topologies: list[TopologySelectorTerm] = Field(default_factory=list)
    mount_options: list[str] = Field(default_factory=list)
    parameters: dict[str, str] = Field(default_factory=dict)
    provisioner: str = ""
    reclaim_policy: str | None = None
    volume_binding_mode: str | None = None


class VolumeAttachmentSource(Part):
    """`source` of VolumeAttachmentSpec."""

    inline_volume_spec: PersistentVolumeSpec | None = None
    persistent_volume_name: str | None = None


class VolumeAttachmentSpec(Part):
    """`spec` of VolumeAttachment."""

    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = Field(default_factory=VolumeAttachmentSource)


class VolumeError(Part):
    """`attach_error` of VolumeAttachmentStatus, `detach_error` of VolumeAttachmentStatus."""

    error_code: int | None = None
    message: str | None = None
    time: Time | None = None


class VolumeAttachmentStatus(Part):
    """`status` of VolumeAttachment."""

    attach_error: VolumeError | None = None
    attached: bool = False
    attachment_metadata: dict[str, str] = Field(default_factory=dict)
    detach_error: VolumeError | None = None


class VolumeAttachment(
    Kind, group="storage.k8s.io", version="v1", plural="volumeattachments", scope="Cluster", subresources=("status",)
):
    """VolumeAttachment of storage.k8s.io/v1."""

    spec: VolumeAttachmentSpec = Field(default_factory=VolumeAttachmentSpec)
    status: VolumeAttachmentStatus = Field(default_factory=VolumeAttachmentStatus)


class VolumeAttributesClass(
    Kind, group="storage.k8s.io", version="v1", plural="volumeattributesclasses", scope="Cluster", short_names=("vac",)
):
    """VolumeAttributesClass of storage.k8s.io/v1."""

    driver_name: str = ""
    parameters: dict[str, str] = Field(default_factory=dict)
