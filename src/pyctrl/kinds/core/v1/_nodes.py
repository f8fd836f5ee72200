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
    """AttachedVolume describes a volume attached to a node"""

    device_path: str = ""
    """DevicePath represents the device path where the volume should be available"""
    name: str = ""
    """Name of the attached volume"""


class AzureFilePersistentVolumeSource(Part):
    """AzureFile represents an Azure File Service mount on the host and bind mount to the pod."""

    read_only: bool | None = None
    """readOnly defaults to false (read/write). ReadOnly here will force the ReadOnly setting in VolumeMounts."""
    secret_name: str = ""
    """secretName is the name of secret that contains Azure Storage Account Name and Key"""
    secret_namespace: str | None = None
    """secretNamespace is the namespace of the secret that contains Azure Storage Account Name and Key default is the
    same as the Pod
    """
    share_name: str = ""
    """shareName is the azure Share Name"""


class Binding(Kind, group="", version="v1", plural="bindings"):
    """Binding ties one object to another; for example, a pod is bound to a node by a scheduler."""

    target: ObjectReference = Field(default_factory=ObjectReference)
    """The target object that you want to bind to the standard object."""


class CSIPersistentVolumeSource(Part):
    """Represents storage that is managed by an external CSI volume driver"""

    controller_expand_secret_ref: SecretReference | None = None
    """controllerExpandSecretRef is a reference to the secret object containing sensitive information to pass to the
    CSI driver to complete the CSI ControllerExpandVolume call. This field is optional, and may be empty if no
    secret is required. If the secret object contains more than one secret, all secrets are passed.
    """
    controller_publish_secret_ref: SecretReference | None = None
    """controllerPublishSecretRef is a reference to the secret object containing sensitive information to pass to the
    CSI driver to complete the CSI ControllerPublishVolume and ControllerUnpublishVolume calls. This field is
    optional, and may be empty if no secret is required. If the secret object contains more than one secret, all
    secrets are passed.
    """
    driver: str = ""
    """driver is the name of the driver to use for this volume. Required."""
    fs_type: str | None = None
    """fsType to mount. Must be a filesystem type supported by the host operating system. Ex. "ext4", "xfs", "ntfs"."""
    node_expand_secret_ref: SecretReference | None = None
    """nodeExpandSecretRef is a reference to the secret object containing sensitive information to pass to the CSI
    driver to complete the CSI NodeExpandVolume call. This field is optional, may be omitted if no secret is
    required. If the secret object contains more than one secret, all secrets are passed.
    """
    node_publish_secret_ref: SecretReference | None = None
    """nodePublishSecretRef is a reference to the secret object containing sensitive information to pass to the CSI
    driver to complete the CSI NodePublishVolume and NodeUnpublishVolume calls. This field is optional, and may be
    empty if no secret is required. If the secret object contains more than one secret, all secrets are passed.
    """
    node_stage_secret_ref: SecretReference | None = None
    """nodeStageSecretRef is a reference to the secret object containing sensitive information to pass to the CSI
    driver to complete the CSI NodeStageVolume and NodeStageVolume and NodeUnstageVolume calls. This field is
    optional, and may be empty if no secret is required. If the secret object contains more than one secret, all
    secrets are passed.
    """
    read_only: bool | None = None
    """readOnly value to pass to ControllerPublishVolumeRequest. Defaults to false (read/write)."""
    volume_attributes: dict[str, str] = Field(default_factory=dict)
    """volumeAttributes of the volume to publish."""
    volume_handle: str = ""
    """volumeHandle is the unique volume name returned by the CSI volume plugin’s CreateVolume to refer to the volume
    on all subsequent calls. Required.
    """


class CephFSPersistentVolumeSource(Part):
    """Represents a Ceph Filesystem mount that lasts the lifetime of a pod Cephfs volumes do not support ownership
    management or SELinux relabeling.
    """

    monitors: list[str] = Field(default_factory=list)
    """monitors is Required: Monitors is a collection of Ceph monitors More info:
    https://examples.k8s.io/volumes/cephfs/README.md#how-to-use-it
    """
    path: str | None = None
    """path is Optional: Used as the mounted root, rather than the full Ceph tree, default is /"""
    read_only: bool | None = None
    """readOnly is Optional: Defaults to false (read/write). ReadOnly here will force the ReadOnly setting in
    VolumeMounts. More info: https://examples.k8s.io/volumes/cephfs/README.md#how-to-use-it
    """
    secret_file: str | None = None
    """secretFile is Optional: SecretFile is the path to key ring for User, default is /etc/ceph/user.secret More
    info: https://examples.k8s.io/volumes/cephfs/README.md#how-to-use-it
    """
    secret_ref: SecretReference | None = None
    """secretRef is Optional: SecretRef is reference to the authentication secret for User, default is empty. More
    info: https://examples.k8s.io/volumes/cephfs/README.md#how-to-use-it
    """
    user: str | None = None
    """user is Optional: User is the rados user name, default is admin More info:
    https://examples.k8s.io/volumes/cephfs/README.md#how-to-use-it
    """


class CinderPersistentVolumeSource(Part):
    """Represents a cinder volume resource in Openstack. A Cinder volume must exist before mounting to a container.
    The volume must also be in the same region as the kubelet. Cinder volumes support ownership management and
    SELinux relabeling.
    """

    fs_type: str | None = None
    """fsType Filesystem type to mount. Must be a filesystem type supported by the host operating system. Examples:
    "ext4", "xfs", "ntfs". Implicitly inferred to be "ext4" if unspecified. More info:
    https://examples.k8s.io/mysql-cinder-pd/README.md
    """
    read_only: bool | None = None
    """readOnly is Optional: Defaults to false (read/write). ReadOnly here will force the ReadOnly setting in
    VolumeMounts. More info: https://examples.k8s.io/mysql-cinder-pd/README.md
    """
    secret_ref: SecretReference | None = None
    """secretRef is Optional: points to a secret object containing parameters used to connect to OpenStack."""
    volume_id: str = Field(default="", validation_alias="volumeID", serialization_alias="volumeID")
    """volumeID used to identify the volume in cinder. More info: https://examples.k8s.io/mysql-cinder-pd/README.md"""


