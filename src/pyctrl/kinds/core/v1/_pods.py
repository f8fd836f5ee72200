# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""Some kinds of core/v1 and their parts."""

from pydantic import Field

from pyctrl.api import IntOrString, ObjectMeta, Quantity, Time
from pyctrl.kinds._builtin import Kind, Part
from pyctrl.kinds.core.v1._references import LocalObjectReference, TypedLocalObjectReference
from pyctrl.kinds.meta.v1 import LabelSelector

__all__ = [
    "AWSElasticBlockStoreVolumeSource",
    "Affinity",
    "AppArmorProfile",
    "AzureDiskVolumeSource",
    "AzureFileVolumeSource",
    "CSIVolumeSource",
    "Capabilities",
    "CephFSVolumeSource",
    "CinderVolumeSource",
    "ClusterTrustBundleProjection",
    "ConfigMapEnvSource",
    "ConfigMapKeySelector",
    "ConfigMapProjection",
    "ConfigMapVolumeSource",
    "Container",
    "ContainerExtendedResourceRequest",
    "ContainerPort",
    "ContainerResizePolicy",
    "ContainerRestartRule",
    "ContainerRestartRuleOnExitCodes",
    "ContainerState",
    "ContainerStateRunning",
    "ContainerStateTerminated",
    "ContainerStateWaiting",
    "ContainerStatus",
    "ContainerUser",
    "DownwardAPIProjection",
    "DownwardAPIVolumeFile",
    "DownwardAPIVolumeSource",
    "EmptyDirVolumeSource",
    "EnvFromSource",
    "EnvVar",
    "EnvVarSource",
    "EphemeralContainer",
    "EphemeralVolumeSource",
    "ExecAction",
    "FCVolumeSource",
    "FileKeySelector",
    "FlexVolumeSource",
    "FlockerVolumeSource",
    "GCEPersistentDiskVolumeSource",
    "GRPCAction",
    "GitRepoVolumeSource",
    "GlusterfsVolumeSource",
    "HTTPGetAction",
    "HTTPHeader",
    "HostAlias",
    "HostIP",
    "HostPathVolumeSource",
    "ISCSIVolumeSource",
    "ImageVolumeSource",
    "ImageVolumeStatus",
    "KeyToPath",
    "Lifecycle",
    "LifecycleHandler",
    "LinuxContainerUser",
    "ModifyVolumeStatus",
    "NFSVolumeSource",
    "NodeAffinity",
    "NodeAllocatableResourceClaimStatus",
    "NodeSelector",
    "NodeSelectorRequirement",
    "NodeSelectorTerm",
    "ObjectFieldSelector",
    "PersistentVolumeClaim",
    "PersistentVolumeClaimCondition",
    "PersistentVolumeClaimSpec",
    "PersistentVolumeClaimStatus",
    "PersistentVolumeClaimTemplate",
    "PersistentVolumeClaimVolumeSource",
    "PhotonPersistentDiskVolumeSource",
    "Pod",
    "PodAffinity",
    "PodAffinityTerm",
    "PodAntiAffinity",
    "PodCertificateProjection",
    "PodCondition",
    "PodDNSConfig",
    "PodDNSConfigOption",
    "PodExtendedResourceClaimStatus",
    "PodIP",
    "PodOS",
    "PodReadinessGate",
    "PodResourceClaim",
    "PodResourceClaimStatus",
    "PodSchedulingGate",
    "PodSchedulingGroup",
    "PodSecurityContext",
    "PodSpec",
    "PodStatus",
    "PodTemplateSpec",
    "PortworxVolumeSource",
    "PreferredSchedulingTerm",
    "Probe",
    "ProjectedVolumeSource",
    "QuobyteVolumeSource",
    "RBDVolumeSource",
    "ResourceClaim",
    "ResourceFieldSelector",
    "ResourceHealth",
    "ResourceRequirements",
    "ResourceStatus",
    "SELinuxOptions",
    "ScaleIOVolumeSource",
    "SeccompProfile",
    "SecretEnvSource",
    "SecretKeySelector",
    "SecretProjection",
    "SecretVolumeSource",
    "SecurityContext",
    "ServiceAccountTokenProjection",
    "SleepAction",
    "StorageOSVolumeSource",
    "Sysctl",
    "TCPSocketAction",
    "Toleration",
    "TopologySpreadConstraint",
    "TypedObjectReference",
    "Volume",
    "VolumeDevice",
    "VolumeMount",
    "VolumeMountStatus",
    "VolumeProjection",
    "VolumeResourceRequirements",
    "VolumeStatus",
    "VsphereVirtualDiskVolumeSource",
    "WeightedPodAffinityTerm",
    "WindowsSecurityContextOptions",
]

__name__ = "pyctrl.kinds.core.v1"  # the module that the classes report


class AWSElasticBlockStoreVolumeSource(Part):
    """`aws_elastic_block_store` of PersistentVolumeSpec, `aws_elastic_block_store` of Volume."""

    fs_type: str | None = None
    partition: int | None = None
    read_only: bool | None = None
    volume_id: str = Field(default="", validation_alias="volumeID", serialization_alias="volumeID")


class NodeSelectorRequirement(Part):
    """`match_expressions` of NodeSelectorTerm, `match_fields` of NodeSelectorTerm."""

    key: str = ""
    operator: str = ""
    values: list[str] = Field(default_factory=list)


