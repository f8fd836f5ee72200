# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of apps/v1 and their parts."""

from typing import Any

from pydantic import Field

from pyctrl.api import IntOrString, Time
from pyctrl.kinds._builtin import Kind, Part
from pyctrl.kinds.core.v1 import PersistentVolumeClaim, PodTemplateSpec
from pyctrl.kinds.meta.v1 import LabelSelector

__all__ = [
    "ControllerRevision",
    "DaemonSet",
    "DaemonSetCondition",
    "DaemonSetSpec",
    "DaemonSetStatus",
    "DaemonSetUpdateStrategy",
    "Deployment",
    "DeploymentCondition",
    "DeploymentSpec",
    "DeploymentStatus",
    "DeploymentStrategy",
    "ReplicaSet",
    "ReplicaSetCondition",
    "ReplicaSetSpec",
    "ReplicaSetStatus",
    "RollingUpdateDaemonSet",
    "RollingUpdateDeployment",
    "RollingUpdateStatefulSetStrategy",
    "StatefulSet",
    "StatefulSetCondition",
    "StatefulSetOrdinals",
    "StatefulSetPersistentVolumeClaimRetentionPolicy",
    "StatefulSetSpec",
    "StatefulSetStatus",
    "StatefulSetUpdateStrategy",
]


class ControllerRevision(Kind, group="apps", version="v1", plural="controllerrevisions"):
    """ControllerRevision of apps/v1."""

    data: dict[str, Any] = Field(default_factory=dict)
    revision: int = 0


class RollingUpdateDaemonSet(Part):
    """`rolling_update` of DaemonSetUpdateStrategy."""

    max_surge: IntOrString | None = None
    max_unavailable: IntOrString | None = None


class DaemonSetUpdateStrategy(Part):
    """`update_strategy` of DaemonSetSpec."""

    rolling_update: RollingUpdateDaemonSet | None = None
    type: str | None = None


class DaemonSetSpec(Part):
    """`spec` of DaemonSet."""

    min_ready_seconds: int | None = None
    revision_history_limit: int | None = None
    selector: LabelSelector = Field(default_factory=LabelSelector)
    template: PodTemplateSpec = Field(default_factory=PodTemplateSpec)
    update_strategy: DaemonSetUpdateStrategy = Field(default_factory=DaemonSetUpdateStrategy)


class DaemonSetCondition(Part):
    """`conditions` of DaemonSetStatus."""

    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


class DaemonSetStatus(Part):
    """`status` of DaemonSet."""

    collision_count: int | None = None
    conditions: list[DaemonSetCondition] = Field(default_factory=list)
    current_number_scheduled: int = 0
    desired_number_scheduled: int = 0
    number_available: int | None = None
    number_misscheduled: int = 0
    number_ready: int = 0
    number_unavailable: int | None = None
    observed_generation: int | None = None
    updated_number_scheduled: int | None = None


class DaemonSet(
    Kind,
    group="apps",
    version="v1",
    plural="daemonsets",
    short_names=("ds",),
    categories=("all",),
    subresources=("status",),
):
    """DaemonSet of apps/v1."""

    spec: DaemonSetSpec = Field(default_factory=DaemonSetSpec)
    status: DaemonSetStatus = Field(default_factory=DaemonSetStatus)


class RollingUpdateDeployment(Part):
    """`rolling_update` of DeploymentStrategy."""

    max_surge: IntOrString | None = None
    max_unavailable: IntOrString | None = None


class DeploymentStrategy(Part):
    """`strategy` of DeploymentSpec."""

    rolling_update: RollingUpdateDeployment | None = None
    type: str | None = None


class DeploymentSpec(Part):
    """`spec` of Deployment."""

    min_ready_seconds: int | None = None
    paused: bool | None = None
    progress_deadline_seconds: int | None = None
    replicas: int | None = None
    revision_history_limit: int | None = None
    selector: LabelSelector = Field(default_factory=LabelSelector)
    strategy: DeploymentStrategy = Field(default_factory=DeploymentStrategy)
    template: PodTemplateSpec = Field(default_factory=PodTemplateSpec)


class DeploymentCondition(Part):
    """`conditions` of DeploymentStatus."""

    last_transition_time: Time | None = None
    last_update_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