class ComponentCondition(Part):
    """Information about the condition of a component."""

    error: str | None = None
    """Condition error code for a component. For example, a health check error code."""
    message: str | None = None
    """Message about the condition for a component. For example, information about a health check."""
    status: str = ""
    """Status of the condition for a component. Valid values for "Healthy": "True", "False", or "Unknown"."""
    type: str = ""
    """Type of condition for a component. Valid value: "Healthy\""""


class ComponentStatus(Kind, group="", version="v1", plural="componentstatuses", scope="Cluster", short_names=("cs",)):
    """ComponentStatus (and ComponentStatusList) holds the cluster validation info. Deprecated: This API is
    deprecated in v1.19+
    """

    conditions: list[ComponentCondition] = Field(default_factory=list)
    """List of component conditions observed"""


class ConfigMapNodeConfigSource(Part):
    """ConfigMapNodeConfigSource contains the information to reference a ConfigMap as a config source for the Node.
    This API is deprecated since 1.22:
    https://git.k8s.io/enhancements/keps/sig-node/281-dynamic-kubelet-configuration
    """

    kubelet_config_key: str = ""
    """KubeletConfigKey declares which key of the referenced ConfigMap corresponds to the KubeletConfiguration
    structure This field is required in all cases.
    """
    name: str = ""
    """Name is the metadata.name of the referenced ConfigMap. This field is required in all cases."""
    namespace: str = ""
    """Namespace is the metadata.namespace of the referenced ConfigMap. This field is required in all cases."""
    resource_version: str | None = None
    """ResourceVersion is the metadata.ResourceVersion of the referenced ConfigMap. This field is forbidden in
    Node.Spec, and required in Node.Status.
    """
    uid: str | None = None
    """UID is the metadata.UID of the referenced ConfigMap. This field is forbidden in Node.Spec, and required in
    Node.Status.
    """


class ContainerImage(Part):
    """Describe a container image"""

    names: list[str] = Field(default_factory=list)
    """Names by which this image is known. e.g. ["kubernetes.example/hyperkube:v1.0.7",
    "cloud-vendor.registry.example/cloud-vendor/hyperkube:v1.0.7"]
    """
    size_bytes: int | None = None
    """The size of the image in bytes."""


class DaemonEndpoint(Part):
    """DaemonEndpoint contains information about a single Daemon endpoint."""

    port: int = Field(default=0, validation_alias="Port", serialization_alias="Port")
    """Port number of the given endpoint."""


class FlexPersistentVolumeSource(Part):
    """FlexPersistentVolumeSource represents a generic persistent volume resource that is provisioned/attached using
    an exec based plugin.
    """

    driver: str = ""
    """driver is the name of the driver to use for this volume."""
    fs_type: str | None = None
    """fsType is the Filesystem type to mount. Must be a filesystem type supported by the host operating system. Ex.
    "ext4", "xfs", "ntfs". The default filesystem depends on FlexVolume script.
    """
    options: dict[str, str] = Field(default_factory=dict)
    """options is Optional: this field holds extra command options if any."""
    read_only: bool | None = None
    """readOnly is Optional: defaults to false (read/write). ReadOnly here will force the ReadOnly setting in
    VolumeMounts.
    """
    secret_ref: SecretReference | None = None
    """secretRef is Optional: SecretRef is reference to the secret object containing sensitive information to pass to
    the plugin scripts. This may be empty if no secret object is specified. If the secret object contains more
    than one secret, all secrets are passed to the plugin scripts.
    """


class GlusterfsPersistentVolumeSource(Part):
    """Represents a Glusterfs mount that lasts the lifetime of a pod. Glusterfs volumes do not support ownership
    management or SELinux relabeling.
    """

    endpoints: str = ""
    """endpoints is the endpoint name that details Glusterfs topology. More info:
    https://examples.k8s.io/volumes/glusterfs/README.md#create-a-pod
    """
    endpoints_namespace: str | None = None
    """endpointsNamespace is the namespace that contains Glusterfs endpoint. If this field is empty, the
    EndpointNamespace defaults to the same namespace as the bound PVC. More info:
    https://examples.k8s.io/volumes/glusterfs/README.md#create-a-pod
    """
    path: str = ""
    """path is the Glusterfs volume path. More info: https://examples.k8s.io/volumes/glusterfs/README.md#create-a-pod"""
    read_only: bool | None = None
    """readOnly here will force the Glusterfs volume to be mounted with read-only permissions. Defaults to false.
    More info: https://examples.k8s.io/volumes/glusterfs/README.md#create-a-pod
    """