class NodeSelectorTerm(Part):
    """`node_selector_terms` of NodeSelector, `preference` of PreferredSchedulingTerm."""

    match_expressions: list[NodeSelectorRequirement] = Field(default_factory=list)
    match_fields: list[NodeSelectorRequirement] = Field(default_factory=list)


class NodeSelector(Part):
    """`node_selector` of AllocationResult, `node_selector` of Device, `required_during_scheduling_ignored_during_execution` of NodeAffinity, …"""

    node_selector_terms: list[NodeSelectorTerm] = Field(default_factory=list)


class PreferredSchedulingTerm(Part):
    """`preferred_during_scheduling_ignored_during_execution` of NodeAffinity."""

    preference: NodeSelectorTerm = Field(default_factory=NodeSelectorTerm)
    weight: int = 0


class NodeAffinity(Part):
    """`node_affinity` of Affinity."""

    preferred_during_scheduling_ignored_during_execution: list[PreferredSchedulingTerm] = Field(default_factory=list)
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None


class PodAffinityTerm(Part):
    """`required_during_scheduling_ignored_during_execution` of PodAffinity, `required_during_scheduling_ignored_during_execution` of PodAntiAffinity, `pod_affinity_term` of WeightedPodAffinityTerm."""

    label_selector: LabelSelector | None = None
    match_label_keys: list[str] = Field(default_factory=list)
    mismatch_label_keys: list[str] = Field(default_factory=list)
    namespace_selector: LabelSelector | None = None
    namespaces: list[str] = Field(default_factory=list)
    topology_key: str = ""


class WeightedPodAffinityTerm(Part):
    """`preferred_during_scheduling_ignored_during_execution` of PodAffinity, `preferred_during_scheduling_ignored_during_execution` of PodAntiAffinity."""

    pod_affinity_term: PodAffinityTerm = Field(default_factory=PodAffinityTerm)
    weight: int = 0


class PodAffinity(Part):
    """`pod_affinity` of Affinity."""

    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] = Field(default_factory=list)
    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] = Field(default_factory=list)


class PodAntiAffinity(Part):
    """`pod_anti_affinity` of Affinity."""

    preferred_during_scheduling_ignored_during_execution: list[WeightedPodAffinityTerm] = Field(default_factory=list)
    required_during_scheduling_ignored_during_execution: list[PodAffinityTerm] = Field(default_factory=list)


class Affinity(Part):
    """`affinity` of PodSpec."""

    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None


class AppArmorProfile(Part):
    """`app_armor_profile` of PodSecurityContext, `app_armor_profile` of SecurityContext."""

    localhost_profile: str | None = None
    type: str = ""


class AzureDiskVolumeSource(Part):
    """`azure_disk` of PersistentVolumeSpec, `azure_disk` of Volume."""

    caching_mode: str = "ReadWrite"
    disk_name: str = ""
    disk_uri: str = Field(default="", validation_alias="diskURI", serialization_alias="diskURI")
    fs_type: str = "ext4"
    kind: str = "Shared"
    read_only: bool = False


class AzureFileVolumeSource(Part):
    """`azure_file` of Volume."""

    read_only: bool | None = None
    secret_name: str = ""
    share_name: str = ""


class CSIVolumeSource(Part):
    """`csi` of Volume."""

    driver: str = ""
    fs_type: str | None = None
    node_publish_secret_ref: LocalObjectReference | None = None
    read_only: bool | None = None
    volume_attributes: dict[str, str] = Field(default_factory=dict)


class Capabilities(Part):
    """`capabilities` of SecurityContext."""

    add: list[str] = Field(default_factory=list)
    drop: list[str] = Field(default_factory=list)


class CephFSVolumeSource(Part):
    """`cephfs` of Volume."""

    monitors: list[str] = Field(default_factory=list)
    path: str | None = None
    read_only: bool | None = None
    secret_file: str | None = None
    secret_ref: LocalObjectReference | None = None
    user: str | None = None


class CinderVolumeSource(Part):
    """`cinder` of Volume."""

    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None
    volume_id: str = Field(default="", validation_alias="volumeID", serialization_alias="volumeID")


class ClusterTrustBundleProjection(Part):
    """`cluster_trust_bundle` of VolumeProjection."""

    label_selector: LabelSelector | None = None
    name: str | None = None
    optional: bool | None = None
    path: str = ""
    signer_name: str | None = None


class ConfigMapEnvSource(Part):
    """`config_map_ref` of EnvFromSource."""

    name: str = ""
    optional: bool | None = None


class ConfigMapKeySelector(Part):
    """`config_map_key_ref` of EnvVarSource."""

    key: str = ""
    name: str = ""
    optional: bool | None = None


class KeyToPath(Part):
    """`items` of ConfigMapProjection, `items` of ConfigMapVolumeSource, `items` of SecretProjection, …"""

    key: str = ""
    mode: int | None = None
    path: str = ""


class ConfigMapProjection(Part):
    """`config_map` of VolumeProjection."""

    items: list[KeyToPath] = Field(default_factory=list)
    name: str = ""
    optional: bool | None = None


class ConfigMapVolumeSource(Part):
    """`config_map` of Volume."""

    default_mode: int | None = None
    items: list[KeyToPath] = Field(default_factory=list)
    name: str = ""
    optional: bool | None = None