class DeploymentStatus(Part):
    """`status` of Deployment."""

    available_replicas: int | None = None
    collision_count: int | None = None
    conditions: list[DeploymentCondition] = Field(default_factory=list)
    observed_generation: int | None = None
    ready_replicas: int | None = None
    replicas: int | None = None
    terminating_replicas: int | None = None
    unavailable_replicas: int | None = None
    updated_replicas: int | None = None


class Deployment(
    Kind,
    group="apps",
    version="v1",
    plural="deployments",
    short_names=("deploy",),
    categories=("all",),
    subresources=(
        "scale",
        "status",
    ),
):
    """Deployment of apps/v1."""

    spec: DeploymentSpec = Field(default_factory=DeploymentSpec)
    status: DeploymentStatus = Field(default_factory=DeploymentStatus)


class ReplicaSetSpec(Part):
    """`spec` of ReplicaSet."""

    min_ready_seconds: int | None = None
    replicas: int | None = None
    selector: LabelSelector = Field(default_factory=LabelSelector)
    template: PodTemplateSpec = Field(default_factory=PodTemplateSpec)


class ReplicaSetCondition(Part):
    """`conditions` of ReplicaSetStatus."""

    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


class ReplicaSetStatus(Part):
    """`status` of ReplicaSet."""

    available_replicas: int | None = None
    conditions: list[ReplicaSetCondition] = Field(default_factory=list)
    fully_labeled_replicas: int | None = None
    observed_generation: int | None = None
    ready_replicas: int | None = None
    replicas: int = 0
    terminating_replicas: int | None = None


class ReplicaSet(
    Kind,
    group="apps",
    version="v1",
    plural="replicasets",
    short_names=("rs",),
    categories=("all",),
    subresources=(
        "scale",
        "status",
    ),
):
    """ReplicaSet of apps/v1."""

    spec: ReplicaSetSpec = Field(default_factory=ReplicaSetSpec)
    status: ReplicaSetStatus = Field(default_factory=ReplicaSetStatus)


class RollingUpdateStatefulSetStrategy(Part):
    """`rolling_update` of StatefulSetUpdateStrategy."""

    max_unavailable: IntOrString | None = None
    partition: int | None = None


class StatefulSetOrdinals(Part):
    """`ordinals` of StatefulSetSpec."""

    start: int = 0


class StatefulSetPersistentVolumeClaimRetentionPolicy(Part):
    """`persistent_volume_claim_retention_policy` of StatefulSetSpec."""

    when_deleted: str | None = None
    when_scaled: str | None = None


class StatefulSetUpdateStrategy(Part):
    """`update_strategy` of StatefulSetSpec."""

    rolling_update: RollingUpdateStatefulSetStrategy | None = None
    type: str | None = None


class StatefulSetSpec(Part):
    """`spec` of StatefulSet."""

    min_ready_seconds: int | None = None
    ordinals: StatefulSetOrdinals | None = None
    persistent_volume_claim_retention_policy: StatefulSetPersistentVolumeClaimRetentionPolicy | None = None
    pod_management_policy: str | None = None
    replicas: int | None = None
    revision_history_limit: int | None = None
    selector: LabelSelector = Field(default_factory=LabelSelector)
    service_name: str = ""
    template: PodTemplateSpec = Field(default_factory=PodTemplateSpec)
    update_strategy: StatefulSetUpdateStrategy = Field(default_factory=StatefulSetUpdateStrategy)
    volume_claim_templates: list[PersistentVolumeClaim] = Field(default_factory=list)


class StatefulSetCondition(Part):
    """`conditions` of StatefulSetStatus."""

    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


class StatefulSetStatus(Part):
    """`status` of StatefulSet."""

    available_replicas: int = 0
    collision_count: int | None = None
    conditions: list[StatefulSetCondition] = Field(default_factory=list)
    current_replicas: int | None = None
    current_revision: str | None = None
    observed_generation: int | None = None
    ready_replicas: int | None = None
    replicas: int = 0
    update_revision: str | None = None
    updated_replicas: int | None = None


class StatefulSet(
    Kind,
    group="apps",
    version="v1",
    plural="statefulsets",
    short_names=("sts",),
    categories=("all",),
    subresources=(
        "scale",
        "status",
    ),
):
    """StatefulSet of apps/v1."""

    spec: StatefulSetSpec = Field(default_factory=StatefulSetSpec)
    status: StatefulSetStatus = Field(default_factory=StatefulSetStatus)
