# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""Some kinds of core/v1 and their parts."""

from pydantic import Field

from pyctrl.api import Quantity, Time
from pyctrl.kinds._builtin import Kind, Part
from pyctrl.kinds.core.v1._pods import (
    AWSElasticBlockStoreVolumeSource,
    AzureDiskVolumeSource,
    FCVolumeSource,
    FlockerVolumeSource,
    GCEPersistentDiskVolumeSource,
    HostPathVolumeSource,
    NFSVolumeSource,
    NodeSelector,
    PhotonPersistentDiskVolumeSource,
    PodTemplateSpec,
    PortworxVolumeSource,
    QuobyteVolumeSource,
    VsphereVirtualDiskVolumeSource,
)
from pyctrl.kinds.core.v1._references import ObjectReference, SecretReference

__all__ = [
    "AttachedVolume",
    "AzureFilePersistentVolumeSource",
    "Binding",
    "CSIPersistentVolumeSource",
    "CephFSPersistentVolumeSource",
    "CinderPersistentVolumeSource",
    "ComponentCondition",
    "ComponentStatus",
    "ConfigMapNodeConfigSource",
    "ContainerImage",
    "DaemonEndpoint",
    "FlexPersistentVolumeSource",
    "GlusterfsPersistentVolumeSource",
    "ISCSIPersistentVolumeSource",
    "LocalVolumeSource",
    "Node",
    "NodeAddress",
    "NodeCondition",
    "NodeConfigSource",
    "NodeConfigStatus",
    "NodeDaemonEndpoints",
    "NodeFeatures",
    "NodeRuntimeHandler",
    "NodeRuntimeHandlerFeatures",
    "NodeSpec",
    "NodeStatus",
    "NodeSwapStatus",
    "NodeSystemInfo",
    "PersistentVolume",
    "PersistentVolumeSpec",
    "PersistentVolumeStatus",
    "PodTemplate",
    "RBDPersistentVolumeSource",
    "ReplicationController",
    "ReplicationControllerCondition",
    "ReplicationControllerSpec",
    "ReplicationControllerStatus",
    "ScaleIOPersistentVolumeSource",
    "StorageOSPersistentVolumeSource",
    "Taint",
    "TopologySelectorLabelRequirement",
    "TopologySelectorTerm",
    "VolumeNodeAffinity",
]

__name__ = "pyctrl.kinds.core.v1"  # the module that the classes report


class AttachedVolume(Part):
    """`volumes_attached` of NodeStatus."""

    device_path: str = ""
    name: str = ""


class AzureFilePersistentVolumeSource(Part):
    """`azure_file` of PersistentVolumeSpec."""

    read_only: bool | None = None
    secret_name: str = ""
    secret_namespace: str | None = None
    share_name: str = ""


class Binding(Kind, group="", version="v1", plural="bindings"):
    """Binding of v1."""

    target: ObjectReference = Field(default_factory=ObjectReference)


class CSIPersistentVolumeSource(Part):
    """`csi` of PersistentVolumeSpec."""

    controller_expand_secret_ref: SecretReference | None = None
    controller_publish_secret_ref: SecretReference | None = None
    driver: str = ""
    fs_type: str | None = None
    node_expand_secret_ref: SecretReference | None = None
    node_publish_secret_ref: SecretReference | None = None
    node_stage_secret_ref: SecretReference | None = None
    read_only: bool | None = None
    volume_attributes: dict[str, str] = Field(default_factory=dict)
    volume_handle: str = ""


class CephFSPersistentVolumeSource(Part):
    """`cephfs` of PersistentVolumeSpec."""

    monitors: list[str] = Field(default_factory=list)
    path: str | None = None
    read_only: bool | None = None
    secret_file: str | None = None
    secret_ref: SecretReference | None = None
    user: str | None = None


class CinderPersistentVolumeSource(Part):
    """`cinder` of PersistentVolumeSpec."""

    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: SecretReference | None = None
    volume_id: str = Field(default="", validation_alias="volumeID", serialization_alias="volumeID")


class ComponentCondition(Part):
    """`conditions` of ComponentStatus."""

    error: str | None = None
    message: str | None = None
    status: str = ""
    type: str = ""


class ComponentStatus(Kind, group="", version="v1", plural="componentstatuses", scope="Cluster", short_names=("cs",)):
    """ComponentStatus of v1."""

    conditions: list[ComponentCondition] = Field(default_factory=list)


class ConfigMapNodeConfigSource(Part):
    """`config_map` of NodeConfigSource."""

    kubelet_config_key: str = ""
    name: str = ""
    namespace: str = ""
    resource_version: str | None = None
    uid: str | None = None


class ContainerImage(Part):
    """`images` of NodeStatus."""

    names: list[str] = Field(default_factory=list)
    size_bytes: int | None = None


class DaemonEndpoint(Part):
    """`kubelet_endpoint` of NodeDaemonEndpoints."""

    port: int = Field(default=0, validation_alias="Port", serialization_alias="Port")