class ContainerPort(Part):
    """`ports` of Container, `ports` of EphemeralContainer."""

    container_port: int = 0
    host_ip: str | None = Field(default=None, validation_alias="hostIP", serialization_alias="hostIP")
    host_port: int | None = None
    name: str | None = None
    protocol: str = "TCP"


class ContainerResizePolicy(Part):
    """`resize_policy` of Container, `resize_policy` of EphemeralContainer."""

    resource_name: str = ""
    restart_policy: str = ""


class ContainerRestartRuleOnExitCodes(Part):
    """`exit_codes` of ContainerRestartRule."""

    operator: str = ""
    values: list[int] = Field(default_factory=list)


class ContainerRestartRule(Part):
    """`restart_policy_rules` of Container, `restart_policy_rules` of EphemeralContainer."""

    action: str = ""
    exit_codes: ContainerRestartRuleOnExitCodes | None = None


class SecretEnvSource(Part):
    """`secret_ref` of EnvFromSource."""

    name: str = ""
    optional: bool | None = None


class EnvFromSource(Part):
    """`env_from` of Container, `env_from` of EphemeralContainer."""

    config_map_ref: ConfigMapEnvSource | None = None
    prefix: str | None = None
    secret_ref: SecretEnvSource | None = None


class FileKeySelector(Part):
    """`file_key_ref` of EnvVarSource."""

    key: str = ""
    optional: bool = False
    path: str = ""
    volume_name: str = ""


class ObjectFieldSelector(Part):
    """`field_ref` of DownwardAPIVolumeFile, `field_ref` of EnvVarSource."""

    api_version: str | None = None
    field_path: str = ""


class ResourceFieldSelector(Part):
    """`resource_field_ref` of DownwardAPIVolumeFile, `resource_field_ref` of EnvVarSource."""

    container_name: str | None = None
    divisor: Quantity | None = None
    resource: str = ""


class SecretKeySelector(Part):
    """`secret_key_ref` of EnvVarSource."""

    key: str = ""
    name: str = ""
    optional: bool | None = None


class EnvVarSource(Part):
    """`value_from` of EnvVar."""

    config_map_key_ref: ConfigMapKeySelector | None = None
    field_ref: ObjectFieldSelector | None = None
    file_key_ref: FileKeySelector | None = None
    resource_field_ref: ResourceFieldSelector | None = None
    secret_key_ref: SecretKeySelector | None = None


class EnvVar(Part):
    """`env` of Container, `env` of EphemeralContainer."""

    name: str = ""
    value: str | None = None
    value_from: EnvVarSource | None = None


class ExecAction(Part):
    """`exec` of LifecycleHandler, `exec` of Probe."""

    command: list[str] = Field(default_factory=list)


class HTTPHeader(Part):
    """`http_headers` of HTTPGetAction."""

    name: str = ""
    value: str = ""


class HTTPGetAction(Part):
    """`http_get` of LifecycleHandler, `http_get` of Probe."""

    host: str | None = None
    http_headers: list[HTTPHeader] = Field(default_factory=list)
    path: str | None = None
    port: IntOrString = 0
    scheme: str | None = None


class SleepAction(Part):
    """`sleep` of LifecycleHandler."""

    seconds: int = 0


class TCPSocketAction(Part):
    """`tcp_socket` of LifecycleHandler, `tcp_socket` of Probe."""

    host: str | None = None
    port: IntOrString = 0


class LifecycleHandler(Part):
    """`post_start` of Lifecycle, `pre_stop` of Lifecycle."""

    exec: ExecAction | None = None
    http_get: HTTPGetAction | None = None
    sleep: SleepAction | None = None
    tcp_socket: TCPSocketAction | None = None


class Lifecycle(Part):
    """`lifecycle` of Container, `lifecycle` of EphemeralContainer."""

    post_start: LifecycleHandler | None = None
    pre_stop: LifecycleHandler | None = None
    stop_signal: str | None = None


class GRPCAction(Part):
    """`grpc` of Probe."""

    port: int = 0
    service: str = ""


class Probe(Part):
    """`liveness_probe` of Container, `readiness_probe` of Container, `startup_probe` of Container, …"""

    exec: ExecAction | None = None
    failure_threshold: int | None = None
    grpc: GRPCAction | None = None
    http_get: HTTPGetAction | None = None
    initial_delay_seconds: int | None = None
    period_seconds: int | None = None
    success_threshold: int | None = None
    tcp_socket: TCPSocketAction | None = None
    termination_grace_period_seconds: int | None = None
    timeout_seconds: int | None = None


class ResourceClaim(Part):
    """`claims` of ResourceRequirements."""

    name: str = ""
    request: str | None = None


class ResourceRequirements(Part):
    """`resources` of Container, `resources` of ContainerStatus, `resources` of EphemeralContainer, …"""

    claims: list[ResourceClaim] = Field(default_factory=list)
    limits: dict[str, Quantity] = Field(default_factory=dict)
    requests: dict[str, Quantity] = Field(default_factory=dict)


class SELinuxOptions(Part):
    """`se_linux_options` of PodSecurityContext, `se_linux_options` of SecurityContext."""

    level: str | None = None
    role: str | None = None
    type: str | None = None
    user: str | None = None


class SeccompProfile(Part):
    """`seccomp_profile` of PodSecurityContext, `seccomp_profile` of SecurityContext."""

    localhost_profile: str | None = None
    type: str = ""