class ISCSIPersistentVolumeSource(Part):
    """ISCSIPersistentVolumeSource represents an ISCSI disk. ISCSI volumes can only be mounted as read/write once.
    ISCSI volumes support ownership management and SELinux relabeling.
    """

    chap_auth_discovery: bool | None = None
    """chapAuthDiscovery defines whether support iSCSI Discovery CHAP authentication"""
    chap_auth_session: bool | None = None
    """chapAuthSession defines whether support iSCSI Session CHAP authentication"""
    fs_type: str | None = None
    """fsType is the filesystem type of the volume that you want to mount. Tip: Ensure that the filesystem type is
    supported by the host operating system. Examples: "ext4", "xfs", "ntfs". Implicitly inferred to be "ext4" if
    unspecified. More info: https://kubernetes.io/docs/concepts/storage/volumes#iscsi
    """
    initiator_name: str | None = None
    """initiatorName is the custom iSCSI Initiator Name. If initiatorName is specified with iscsiInterface
    simultaneously, new iSCSI interface <target portal>:<volume name> will be created for the connection.
    """
    iqn: str = ""
    """iqn is Target iSCSI Qualified Name."""
    iscsi_interface: str = "default"
    """iscsiInterface is the interface Name that uses an iSCSI transport. Defaults to 'default' (tcp)."""
    lun: int = 0
    """lun is iSCSI Target Lun number."""
    portals: list[str] = Field(default_factory=list)
    """portals is the iSCSI Target Portal List. The Portal is either an IP or ip_addr:port if the port is other than
    default (typically TCP ports 860 and 3260).
    """
    read_only: bool | None = None
    """readOnly here will force the ReadOnly setting in VolumeMounts. Defaults to false."""
    secret_ref: SecretReference | None = None
    """secretRef is the CHAP Secret for iSCSI target and initiator authentication"""
    target_portal: str = ""
    """targetPortal is iSCSI Target Portal. The Portal is either an IP or ip_addr:port if the port is other than
    default (typically TCP ports 860 and 3260).
    """


class LocalVolumeSource(Part):
    """Local represents directly-attached storage with node affinity"""

    fs_type: str | None = None
    """fsType is the filesystem type to mount. It applies only when the Path is a block device. Must be a filesystem
    type supported by the host operating system. Ex. "ext4", "xfs", "ntfs". The default value is to auto-select a
    filesystem if unspecified.
    """
    path: str = ""
    """path of the full path to the volume on the node. It can be either a directory or block device (disk,
    partition, ...).
    """


class NodeConfigSource(Part):
    """NodeConfigSource specifies a source of node configuration. Exactly one subfield (excluding metadata) must be
    non-nil. This API is deprecated since 1.22
    """

    config_map: ConfigMapNodeConfigSource | None = None
    """ConfigMap is a reference to a Node's ConfigMap"""


class Taint(Part):
    """The node this Taint is attached to has the "effect" on any pod that does not tolerate the Taint."""

    effect: str = ""
    """Required. The effect of the taint on pods that do not tolerate the taint. Valid effects are NoSchedule,
    PreferNoSchedule and NoExecute.

    Possible enum values:
     - `"NoExecute"` Evict any already-running pods that do not tolerate the taint. Currently enforced by
       NodeController.
     - `"NoSchedule"` Do not allow new pods to schedule onto the node unless they tolerate the taint, but allow
       all pods submitted to Kubelet without going through the scheduler to start, and allow all already-running
       pods to continue running. Enforced by the scheduler.
     - `"PreferNoSchedule"` Like TaintEffectNoSchedule, but the scheduler tries not to schedule new pods onto the
       node, rather than prohibiting new pods from scheduling onto the node entirely. Enforced by the scheduler.
    """
    key: str = ""
    """Required. The taint key to be applied to a node."""
    time_added: Time | None = None
    """TimeAdded represents the time at which the taint was added."""
    value: str | None = None
    """The taint value corresponding to the taint key."""


class NodeSpec(Part):
    """NodeSpec describes the attributes that a node is created with."""

    config_source: NodeConfigSource | None = None
    """Deprecated: Previously used to specify the source of the node's configuration for the DynamicKubeletConfig
    feature. This feature is removed.
    """
    external_id: str | None = Field(default=None, validation_alias="externalID", serialization_alias="externalID")
    """Deprecated. Not all kubelets will set this field. Remove field after 1.13. see: https://issues.k8s.io/61966"""
    pod_cidr: str | None = Field(default=None, validation_alias="podCIDR", serialization_alias="podCIDR")
    """PodCIDR represents the pod IP range assigned to the node."""
    pod_cidrs: list[str] = Field(default_factory=list, validation_alias="podCIDRs", serialization_alias="podCIDRs")
    """podCIDRs represents the IP ranges assigned to the node for usage by Pods on that node. If this field is
    specified, the 0th entry must match the podCIDR field. It may contain at most 1 value for each of IPv4 and
    IPv6.
    """
    provider_id: str | None = Field(default=None, validation_alias="providerID", serialization_alias="providerID")
    """ID of the node assigned by the cloud provider in the format: <ProviderName>://<ProviderSpecificNodeID>"""
    taints: list[Taint] = Field(default_factory=list)
    """If specified, the node's taints."""
    unschedulable: bool | None = None
    """Unschedulable controls node schedulability of new pods. By default, node is schedulable. More info:
    https://kubernetes.io/docs/concepts/nodes/node/#manual-node-administration
    """


class NodeAddress(Part):
    """NodeAddress contains information for the node's address."""

    address: str = ""
    """The node address."""
    type: str = ""
    """Node address type, one of Hostname, ExternalIP or InternalIP."""


class NodeCondition(Part):
    """NodeCondition contains condition information for a node."""

    last_heartbeat_time: Time | None = None
    """Last time we got an update on a given condition."""
    last_transition_time: Time | None = None
    """Last time the condition transit from one status to another."""
    message: str | None = None
    """Human readable message indicating details about last transition."""
    reason: str | None = None
    """(brief) reason for the condition's last transition."""
    status: str = ""
    """Status of the condition, one of True, False, Unknown."""
    type: str = ""
    """Type of node condition."""