class FlexPersistentVolumeSource(Part):
    """`flex_volume` of PersistentVolumeSpec."""

    driver: str = ""
    fs_type: str | None = None
    options: dict[str, str] = Field(default_factory=dict)
    read_only: bool | None = None
    secret_ref: SecretReference | None = None


class GlusterfsPersistentVolumeSource(Part):
    """`glusterfs` of PersistentVolumeSpec."""

    endpoints: str = ""
    endpoints_namespace: str | None = None
    path: str = ""
    read_only: bool | None = None


class ISCSIPersistentVolumeSource(Part):
    """`iscsi` of PersistentVolumeSpec."""

    chap_auth_discovery: bool | None = None
    chap_auth_session: bool | None = None
    fs_type: str | None = None
    initiator_name: str | None = None
    iqn: str = ""
    iscsi_interface: str = "default"
    lun: int = 0
    portals: list[str] = Field(default_factory=list)
    read_only: bool | None = None
    secret_ref: SecretReference | None = None
    target_portal: str = ""


class LocalVolumeSource(Part):
    """`local` of PersistentVolumeSpec."""

    fs_type: str | None = None
    path: str = ""


class NodeConfigSource(Part):
    """`active` of NodeConfigStatus, `assigned` of NodeConfigStatus, `last_known_good` of NodeConfigStatus, …"""

    config_map: ConfigMapNodeConfigSource | None = None


class Taint(Part):
    """`taints` of NodeSpec."""

    effect: str = ""
    key: str = ""
    time_added: Time | None = None
    value: str | None = None


class NodeSpec(Part):
    """`spec` of Node."""

    config_source: NodeConfigSource | None = None
    external_id: str | None = Field(default=None, validation_alias="externalID", serialization_alias="externalID")
    pod_cidr: str | None = Field(default=None, validation_alias="podCIDR", serialization_alias="podCIDR")
    pod_cidrs: list[str] = Field(default_factory=list, validation_alias="podCIDRs", serialization_alias="podCIDRs")
    provider_id: str | None = Field(default=None, validation_alias="providerID", serialization_alias="providerID")
    taints: list[Taint] = Field(default_factory=list)
    unschedulable: bool | None = None


class NodeAddress(Part):
    """`addresses` of NodeStatus."""

    address: str = ""
    type: str = ""


class NodeCondition(Part):
    """`conditions` of NodeStatus."""

    last_heartbeat_time: Time | None = None
    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


class NodeConfigStatus(Part):
    """`config` of NodeStatus."""

    active: NodeConfigSource | None = None
    assigned: NodeConfigSource | None = None
    error: str | None = None
    last_known_good: NodeConfigSource | None = None


class NodeDaemonEndpoints(Part):
    """`daemon_endpoints` of NodeStatus."""

    kubelet_endpoint: DaemonEndpoint = Field(default_factory=DaemonEndpoint)


class NodeFeatures(Part):
    """`features` of NodeStatus."""

    supplemental_groups_policy: bool | None = None


class NodeRuntimeHandlerFeatures(Part):
    """`features` of NodeRuntimeHandler."""

    recursive_read_only_mounts: bool | None = None
    user_namespaces: bool | None = None


class NodeRuntimeHandler(Part):
    """`runtime_handlers` of NodeStatus."""

    features: NodeRuntimeHandlerFeatures | None = None
    name: str = ""


class NodeSwapStatus(Part):
    """`swap` of NodeSystemInfo."""

    capacity: int | None = None


class NodeSystemInfo(Part):
    """`node_info` of NodeStatus."""

    architecture: str = ""
    boot_id: str = Field(default="", validation_alias="bootID", serialization_alias="bootID")
    container_runtime_version: str = ""
    kernel_version: str = ""
    kube_proxy_version: str = ""
    kubelet_version: str = ""
    machine_id: str = Field(default="", validation_alias="machineID", serialization_alias="machineID")
    operating_system: str = ""
    os_image: str = ""
    swap: NodeSwapStatus | None = None
    system_uuid: str = Field(default="", validation_alias="systemUUID", serialization_alias="systemUUID")


class NodeStatus(Part):
    """`status` of Node."""

    addresses: list[NodeAddress] = Field(default_factory=list)
    allocatable: dict[str, Quantity] = Field(default_factory=dict)
    capacity: dict[str, Quantity] = Field(default_factory=dict)
    conditions: list[NodeCondition] = Field(default_factory=list)
    config: NodeConfigStatus | None = None
    daemon_endpoints: NodeDaemonEndpoints = Field(default_factory=NodeDaemonEndpoints)
    declared_features: list[str] = Field(default_factory=list)
    features: NodeFeatures | None = None
    images: list[ContainerImage] = Field(default_factory=list)
    node_info: NodeSystemInfo = Field(default_factory=NodeSystemInfo)
    phase: str | None = None
    runtime_handlers: list[NodeRuntimeHandler] = Field(default_factory=list)
    volumes_attached: list[AttachedVolume] = Field(default_factory=list)
    volumes_in_use: list[str] = Field(default_factory=list)