class WindowsSecurityContextOptions(Part):
    """`windows_options` of PodSecurityContext, `windows_options` of SecurityContext."""

    gmsa_credential_spec: str | None = None
    gmsa_credential_spec_name: str | None = None
    host_process: bool | None = None
    run_as_user_name: str | None = None


class SecurityContext(Part):
    """`security_context` of Container, `security_context` of EphemeralContainer."""

    allow_privilege_escalation: bool | None = None
    app_armor_profile: AppArmorProfile | None = None
    capabilities: Capabilities | None = None
    privileged: bool | None = None
    proc_mount: str | None = None
    read_only_root_filesystem: bool | None = None
    run_as_group: int | None = None
    run_as_non_root: bool | None = None
    run_as_user: int | None = None
    se_linux_options: SELinuxOptions | None = None
    seccomp_profile: SeccompProfile | None = None
    windows_options: WindowsSecurityContextOptions | None = None


class VolumeDevice(Part):
    """`volume_devices` of Container, `volume_devices` of EphemeralContainer."""

    device_path: str = ""
    name: str = ""


class VolumeMount(Part):
    """`volume_mounts` of Container, `volume_mounts` of EphemeralContainer."""

    mount_path: str = ""
    mount_propagation: str | None = None
    name: str = ""
    read_only: bool | None = None
    recursive_read_only: str | None = None
    sub_path: str | None = None
    sub_path_expr: str | None = None


class Container(Part):
    """`containers` of PodSpec, `init_containers` of PodSpec."""

    args: list[str] = Field(default_factory=list)
    command: list[str] = Field(default_factory=list)
    env: list[EnvVar] = Field(default_factory=list)
    env_from: list[EnvFromSource] = Field(default_factory=list)
    image: str | None = None
    image_pull_policy: str | None = None
    lifecycle: Lifecycle | None = None
    liveness_probe: Probe | None = None
    name: str = ""
    ports: list[ContainerPort] = Field(default_factory=list)
    readiness_probe: Probe | None = None
    resize_policy: list[ContainerResizePolicy] = Field(default_factory=list)
    resources: ResourceRequirements = Field(default_factory=ResourceRequirements)
    restart_policy: str | None = None
    restart_policy_rules: list[ContainerRestartRule] = Field(default_factory=list)
    security_context: SecurityContext | None = None
    startup_probe: Probe | None = None
    stdin: bool | None = None
    stdin_once: bool | None = None
    termination_message_path: str | None = None
    termination_message_policy: str | None = None
    tty: bool | None = None
    volume_devices: list[VolumeDevice] = Field(default_factory=list)
    volume_mounts: list[VolumeMount] = Field(default_factory=list)
    working_dir: str | None = None


class ContainerExtendedResourceRequest(Part):
    """`request_mappings` of PodExtendedResourceClaimStatus."""

    container_name: str = ""
    request_name: str = ""
    resource_name: str = ""


class ContainerStateRunning(Part):
    """`running` of ContainerState."""

    started_at: Time | None = None


class ContainerStateTerminated(Part):
    """`terminated` of ContainerState."""

    container_id: str | None = Field(default=None, validation_alias="containerID", serialization_alias="containerID")
    exit_code: int = 0
    finished_at: Time | None = None
    message: str | None = None
    reason: str | None = None
    signal: int | None = None
    started_at: Time | None = None


class ContainerStateWaiting(Part):
    """`waiting` of ContainerState."""

    message: str | None = None
    reason: str | None = None


class ContainerState(Part):
    """`last_state` of ContainerStatus, `state` of ContainerStatus."""

    running: ContainerStateRunning | None = None
    terminated: ContainerStateTerminated | None = None
    waiting: ContainerStateWaiting | None = None


class LinuxContainerUser(Part):
    """`linux` of ContainerUser."""

    gid: int = 0
    supplemental_groups: list[int] = Field(default_factory=list)
    uid: int = 0


class ContainerUser(Part):
    """`user` of ContainerStatus."""

    linux: LinuxContainerUser | None = None


class ResourceHealth(Part):
    """`resources` of ResourceStatus."""

    health: str | None = None
    message: str | None = None
    resource_id: str = Field(default="", validation_alias="resourceID", serialization_alias="resourceID")


class ResourceStatus(Part):
    """`allocated_resources_status` of ContainerStatus."""

    name: str = ""
    resources: list[ResourceHealth] = Field(default_factory=list)


class ImageVolumeStatus(Part):
    """`image` of VolumeStatus."""

    image_ref: str = ""


class VolumeStatus(Part):
    """`volume_status` of VolumeMountStatus."""

    image: ImageVolumeStatus | None = None


class VolumeMountStatus(Part):
    """`volume_mounts` of ContainerStatus."""

    mount_path: str = ""
    name: str = ""
    read_only: bool | None = None
    recursive_read_only: str | None = None
    volume_status: VolumeStatus | None = None


class ContainerStatus(Part):
    """`container_statuses` of PodStatus, `ephemeral_container_statuses` of PodStatus, `init_container_statuses` of PodStatus."""

    allocated_resources: dict[str, Quantity] = Field(default_factory=dict)
    allocated_resources_status: list[ResourceStatus] = Field(default_factory=list)
    container_id: str | None = Field(default=None, validation_alias="containerID", serialization_alias="containerID")
    image: str = ""
    image_id: str = Field(default="", validation_alias="imageID", serialization_alias="imageID")
    last_state: ContainerState = Field(default_factory=ContainerState)
    name: str = ""
    ready: bool = False
    resources: ResourceRequirements | None = None
    restart_count: int = 0
    started: bool | None = None
    state: ContainerState = Field(default_factory=ContainerState)
    stop_signal: str | None = None
    user: ContainerUser | None = None
    volume_mounts: list[VolumeMountStatus] = Field(default_factory=list)