class NodeConfigStatus(Part):
    """NodeConfigStatus describes the status of the config assigned by Node.Spec.ConfigSource."""

    active: NodeConfigSource | None = None
    """Active reports the checkpointed config the node is actively using. Active will represent either the current
    version of the Assigned config, or the current LastKnownGood config, depending on whether attempting to use
    the Assigned config results in an error.
    """
    assigned: NodeConfigSource | None = None
    """Assigned reports the checkpointed config the node will try to use. When Node.Spec.ConfigSource is updated, the
    node checkpoints the associated config payload to local disk, along with a record indicating intended config.
    The node refers to this record to choose its config checkpoint, and reports this record in Assigned. Assigned
    only updates in the status after the record has been checkpointed to disk. When the Kubelet is restarted, it
    tries to make the Assigned config the Active config by loading and validating the checkpointed payload
    identified by Assigned.
    """
    error: str | None = None
    """Error describes any problems reconciling the Spec.ConfigSource to the Active config. Errors may occur, for
    example, attempting to checkpoint Spec.ConfigSource to the local Assigned record, attempting to checkpoint the
    payload associated with Spec.ConfigSource, attempting to load or validate the Assigned config, etc. Errors may
    occur at different points while syncing config. Earlier errors (e.g. download or checkpointing errors) will
    not result in a rollback to LastKnownGood, and may resolve across Kubelet retries. Later errors (e.g. loading
    or validating a checkpointed config) will result in a rollback to LastKnownGood. In the latter case, it is
    usually possible to resolve the error by fixing the config assigned in Spec.ConfigSource. You can find
    additional information for debugging by searching the error message in the Kubelet log. Error is a
    human-readable description of the error state; machines can check whether or not Error is empty, but should
    not rely on the stability of the Error text across Kubelet versions.
    """
    last_known_good: NodeConfigSource | None = None
    """LastKnownGood reports the checkpointed config the node will fall back to when it encounters an error
    attempting to use the Assigned config. The Assigned config becomes the LastKnownGood config when the node
    determines that the Assigned config is stable and correct. This is currently implemented as a 10-minute soak
    period starting when the local record of Assigned config is updated. If the Assigned config is Active at the
    end of this period, it becomes the LastKnownGood. Note that if Spec.ConfigSource is reset to nil (use local
    defaults), the LastKnownGood is also immediately reset to nil, because the local default config is always
    assumed good. You should not make assumptions about the node's method of determining config stability and
    correctness, as this may change or become configurable in the future.
    """


class NodeDaemonEndpoints(Part):
    """NodeDaemonEndpoints lists ports opened by daemons running on the Node."""

    kubelet_endpoint: DaemonEndpoint = Field(default_factory=DaemonEndpoint)
    """Endpoint on which Kubelet is listening."""


class NodeFeatures(Part):
    """NodeFeatures describes the set of features implemented by the CRI implementation. The features contained in
    the NodeFeatures should depend only on the cri implementation independent of runtime handlers.
    """

    supplemental_groups_policy: bool | None = None
    """SupplementalGroupsPolicy is set to true if the runtime supports SupplementalGroupsPolicy and ContainerUser."""


class NodeRuntimeHandlerFeatures(Part):
    """NodeRuntimeHandlerFeatures is a set of features implemented by the runtime handler."""

    recursive_read_only_mounts: bool | None = None
    """RecursiveReadOnlyMounts is set to true if the runtime handler supports RecursiveReadOnlyMounts."""
    user_namespaces: bool | None = None
    """UserNamespaces is set to true if the runtime handler supports UserNamespaces, including for volumes."""


class NodeRuntimeHandler(Part):
    """NodeRuntimeHandler is a set of runtime handler information."""

    features: NodeRuntimeHandlerFeatures | None = None
    """Supported features."""
    name: str = ""
    """Runtime handler name. Empty for the default runtime handler."""


class NodeSwapStatus(Part):
    """NodeSwapStatus represents swap memory information."""

    capacity: int | None = None
    """Total amount of swap memory in bytes."""


class NodeSystemInfo(Part):
    """NodeSystemInfo is a set of ids/uuids to uniquely identify the node."""

    architecture: str = ""
    """The Architecture reported by the node"""
    boot_id: str = Field(default="", validation_alias="bootID", serialization_alias="bootID")
    """Boot ID reported by the node."""
    container_runtime_version: str = ""
    """ContainerRuntime Version reported by the node through runtime remote API (e.g. containerd://1.4.2)."""
    kernel_version: str = ""
    """Kernel Version reported by the node from 'uname -r' (e.g. 3.16.0-0.bpo.4-amd64)."""
    kube_proxy_version: str = ""
    """Deprecated: KubeProxy Version reported by the node."""
    kubelet_version: str = ""
    """Kubelet Version reported by the node."""
    machine_id: str = Field(default="", validation_alias="machineID", serialization_alias="machineID")
    """MachineID reported by the node. For unique machine identification in the cluster this field is preferred.
    Learn more from man(5) machine-id: http://man7.org/linux/man-pages/man5/machine-id.5.html
    """
    operating_system: str = ""
    """The Operating System reported by the node"""
    os_image: str = ""
    """OS Image reported by the node from /etc/os-release (e.g. Debian GNU/Linux 7 (wheezy))."""
    swap: NodeSwapStatus | None = None
    """Swap Info reported by the node."""
    system_uuid: str = Field(default="", validation_alias="systemUUID", serialization_alias="systemUUID")
    """SystemUUID reported by the node. For unique machine identification MachineID is preferred. This field is
    specific to Red Hat hosts
    https://access.redhat.com/documentation/en-us/red_hat_subscription_management/1/html/rhsm/uuid
    """