class Node(
    Kind,
    group="",
    version="v1",
    plural="nodes",
    scope="Cluster",
    short_names=("no",),
    subresources=(
        "proxy",
        "status",
    ),
):
    """Node of v1."""

    spec: NodeSpec = Field(default_factory=NodeSpec)
    status: NodeStatus = Field(default_factory=NodeStatus)


class RBDPersistentVolumeSource(Part):
    """`rbd` of PersistentVolumeSpec."""

    fs_type: str | None = None
    image: str = ""
    keyring: str = "/etc/ceph/keyring"
    monitors: list[str] = Field(default_factory=list)
    pool: str = "rbd"
    read_only: bool | None = None
    secret_ref: SecretReference | None = None
    user: str = "admin"


class ScaleIOPersistentVolumeSource(Part):
    """`scale_io` of PersistentVolumeSpec."""

    fs_type: str = "xfs"
    gateway: str = ""
    protection_domain: str | None = None
    read_only: bool | None = None
    secret_ref: SecretReference = Field(default_factory=SecretReference)
    ssl_enabled: bool | None = None
    storage_mode: str = "ThinProvisioned"
    storage_pool: str | None = None
    system: str = ""
    volume_name: str | None = None


class StorageOSPersistentVolumeSource(Part):
    """`storageos` of PersistentVolumeSpec."""

    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: ObjectReference | None = None
    volume_name: str | None = None
    volume_namespace: str | None = None


class VolumeNodeAffinity(Part):
    """`node_affinity` of PersistentVolumeSpec."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(Part):
    """`spec` of PersistentVolume, `inline_volume_spec` of VolumeAttachmentSource."""

    access_modes: list[str] = Field(default_factory=list)
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFilePersistentVolumeSource | None = None
    capacity: dict[str, Quantity] = Field(default_factory=dict)
    cephfs: CephFSPersistentVolumeSource | None = None
    cinder: CinderPersistentVolumeSource | None = None
    claim_ref: ObjectReference | None = None
    csi: CSIPersistentVolumeSource | None = None
    fc: FCVolumeSource | None = None
    flex_volume: FlexPersistentVolumeSource | None = None
    flocker: FlockerVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    glusterfs: GlusterfsPersistentVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    iscsi: ISCSIPersistentVolumeSource | None = None
    local: LocalVolumeSource | None = None
    mount_options: list[str] = Field(default_factory=list)
    nfs: NFSVolumeSource | None = None
    node_affinity: VolumeNodeAffinity | None = None
    persistent_volume_reclaim_policy: str | None = None
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    quobyte: QuobyteVolumeSource | None = None
    rbd: RBDPersistentVolumeSource | None = None
    scale_io: ScaleIOPersistentVolumeSource | None = Field(
        default=None, validation_alias="scaleIO", serialization_alias="scaleIO"
    )
    storage_class_name: str | None = None
    storageos: StorageOSPersistentVolumeSource | None = None
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None


class PersistentVolumeStatus(Part):
    """`status` of PersistentVolume."""

    last_phase_transition_time: Time | None = None
    message: str | None = None
    phase: str | None = None
    reason: str | None = None


class PersistentVolume(
    Kind,
    group="",
    version="v1",
    plural="persistentvolumes",
    scope="Cluster",
    short_names=("pv",),
    subresources=("status",),
):
    """PersistentVolume of v1."""

    spec: PersistentVolumeSpec = Field(default_factory=PersistentVolumeSpec)
    status: PersistentVolumeStatus = Field(default_factory=PersistentVolumeStatus)


class PodTemplate(Kind, group="", version="v1", plural="podtemplates"):
    """PodTemplate of v1."""

    template: PodTemplateSpec = Field(default_factory=PodTemplateSpec)


class ReplicationControllerSpec(Part):
    """`spec` of ReplicationController."""

    min_ready_seconds: int = 0
    replicas: int = 1
    selector: dict[str, str] = Field(default_factory=dict)
    template: PodTemplateSpec | None = None


class ReplicationControllerCondition(Part):
    """`conditions` of ReplicationControllerStatus."""

    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


class ReplicationControllerStatus(Part):
    """`status` of ReplicationController."""

    available_replicas: int | None = None
    conditions: list[ReplicationControllerCondition] = Field(default_factory=list)
    fully_labeled_replicas: int | None = None
    observed_generation: int | None = None
    ready_replicas: int | None = None
    replicas: int = 0


class ReplicationController(
    Kind,
    group="",
    version="v1",
    plural="replicationcontrollers",
    short_names=("rc",),
    categories=("all",),
    subresources=(
        "scale",
        "status",
    ),
):
    """ReplicationController of v1."""

    spec: ReplicationControllerSpec = Field(default_factory=ReplicationControllerSpec)
    status: ReplicationControllerStatus = Field(default_factory=ReplicationControllerStatus)


class TopologySelectorLabelRequirement(Part):
    """`match_label_expressions` of TopologySelectorTerm."""

    key: str = ""
    values: list[str] = Field(default_factory=list)


class TopologySelectorTerm(Part):
    """`allowed_topologies` of StorageClass."""

    match_label_expressions: list[TopologySelectorLabelRequirement] = Field(default_factory=list)