class DownwardAPIVolumeFile(Part):
    """`items` of DownwardAPIProjection, `items` of DownwardAPIVolumeSource."""

    field_ref: ObjectFieldSelector | None = None
    mode: int | None = None
    path: str = ""
    resource_field_ref: ResourceFieldSelector | None = None


class DownwardAPIProjection(Part):
    """`downward_api` of VolumeProjection."""

    items: list[DownwardAPIVolumeFile] = Field(default_factory=list)


class DownwardAPIVolumeSource(Part):
    """`downward_api` of Volume."""

    default_mode: int | None = None
    items: list[DownwardAPIVolumeFile] = Field(default_factory=list)


class EmptyDirVolumeSource(Part):
    """`empty_dir` of Volume."""

    medium: str | None = None
    size_limit: Quantity | None = None


class EphemeralContainer(Part):
    """`ephemeral_containers` of PodSpec."""

    args: list[str] = Field(default_factory=list)
    command: list[str] = Field(default_factory=list)
    env: list[EnvVar] = Field(default_factory=list)
    env_from: list[EnvFromSource] = Field(default_factory=list)
    image: str | None = None
    image_pull_policy: str | None = None
    lifecycle: Lifecycle | None = None
    liveness_probe: Probe | None = None
    name: str = ""
    ports: list[ContainerPort] = Field(default_factory=list)
    readiness_probe: Probe | None = None
    resize_policy: list[ContainerResizePolicy] = Field(default_factory=list)
    resources: ResourceRequirements = Field(default_factory=ResourceRequirements)
    restart_policy: str | None = None
    restart_policy_rules: list[ContainerRestartRule] = Field(default_factory=list)
    security_context: SecurityContext | None = None
    startup_probe: Probe | None = None
    stdin: bool | None = None
    stdin_once: bool | None = None
    target_container_name: str | None = None
    termination_message_path: str | None = None
    termination_message_policy: str | None = None
    tty: bool | None = None
    volume_devices: list[VolumeDevice] = Field(default_factory=list)
    volume_mounts: list[VolumeMount] = Field(default_factory=list)
    working_dir: str | None = None


class TypedObjectReference(Part):
    """`data_source_ref` of PersistentVolumeClaimSpec."""

    api_group: str | None = None
    kind: str = ""
    name: str = ""
    namespace: str | None = None


class VolumeResourceRequirements(Part):
    """`resources` of PersistentVolumeClaimSpec."""

    limits: dict[str, Quantity] = Field(default_factory=dict)
    requests: dict[str, Quantity] = Field(default_factory=dict)


class PersistentVolumeClaimSpec(Part):
    """`spec` of PersistentVolumeClaim, `spec` of PersistentVolumeClaimTemplate."""

    access_modes: list[str] = Field(default_factory=list)
    data_source: TypedLocalObjectReference | None = None
    data_source_ref: TypedObjectReference | None = None
    resources: VolumeResourceRequirements = Field(default_factory=VolumeResourceRequirements)
    selector: LabelSelector | None = None
    storage_class_name: str | None = None
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None
    volume_name: str | None = None


class PersistentVolumeClaimTemplate(Part):
    """`volume_claim_template` of EphemeralVolumeSource."""

    metadata: ObjectMeta = Field(default_factory=ObjectMeta)
    spec: PersistentVolumeClaimSpec = Field(default_factory=PersistentVolumeClaimSpec)


class EphemeralVolumeSource(Part):
    """`ephemeral` of Volume."""

    volume_claim_template: PersistentVolumeClaimTemplate | None = None


class FCVolumeSource(Part):
    """`fc` of PersistentVolumeSpec, `fc` of Volume."""

    fs_type: str | None = None
    lun: int | None = None
    read_only: bool | None = None
    target_wwns: list[str] = Field(
        default_factory=list, validation_alias="targetWWNs", serialization_alias="targetWWNs"
    )
    wwids: list[str] = Field(default_factory=list)


class FlexVolumeSource(Part):
    """`flex_volume` of Volume."""

    driver: str = ""
    fs_type: str | None = None
    options: dict[str, str] = Field(default_factory=dict)
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None


class FlockerVolumeSource(Part):
    """`flocker` of PersistentVolumeSpec, `flocker` of Volume."""

    dataset_name: str | None = None
    dataset_uuid: str | None = Field(default=None, validation_alias="datasetUUID", serialization_alias="datasetUUID")


class GCEPersistentDiskVolumeSource(Part):
    """`gce_persistent_disk` of PersistentVolumeSpec, `gce_persistent_disk` of Volume."""

    fs_type: str | None = None
    partition: int | None = None
    pd_name: str = ""
    read_only: bool | None = None


class GitRepoVolumeSource(Part):
    """`git_repo` of Volume."""

    directory: str | None = None
    repository: str = ""
    revision: str | None = None


class GlusterfsVolumeSource(Part):
    """`glusterfs` of Volume."""

    endpoints: str = ""
    path: str = ""
    read_only: bool | None = None


class HostAlias(Part):
    """`host_aliases` of PodSpec."""

    hostnames: list[str] = Field(default_factory=list)
    ip: str = ""