class NodeStatus(Part):
    """NodeStatus is information about the current status of a node."""

    addresses: list[NodeAddress] = Field(default_factory=list)
    """List of addresses reachable to the node. Queried from cloud provider, if available. More info:
    https://kubernetes.io/docs/reference/node/node-status/#addresses Note: This field is declared as mergeable,
    but the merge key is not sufficiently unique, which can cause data corruption when it is merged. Callers
    should instead use a full-replacement patch. See https://pr.k8s.io/79391 for an example. Consumers should
    assume that addresses can change during the lifetime of a Node. However, there are some exceptions where this
    may not be possible, such as Pods that inherit a Node's address in its own status or consumers of the downward
    API (status.hostIP).
    """
    allocatable: dict[str, Quantity] = Field(default_factory=dict)
    """Allocatable represents the resources of a node that are available for scheduling. Defaults to Capacity."""
    capacity: dict[str, Quantity] = Field(default_factory=dict)
    """Capacity represents the total resources of a node. More info:
    https://kubernetes.io/docs/reference/node/node-status/#capacity
    """
    conditions: list[NodeCondition] = Field(default_factory=list)
    """Conditions is an array of current observed node conditions. More info:
    https://kubernetes.io/docs/reference/node/node-status/#condition
    """
    config: NodeConfigStatus | None = None
    """Status of the config assigned to the node via the dynamic Kubelet config feature."""
    daemon_endpoints: NodeDaemonEndpoints = Field(default_factory=NodeDaemonEndpoints)
    """Endpoints of daemons running on the Node."""
    declared_features: list[str] = Field(default_factory=list)
    """DeclaredFeatures represents the features related to feature gates that are declared by the node."""
    features: NodeFeatures | None = None
    """Features describes the set of features implemented by the CRI implementation."""
    images: list[ContainerImage] = Field(default_factory=list)
    """List of container images on this node"""
    node_info: NodeSystemInfo = Field(default_factory=NodeSystemInfo)
    """Set of ids/uuids to uniquely identify the node. More info:
    https://kubernetes.io/docs/reference/node/node-status/#info
    """
    phase: str | None = None
    """NodePhase is the recently observed lifecycle phase of the node. More info:
    https://kubernetes.io/docs/concepts/nodes/node/#phase The field is never populated, and now is deprecated.

    Possible enum values:
     - `"Pending"` means the node has been created/added by the system, but not configured.
     - `"Running"` means the node has been configured and has Kubernetes components running.
     - `"Terminated"` means the node has been removed from the cluster.
    """
    runtime_handlers: list[NodeRuntimeHandler] = Field(default_factory=list)
    """The available runtime handlers."""
    volumes_attached: list[AttachedVolume] = Field(default_factory=list)
    """List of volumes that are attached to the node."""
    volumes_in_use: list[str] = Field(default_factory=list)
    """List of attachable volumes in use (mounted) by the node."""


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
    """Node is a worker node in Kubernetes. Each node will have a unique identifier in the cache (i.e. in etcd)."""

    spec: NodeSpec = Field(default_factory=NodeSpec)
    """Spec defines the behavior of a node.
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status
    """
    status: NodeStatus = Field(default_factory=NodeStatus)
    """Most recently observed status of the node. Populated by the system. Read-only. More info:
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status
    """


class RBDPersistentVolumeSource(Part):
    """Represents a Rados Block Device mount that lasts the lifetime of a pod. RBD volumes support ownership
    management and SELinux relabeling.
    """

    fs_type: str | None = None
    """fsType is the filesystem type of the volume that you want to mount. Tip: Ensure that the filesystem type is
    supported by the host operating system. Examples: "ext4", "xfs", "ntfs". Implicitly inferred to be "ext4" if
    unspecified. More info: https://kubernetes.io/docs/concepts/storage/volumes#rbd
    """
    image: str = ""
    """image is the rados image name. More info: https://examples.k8s.io/volumes/rbd/README.md#how-to-use-it"""
    keyring: str = "/etc/ceph/keyring"
    """keyring is the path to key ring for RBDUser. Default is /etc/ceph/keyring. More info:
    https://examples.k8s.io/volumes/rbd/README.md#how-to-use-it
    """
    monitors: list[str] = Field(default_factory=list)
    """monitors is a collection of Ceph monitors. More info:
    https://examples.k8s.io/volumes/rbd/README.md#how-to-use-it
    """
    pool: str = "rbd"
    """pool is the rados pool name. Default is rbd. More info:
    https://examples.k8s.io/volumes/rbd/README.md#how-to-use-it
    """
    read_only: bool | None = None
    """readOnly here will force the ReadOnly setting in VolumeMounts. Defaults to false. More info:
    https://examples.k8s.io/volumes/rbd/README.md#how-to-use-it
    """
    secret_ref: SecretReference | None = None
    """secretRef is name of the authentication secret for RBDUser. If provided overrides keyring. Default is nil.
    More info: https://examples.k8s.io/volumes/rbd/README.md#how-to-use-it
    """
    user: str = "admin"
    """user is the rados user name. Default is admin. More info:
    https://examples.k8s.io/volumes/rbd/README.md#how-to-use-it
    """


class ScaleIOPersistentVolumeSource(Part):
    """ScaleIOPersistentVolumeSource represents a persistent ScaleIO volume"""

    fs_type: str = "xfs"
    """fsType is the filesystem type to mount. Must be a filesystem type supported by the host operating system. Ex.
    "ext4", "xfs", "ntfs". Default is "xfs"
    """
    gateway: str = ""
    """gateway is the host address of the ScaleIO API Gateway."""
    protection_domain: str | None = None
    """protectionDomain is the name of the ScaleIO Protection Domain for the configured storage."""
    read_only: bool | None = None
    """readOnly defaults to false (read/write). ReadOnly here will force the ReadOnly setting in VolumeMounts."""
    secret_ref: SecretReference = Field(default_factory=SecretReference)
    """secretRef references to the secret for ScaleIO user and other sensitive information. If this is not provided,
    Login operation will fail.
    """
    ssl_enabled: bool | None = None
    """sslEnabled is the flag to enable/disable SSL communication with Gateway, default false"""
    storage_mode: str = "ThinProvisioned"
    """storageMode indicates whether the storage for a volume should be ThickProvisioned or ThinProvisioned. Default
    is ThinProvisioned.
    """
    storage_pool: str | None = None
    """storagePool is the ScaleIO Storage Pool associated with the protection domain."""
    system: str = ""
    """system is the name of the storage system as configured in ScaleIO."""
    volume_name: str | None = None
    """volumeName is the name of a volume already created in the ScaleIO system that is associated with this volume
    source.
    """