class HostIP(Part):
    """`host_ips` of PodStatus."""

    ip: str = ""


class HostPathVolumeSource(Part):
    """`host_path` of PersistentVolumeSpec, `host_path` of Volume."""

    path: str = ""
    type: str | None = None


class ISCSIVolumeSource(Part):
    """`iscsi` of Volume."""

    chap_auth_discovery: bool | None = None
    chap_auth_session: bool | None = None
    fs_type: str | None = None
    initiator_name: str | None = None
    iqn: str = ""
    iscsi_interface: str = "default"
    lun: int = 0
    portals: list[str] = Field(default_factory=list)
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None
    target_portal: str = ""


class ImageVolumeSource(Part):
    """`image` of Volume."""

    pull_policy: str | None = None
    reference: str | None = None


class ModifyVolumeStatus(Part):
    """`modify_volume_status` of PersistentVolumeClaimStatus."""

    status: str = ""
    target_volume_attributes_class_name: str | None = None


class NFSVolumeSource(Part):
    """`nfs` of PersistentVolumeSpec, `nfs` of Volume."""

    path: str = ""
    read_only: bool | None = None
    server: str = ""


class NodeAllocatableResourceClaimStatus(Part):
    """`node_allocatable_resource_claim_statuses` of PodStatus."""

    containers: list[str] = Field(default_factory=list)
    resource_claim_name: str = ""
    resources: dict[str, Quantity] = Field(default_factory=dict)


class PersistentVolumeClaimCondition(Part):
    """`conditions` of PersistentVolumeClaimStatus."""

    last_probe_time: Time | None = None
    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


class PersistentVolumeClaimStatus(Part):
    """`status` of PersistentVolumeClaim."""

    access_modes: list[str] = Field(default_factory=list)
    allocated_resource_statuses: dict[str, str] = Field(default_factory=dict)
    allocated_resources: dict[str, Quantity] = Field(default_factory=dict)
    capacity: dict[str, Quantity] = Field(default_factory=dict)
    conditions: list[PersistentVolumeClaimCondition] = Field(default_factory=list)
    current_volume_attributes_class_name: str | None = None
    modify_volume_status: ModifyVolumeStatus | None = None
    phase: str | None = None


class PersistentVolumeClaim(
    Kind, group="", version="v1", plural="persistentvolumeclaims", short_names=("pvc",), subresources=("status",)
):
    """PersistentVolumeClaim of v1."""

    spec: PersistentVolumeClaimSpec = Field(default_factory=PersistentVolumeClaimSpec)
    status: PersistentVolumeClaimStatus = Field(default_factory=PersistentVolumeClaimStatus)


class PersistentVolumeClaimVolumeSource(Part):
    """`persistent_volume_claim` of Volume."""

    claim_name: str = ""
    read_only: bool | None = None


class PhotonPersistentDiskVolumeSource(Part):
    """`photon_persistent_disk` of PersistentVolumeSpec, `photon_persistent_disk` of Volume."""

    fs_type: str | None = None
    pd_id: str = Field(default="", validation_alias="pdID", serialization_alias="pdID")


class PodDNSConfigOption(Part):
    """`options` of PodDNSConfig."""

    name: str | None = None
    value: str | None = None


class PodDNSConfig(Part):
    """`dns_config` of PodSpec."""

    nameservers: list[str] = Field(default_factory=list)
    options: list[PodDNSConfigOption] = Field(default_factory=list)
    searches: list[str] = Field(default_factory=list)


class PodOS(Part):
    """`os` of PodSpec."""

    name: str = ""


class PodReadinessGate(Part):
    """`readiness_gates` of PodSpec."""

    condition_type: str = ""


class PodResourceClaim(Part):
    """`resource_claims` of PodSpec."""

    name: str = ""
    resource_claim_name: str | None = None
    resource_claim_template_name: str | None = None


class PodSchedulingGate(Part):
    """`scheduling_gates` of PodSpec."""

    name: str = ""


class PodSchedulingGroup(Part):
    """`scheduling_group` of PodSpec."""

    pod_group_name: str | None = None


class Sysctl(Part):
    """`sysctls` of PodSecurityContext."""

    name: str = ""
    value: str = ""


class PodSecurityContext(Part):
    """`security_context` of PodSpec."""

    app_armor_profile: AppArmorProfile | None = None
    fs_group: int | None = None
    fs_group_change_policy: str | None = None
    run_as_group: int | None = None
    run_as_non_root: bool | None = None
    run_as_user: int | None = None
    se_linux_change_policy: str | None = None
    se_linux_options: SELinuxOptions | None = None
    seccomp_profile: SeccompProfile | None = None
    supplemental_groups: list[int] = Field(default_factory=list)
    supplemental_groups_policy: str | None = None
    sysctls: list[Sysctl] = Field(default_factory=list)
    windows_options: WindowsSecurityContextOptions | None = None


class Toleration(Part):
    """`tolerations` of PodSpec, `tolerations` of Scheduling."""

    effect: str | None = None
    key: str | None = None
    operator: str | None = None
    toleration_seconds: int | None = None
    value: str | None = None


class TopologySpreadConstraint(Part):
    """`topology_spread_constraints` of PodSpec."""

    label_selector: LabelSelector | None = None
    match_label_keys: list[str] = Field(default_factory=list)
    max_skew: int = 0
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    topology_key: str = ""
    when_unsatisfiable: str = ""