class StorageOSPersistentVolumeSource(Part):
    """Represents a StorageOS persistent volume resource."""

    fs_type: str | None = None
    """fsType is the filesystem type to mount. Must be a filesystem type supported by the host operating system. Ex.
    "ext4", "xfs", "ntfs". Implicitly inferred to be "ext4" if unspecified.
    """
    read_only: bool | None = None
    """readOnly defaults to false (read/write). ReadOnly here will force the ReadOnly setting in VolumeMounts."""
    secret_ref: ObjectReference | None = None
    """secretRef specifies the secret to use for obtaining the StorageOS API credentials.  If not specified, default
    values will be attempted.
    """
    volume_name: str | None = None
    """volumeName is the human-readable name of the StorageOS volume.  Volume names are only unique within a
    namespace.
    """
    volume_namespace: str | None = None
    """volumeNamespace specifies the scope of the volume within StorageOS.  If no namespace is specified then the
    Pod's namespace will be used.  This allows the Kubernetes name scoping to be mirrored within StorageOS for
    tighter integration. Set VolumeName to any name to override the default behaviour. Set to "default" if you are
    not using namespaces within StorageOS. Namespaces that do not pre-exist within StorageOS will be created.
    """


class VolumeNodeAffinity(Part):
    """VolumeNodeAffinity defines constraints that limit what nodes this volume can be accessed from."""

    required: NodeSelector | None = None
    """required specifies hard node constraints that must be met."""