class PortworxVolumeSource(Part):
    """`portworx_volume` of PersistentVolumeSpec, `portworx_volume` of Volume."""

    fs_type: str | None = None
    read_only: bool | None = None
    volume_id: str = Field(default="", validation_alias="volumeID", serialization_alias="volumeID")


class PodCertificateProjection(Part):
    """`pod_certificate` of VolumeProjection."""

    certificate_chain_path: str | None = None
    credential_bundle_path: str | None = None
    key_path: str | None = None
    key_type: str = ""
    max_expiration_seconds: int | None = None
    signer_name: str = ""
    user_annotations: dict[str, str] = Field(default_factory=dict)


class SecretProjection(Part):
    """`secret` of VolumeProjection."""

    items: list[KeyToPath] = Field(default_factory=list)
    name: str = ""
    optional: bool | None = None


class ServiceAccountTokenProjection(Part):
    """`service_account_token` of VolumeProjection."""

    audience: str | None = None
    expiration_seconds: int | None = None
    path: str = ""


class VolumeProjection(Part):
    """`sources` of ProjectedVolumeSource."""

    cluster_trust_bundle: ClusterTrustBundleProjection | None = None
    config_map: ConfigMapProjection | None = None
    downward_api: DownwardAPIProjection | None = Field(
        default=None, validation_alias="downwardAPI", serialization_alias="downwardAPI"
    )
    pod_certificate: PodCertificateProjection | None = None
    secret: SecretProjection | None = None
    service_account_token: ServiceAccountTokenProjection | None = None


class ProjectedVolumeSource(Part):
    """`projected` of Volume."""

    default_mode: int | None = None
    sources: list[VolumeProjection] = Field(default_factory=list)


class QuobyteVolumeSource(Part):
    """`quobyte` of PersistentVolumeSpec, `quobyte` of Volume."""

    group: str | None = None
    read_only: bool | None = None
    registry: str = ""
    tenant: str | None = None
    user: str | None = None
    volume: str = ""


class RBDVolumeSource(Part):
    """`rbd` of Volume."""

    fs_type: str | None = None
    image: str = ""
    keyring: str = "/etc/ceph/keyring"
    monitors: list[str] = Field(default_factory=list)
    pool: str = "rbd"
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None
    user: str = "admin"


class ScaleIOVolumeSource(Part):
    """`scale_io` of Volume."""

    fs_type: str = "xfs"
    gateway: str = ""
    protection_domain: str | None = None
    read_only: bool | None = None
    secret_ref: LocalObjectReference = Field(default_factory=LocalObjectReference)
    ssl_enabled: bool | None = None
    storage_mode: str = "ThinProvisioned"
    storage_pool: str | None = None
    system: str = ""
    volume_name: str | None = None


class SecretVolumeSource(Part):
    """`secret` of Volume."""

    default_mode: int | None = None
    items: list[KeyToPath] = Field(default_factory=list)
    optional: bool | None = None
    secret_name: str | None = None


class StorageOSVolumeSource(Part):
    """`storageos` of Volume."""

    fs_type: str | None = None
    read_only: bool | None = None
    secret_ref: LocalObjectReference | None = None
    volume_name: str | None = None
    volume_namespace: str | None = None


class VsphereVirtualDiskVolumeSource(Part):
    """`vsphere_volume` of PersistentVolumeSpec, `vsphere_volume` of Volume."""

    fs_type: str | None = None
    storage_policy_id: str | None = Field(
        default=None, validation_alias="storagePolicyID", serialization_alias="storagePolicyID"
    )
    storage_policy_name: str | None = None
    volume_path: str = ""


class Volume(Part):
    """`volumes` of PodSpec."""

    aws_elastic_block_store: AWSElasticBlockStoreVolumeSource | None = None
    azure_disk: AzureDiskVolumeSource | None = None
    azure_file: AzureFileVolumeSource | None = None
    cephfs: CephFSVolumeSource | None = None
    cinder: CinderVolumeSource | None = None
    config_map: ConfigMapVolumeSource | None = None
    csi: CSIVolumeSource | None = None
    downward_api: DownwardAPIVolumeSource | None = Field(
        default=None, validation_alias="downwardAPI", serialization_alias="downwardAPI"
    )
    empty_dir: EmptyDirVolumeSource | None = None
    ephemeral: EphemeralVolumeSource | None = None
    fc: FCVolumeSource | None = None
    flex_volume: FlexVolumeSource | None = None
    flocker: FlockerVolumeSource | None = None
    gce_persistent_disk: GCEPersistentDiskVolumeSource | None = None
    git_repo: GitRepoVolumeSource | None = None
    glusterfs: GlusterfsVolumeSource | None = None
    host_path: HostPathVolumeSource | None = None
    image: ImageVolumeSource | None = None
    iscsi: ISCSIVolumeSource | None = None
    name: str = ""
    nfs: NFSVolumeSource | None = None
    persistent_volume_claim: PersistentVolumeClaimVolumeSource | None = None
    photon_persistent_disk: PhotonPersistentDiskVolumeSource | None = None
    portworx_volume: PortworxVolumeSource | None = None
    projected: ProjectedVolumeSource | None = None
    quobyte: QuobyteVolumeSource | None = None
    rbd: RBDVolumeSource | None = None
    scale_io: ScaleIOVolumeSource | None = Field(
        default=None, validation_alias="scaleIO", serialization_alias="scaleIO"
    )
    secret: SecretVolumeSource | None = None
    storageos: StorageOSVolumeSource | None = None
    vsphere_volume: VsphereVirtualDiskVolumeSource | None = None


class PodSpec(Part):
    """`spec` of Pod, `spec` of PodTemplateSpec."""

    active_deadline_seconds: int | None = None
    affinity: Affinity | None = None
    automount_service_account_token: bool | None = None
    containers: list[Container] = Field(default_factory=list)
    dns_config: PodDNSConfig | None = None
    dns_policy: str | None = None
    enable_service_links: bool | None = None
    ephemeral_containers: list[EphemeralContainer] = Field(default_factory=list)
    host_aliases: list[HostAlias] = Field(default_factory=list)
    host_ipc: bool | None = Field(default=None, validation_alias="hostIPC", serialization_alias="hostIPC")
    host_network: bool | None = None
    host_pid: bool | None = Field(default=None, validation_alias="hostPID", serialization_alias="hostPID")
    host_users: bool | None = None
    hostname: str | None = None
    hostname_override: str | None = None
    image_pull_secrets: list[LocalObjectReference] = Field(default_factory=list)
    init_containers: list[Container] = Field(default_factory=list)
    node_name: str | None = None
    node_selector: dict[str, str] = Field(default_factory=dict)
    os: PodOS | None = None
    overhead: dict[str, Quantity] = Field(default_factory=dict)
    preemption_policy: str | None = None
    priority: int | None = None
    priority_class_name: str | None = None
    readiness_gates: list[PodReadinessGate] = Field(default_factory=list)
    resource_claims: list[PodResourceClaim] = Field(default_factory=list)
    resources: ResourceRequirements | None = None
    restart_policy: str | None = None
    runtime_class_name: str | None = None
    scheduler_name: str | None = None
    scheduling_gates: list[PodSchedulingGate] = Field(default_factory=list)
    scheduling_group: PodSchedulingGroup | None = None
    security_context: PodSecurityContext | None = None
    service_account: str | None = None
    service_account_name: str | None = None
    set_hostname_as_fqdn: bool | None = Field(
        default=None, validation_alias="setHostnameAsFQDN", serialization_alias="setHostnameAsFQDN"
    )
    share_process_namespace: bool | None = None
    subdomain: str | None = None
    termination_grace_period_seconds: int | None = None
    tolerations: list[Toleration] = Field(default_factory=list)
    topology_spread_constraints: list[TopologySpreadConstraint] = Field(default_factory=list)
    volumes: list[Volume] = Field(default_factory=list)


class PodCondition(Part):
    """`conditions` of PodStatus."""

    last_probe_time: Time | None = None
    last_transition_time: Time | None = None
    message: str | None = None
    observed_generation: int | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


class PodExtendedResourceClaimStatus(Part):
    """`extended_resource_claim_status` of PodStatus."""

    request_mappings: list[ContainerExtendedResourceRequest] = Field(default_factory=list)
    resource_claim_name: str = ""


class PodIP(Part):
    """`pod_ips` of PodStatus."""

    ip: str = ""


class PodResourceClaimStatus(Part):
    """`resource_claim_statuses` of PodStatus."""

    name: str = ""
    resource_claim_name: str | None = None


class PodStatus(Part):
    """`status` of Pod."""

    allocated_resources: dict[str, Quantity] = Field(default_factory=dict)
    conditions: list[PodCondition] = Field(default_factory=list)
    container_statuses: list[ContainerStatus] = Field(default_factory=list)
    ephemeral_container_statuses: list[ContainerStatus] = Field(default_factory=list)
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    host_ip: str | None = Field(default=None, validation_alias="hostIP", serialization_alias="hostIP")
    host_ips: list[HostIP] = Field(default_factory=list, validation_alias="hostIPs", serialization_alias="hostIPs")
    init_container_statuses: list[ContainerStatus] = Field(default_factory=list)
    message: str | None = None
    node_allocatable_resource_claim_statuses: list[NodeAllocatableResourceClaimStatus] = Field(default_factory=list)
    nominated_node_name: str | None = None
    observed_generation: int | None = None
    phase: str | None = None
    pod_ip: str | None = Field(default=None, validation_alias="podIP", serialization_alias="podIP")
    pod_ips: list[PodIP] = Field(default_factory=list, validation_alias="podIPs", serialization_alias="podIPs")
    qos_class: str | None = None
    reason: str | None = None
    resize: str | None = None
    resource_claim_statuses: list[PodResourceClaimStatus] = Field(default_factory=list)
    resources: ResourceRequirements | None = None
    start_time: Time | None = None


class Pod(
    Kind,
    group="",
    version="v1",
    plural="pods",
    short_names=("po",),
    categories=("all",),
    subresources=(
        "attach",
        "binding",
        "ephemeralcontainers",
        "eviction",
        "exec",
        "log",
        "portforward",
        "proxy",
        "resize",
        "status",
    ),
):
    """Pod of v1."""

    spec: PodSpec = Field(default_factory=PodSpec)
    status: PodStatus = Field(default_factory=PodStatus)


class PodTemplateSpec(Part):
    """`template` of DaemonSetSpec, `template` of DeploymentSpec, `template` of JobSpec, …"""

    metadata: ObjectMeta = Field(default_factory=ObjectMeta)
    spec: PodSpec = Field(default_factory=PodSpec)