class PersistentVolumeSpec(Part):
    """PersistentVolumeSpec is the specification of a persistent volume."""

    access_modes: list[str] = Field(default_factory=list)
    """accessModes contains all ways the volume can be mounted. More info:
    https://kubernetes.io/docs/concepts/storage/persistent-volumes#access-modes
    """
    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    """awsElasticBlockStore represents an AWS Disk resource that is attached to a kubelet's host machine and then
    exposed to the pod. Deprecated: AWSElasticBlockStore is deprecated. All operations for the in-tree
    awsElasticBlockStore type are redirected to the ebs.csi.aws.com CSI driver. More info:
    https://kubernetes.io/docs/concepts/storage/volumes#awselasticblockstore
    """
    azure_disk: AzureDiskVolumeSource | None = None
    """azureDisk represents an Azure Data Disk mount on the host and bind mount to the pod. Deprecated: AzureDisk is
    deprecated. All operations for the in-tree azureDisk type are redirected to the disk.csi.azure.com CSI driver.
    """
    azure_file: AzureFilePersistentVolumeSource | None = None
    """azureFile represents an Azure File Service mount on the host and bind mount to the pod. Deprecated: AzureFile
    is deprecated. All operations for the in-tree azureFile type are redirected to the file.csi.azure.com CSI
    driver.
    """
    capacity: dict[str, Quantity] = Field(default_factory=dict)
    """capacity is the description of the persistent volume's resources and capacity. More info:
    https://kubernetes.io/docs/concepts/storage/persistent-volumes#capacity
    """
    cephfs: CephFSPersistentVolumeSource | None = None
    """cephFS represents a Ceph FS mount on the host that shares a pod's lifetime. Deprecated: CephFS is deprecated
    and the in-tree cephfs type is no longer supported.
    """
    cinder: CinderPersistentVolumeSource | None = None
    """cinder represents a cinder volume attached and mounted on kubelets host machine. Deprecated: Cinder is
    deprecated. All operations for the in-tree cinder type are redirected to the cinder.csi.openstack.org CSI
    driver. More info: https://examples.k8s.io/mysql-cinder-pd/README.md
    """
    claim_ref: ObjectReference | None = None
    """claimRef is part of a bi-directional binding between PersistentVolume and PersistentVolumeClaim. Expected to
    be non-nil when bound. claim.VolumeName is the authoritative bind between PV and PVC. More info:
    https://kubernetes.io/docs/concepts/storage/persistent-volumes#binding
    """
    csi: CSIPersistentVolumeSource | None = None
    """csi represents storage that is handled by an external CSI driver."""
    fc: FCVolumeSource | None = None
    """fc represents a Fibre Channel resource that is attached to a kubelet's host machine and then exposed to the
    pod.
    """
    flex_volume: FlexPersistentVolumeSource | None = None
    """flexVolume represents a generic volume resource that is provisioned/attached using an exec based plugin.
    Deprecated: FlexVolume is deprecated. Consider using a CSIDriver instead.
    """
    flocker: FlockerVolumeSource | None = None
    """flocker represents a Flocker volume attached to a kubelet's host machine and exposed to the pod for its usage.
    This depends on the Flocker control service being running. Deprecated: Flocker is deprecated and the in-tree
    flocker type is no longer supported.
    """
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    """gcePersistentDisk represents a GCE Disk resource that is attached to a kubelet's host machine and then exposed
    to the pod. Provisioned by an admin. Deprecated: GCEPersistentDisk is deprecated. All operations for the
    in-tree gcePersistentDisk type are redirected to the pd.csi.storage.gke.io CSI driver. More info:
    https://kubernetes.io/docs/concepts/storage/volumes#gcepersistentdisk
    """
    glusterfs: GlusterfsPersistentVolumeSource | None = None
    """glusterfs represents a Glusterfs volume that is attached to a host and exposed to the pod. Provisioned by an
    admin. Deprecated: Glusterfs is deprecated and the in-tree glusterfs type is no longer supported. More info:
    https://examples.k8s.io/volumes/glusterfs/README.md
    """
    host_path: HostPathVolumeSource | None = None
    """hostPath represents a directory on the host. Provisioned by a developer or tester. This is useful for
    single-node development and testing only! On-host storage is not supported in any way and WILL NOT WORK in a
    multi-node cluster. More info: https://kubernetes.io/docs/concepts/storage/volumes#hostpath
    """
    iscsi: ISCSIPersistentVolumeSource | None = None
    """iscsi represents an ISCSI Disk resource that is attached to a kubelet's host machine and then exposed to the
    pod. Provisioned by an admin.
    """
    local: LocalVolumeSource | None = None
    """local represents directly-attached storage with node affinity"""
    mount_options: list[str] = Field(default_factory=list)
    """mountOptions is the list of mount options, e.g. ["ro", "soft"]. Not validated - mount will simply fail if one
    is invalid. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes/#mount-options
    """
    nfs: NFSVolumeSource | None = None
    """nfs represents an NFS mount on the host. Provisioned by an admin. More info:
    https://kubernetes.io/docs/concepts/storage/volumes#nfs
    """
    node_affinity: VolumeNodeAffinity | None = None
    """nodeAffinity defines constraints that limit what nodes this volume can be accessed from. This field influences
    the scheduling of pods that use this volume. This field is mutable if MutablePVNodeAffinity feature gate is
    enabled.
    """
    persistent_volume_reclaim_policy: str | None = None
    """persistentVolumeReclaimPolicy defines what happens to a persistent volume when released from its claim. Valid
    options are Retain (default for manually created PersistentVolumes), Delete (default for dynamically
    provisioned PersistentVolumes), and Recycle (deprecated). Recycle must be supported by the volume plugin
    underlying this PersistentVolume. More info:
    https://kubernetes.io/docs/concepts/storage/persistent-volumes#reclaiming

    Possible enum values:
     - `"Delete"` means the volume will be deleted from Kubernetes on release from its claim. The volume plugin
       must support Deletion.
     - `"Recycle"` means the volume will be recycled back into the pool of unbound persistent volumes on release
       from its claim. The volume plugin must support Recycling.
     - `"Retain"` means the volume will be left in its current phase (Released) for manual reclamation by the
       administrator. The default policy is Retain.
    """
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = None
    """photonPersistentDisk represents a PhotonController persistent disk attached and mounted on kubelets host
    machine. Deprecated: PhotonPersistentDisk is deprecated and the in-tree photonPersistentDisk type is no longer
    supported.
    """
    portworx_volume: PortworxVolumeSource | None = None
    """portworxVolume represents a portworx volume attached and mounted on kubelets host machine. Deprecated:
    PortworxVolume is deprecated. All operations for the in-tree portworxVolume type are redirected to the
    pxd.portworx.com CSI driver.
    """
    quobyte: QuobyteVolumeSource | None = None
    """quobyte represents a Quobyte mount on the host that shares a pod's lifetime. Deprecated: Quobyte is deprecated
    and the in-tree quobyte type is no longer supported.
    """
    rbd: RBDPersistentVolumeSource | None = None
    """rbd represents a Rados Block Device mount on the host that shares a pod's lifetime. Deprecated: RBD is
    deprecated and the in-tree rbd type is no longer supported. More info:
    https://examples.k8s.io/volumes/rbd/README.md
    """
    scale_io: ScaleIOPersistentVolumeSource | None = Field(
        default=None, validation_alias="scaleIO", serialization_alias="scaleIO"
    )
    """scaleIO represents a ScaleIO persistent volume attached and mounted on Kubernetes nodes. Deprecated: ScaleIO
    is deprecated and the in-tree scaleIO type is no longer supported.
    """
    storage_class_name: str | None = None
    """storageClassName is the name of StorageClass to which this persistent volume belongs. Empty value means that
    this volume does not belong to any StorageClass.
    """
    storageos: StorageOSPersistentVolumeSource | None = None
    """storageOS represents a StorageOS volume that is attached to the kubelet's host machine and mounted into the
    pod. Deprecated: StorageOS is deprecated and the in-tree storageos type is no longer supported. More info:
    https://examples.k8s.io/volumes/storageos/README.md
    """
    volume_attributes_class_name: str | None = None
    """Name of VolumeAttributesClass to which this persistent volume belongs. Empty value is not allowed. When this
    field is not set, it indicates that this volume does not belong to any VolumeAttributesClass. This field is
    mutable and can be changed by the CSI driver after a volume has been updated successfully to a new class. For
    an unbound PersistentVolume, the volumeAttributesClassName will be matched with unbound PersistentVolumeClaims
    during the binding process.
    """
    volume_mode: str | None = None
    """volumeMode defines if a volume is intended to be used with a formatted filesystem or to remain in raw block
    state. Value of Filesystem is implied when not included in spec.

    Possible enum values:
     - `"Block"` means the volume will not be formatted with a filesystem and will remain a raw block device.
     - `"Filesystem"` means the volume will be or is formatted with a filesystem.
    """
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None
    """vsphereVolume represents a vSphere volume attached and mounted on kubelets host machine. Deprecated:
    VsphereVolume is deprecated. All operations for the in-tree vsphereVolume type are redirected to the
    csi.vsphere.vmware.com CSI driver.
    """


class PersistentVolumeStatus(Part):
    """PersistentVolumeStatus is the current status of a persistent volume."""

    last_phase_transition_time: Time | None = None
    """lastPhaseTransitionTime is the time the phase transitioned from one to another and automatically resets to
    current time everytime a volume phase transitions.
    """
    message: str | None = None
    """message is a human-readable message indicating details about why the volume is in this state."""
    phase: str | None = None
    """phase indicates if a volume is available, bound to a claim, or released by a claim. More info:
    https://kubernetes.io/docs/concepts/storage/persistent-volumes#phase

    Possible enum values:
     - `"Available"` used for PersistentVolumes that are not yet bound Available volumes are held by the binder
       and matched to PersistentVolumeClaims
     - `"Bound"` used for PersistentVolumes that are bound
     - `"Failed"` used for PersistentVolumes that failed to be correctly recycled or deleted after being released
       from a claim
     - `"Pending"` used for PersistentVolumes that are not available
     - `"Released"` used for PersistentVolumes where the bound PersistentVolumeClaim was deleted released volumes
       must be recycled before becoming available again this phase is used by the persistent volume claim binder
       to signal to another process to reclaim the resource
    """
    reason: str | None = None
    """reason is a brief CamelCase string that describes any failure and is meant for machine parsing and tidy
    display in the CLI.
    """


class PersistentVolume(
    Kind,
    group="",
    version="v1",
    plural="persistentvolumes",
    scope="Cluster",
    short_names=("pv",),
    subresources=("status",),
):
    """PersistentVolume (PV) is a storage resource provisioned by an administrator. It is analogous to a node. More
    info: https://kubernetes.io/docs/concepts/storage/persistent-volumes
    """

    spec: PersistentVolumeSpec = Field(default_factory=PersistentVolumeSpec)
    """spec defines a specification of a persistent volume owned by the cluster. Provisioned by an administrator.
    More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#persistent-volumes
    """
    status: PersistentVolumeStatus = Field(default_factory=PersistentVolumeStatus)
    """status represents the current information/status for the persistent volume. Populated by the system.
    Read-only. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#persistent-volumes
    """


class PodTemplate(Kind, group="", version="v1", plural="podtemplates"):
    """PodTemplate describes a template for creating copies of a predefined pod."""

    template: PodTemplateSpec = Field(default_factory=PodTemplateSpec)
    """Template defines the pods that will be created from this pod template.
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status
    """


class ReplicationControllerSpec(Part):
    """ReplicationControllerSpec is the specification of a replication controller."""

    min_ready_seconds: int = 0
    """Minimum number of seconds for which a newly created pod should be ready without any of its container crashing,
    for it to be considered available. Defaults to 0 (pod will be considered available as soon as it is ready)
    """
    replicas: int = 1
    """Replicas is the number of desired replicas. This is a pointer to distinguish between explicit zero and
    unspecified. Defaults to 1. More info:
    https://kubernetes.io/docs/concepts/workloads/controllers/replicationcontroller#what-is-a-replicationcontroller
    """
    selector: dict[str, str] = Field(default_factory=dict)
    """Selector is a label query over pods that should match the Replicas count. If Selector is empty, it is
    defaulted to the labels present on the Pod template. Label keys and values that must match in order to be
    controlled by this replication controller, if empty defaulted to labels on Pod template. More info:
    https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
    """
    template: PodTemplateSpec | None = None
    """Template is the object that describes the pod that will be created if insufficient replicas are detected. This
    takes precedence over a TemplateRef. The only allowed template.spec.restartPolicy value is "Always". More
    info: https://kubernetes.io/docs/concepts/workloads/controllers/replicationcontroller#pod-template
    """


class ReplicationControllerCondition(Part):
    """ReplicationControllerCondition describes the state of a replication controller at a certain point."""

    last_transition_time: Time | None = None
    """The last time the condition transitioned from one status to another."""
    message: str | None = None
    """A human readable message indicating details about the transition."""
    reason: str | None = None
    """The reason for the condition's last transition."""
    status: str = ""
    """Status of the condition, one of True, False, Unknown."""
    type: str = ""
    """Type of replication controller condition."""


class ReplicationControllerStatus(Part):
    """ReplicationControllerStatus represents the current status of a replication controller."""

    available_replicas: int | None = None
    """The number of available replicas (ready for at least minReadySeconds) for this replication controller."""
    conditions: list[ReplicationControllerCondition] = Field(default_factory=list)
    """Represents the latest available observations of a replication controller's current state."""
    fully_labeled_replicas: int | None = None
    """The number of pods that have labels matching the labels of the pod template of the replication controller."""
    observed_generation: int | None = None
    """ObservedGeneration reflects the generation of the most recently observed replication controller."""
    ready_replicas: int | None = None
    """The number of ready replicas for this replication controller."""
    replicas: int = 0
    """Replicas is the most recently observed number of replicas. More info:
    https://kubernetes.io/docs/concepts/workloads/controllers/replicationcontroller#what-is-a-replicationcontroller
    """


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
    """ReplicationController represents the configuration of a replication controller."""

    spec: ReplicationControllerSpec = Field(default_factory=ReplicationControllerSpec)
    """Spec defines the specification of the desired behavior of the replication controller. More info:
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status
    """
    status: ReplicationControllerStatus = Field(default_factory=ReplicationControllerStatus)
    """Status is the most recently observed status of the replication controller. This data may be out of date by
    some window of time. Populated by the system. Read-only. More info:
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status
    """


class TopologySelectorLabelRequirement(Part):
    """A topology selector requirement is a selector that matches given label. This is an alpha feature and may
    change in the future.
    """

    key: str = ""
    """The label key that the selector applies to."""
    values: list[str] = Field(default_factory=list)
    """An array of string values. One value must match the label to be selected. Each entry in Values is ORed."""


class TopologySelectorTerm(Part):
    """A topology selector term represents the result of label queries. A null or empty topology selector term
    matches no objects. The requirements of them are ANDed. It provides a subset of functionality as
    NodeSelectorTerm. This is an alpha feature and may change in the future.
    """

    match_label_expressions: list[TopologySelectorLabelRequirement] = Field(default_factory=list)
    """A list of topology selector requirements by labels."""
