# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of autoscaling/v2 and their parts."""

from pydantic import Field

from pyctrl.api import Quantity, Time
from pyctrl.kinds._builtin import Kind, Part
from pyctrl.kinds.meta.v1 import LabelSelector

__all__ = [
    "ContainerResourceMetricSource",
    "ContainerResourceMetricStatus",
    "CrossVersionObjectReference",
    "ExternalMetricSource",
    "ExternalMetricStatus",
    "HPAScalingPolicy",
    "HPAScalingRules",
    "HorizontalPodAutoscaler",
    "HorizontalPodAutoscalerBehavior",
    "HorizontalPodAutoscalerCondition",
    "HorizontalPodAutoscalerSpec",
    "HorizontalPodAutoscalerStatus",
    "MetricIdentifier",
    "MetricSpec",
    "MetricStatus",
    "MetricTarget",
    "MetricValueStatus",
    "ObjectMetricSource",
    "ObjectMetricStatus",
    "PodsMetricSource",
    "PodsMetricStatus",
    "ResourceMetricSource",
    "ResourceMetricStatus",
]


class MetricTarget(Part):
    """`target` of ContainerResourceMetricSource, `target` of ExternalMetricSource, `target` of ObjectMetricSource, …"""

    average_utilization: int | None = None
    average_value: Quantity | None = None
    type: str = ""
    value: Quantity | None = None


class ContainerResourceMetricSource(Part):
    """`container_resource` of MetricSpec."""

    container: str = ""
    name: str = ""
    target: MetricTarget = Field(default_factory=MetricTarget)


class MetricValueStatus(Part):
    """`current` of ContainerResourceMetricStatus, `current` of ExternalMetricStatus, `current` of ObjectMetricStatus, …"""

    average_utilization: int | None = None
    average_value: Quantity | None = None
    value: Quantity | None = None


class ContainerResourceMetricStatus(Part):
    """`container_resource` of MetricStatus."""

    container: str = ""
    current: MetricValueStatus = Field(default_factory=MetricValueStatus)
    name: str = ""


class CrossVersionObjectReference(Part):
    """`scale_target_ref` of HorizontalPodAutoscalerSpec, `described_object` of ObjectMetricSource, `described_object` of ObjectMetricStatus."""

    api_version: str | None = None
    kind: str = ""
    name: str = ""


class MetricIdentifier(Part):
    """`metric` of ExternalMetricSource, `metric` of ExternalMetricStatus, `metric` of ObjectMetricSource, …"""

    name: str = ""
    selector: LabelSelector | None = None


class ExternalMetricSource(Part):
    """`external` of MetricSpec."""

    metric: MetricIdentifier = Field(default_factory=MetricIdentifier)
    target: MetricTarget = Field(default_factory=MetricTarget)


class ExternalMetricStatus(Part):
    """`external` of MetricStatus."""

    current: MetricValueStatus = Field(default_factory=MetricValueStatus)
    metric: MetricIdentifier = Field(default_factory=MetricIdentifier)


class HPAScalingPolicy(Part):
    """`policies` of HPAScalingRules."""

    period_seconds: int = 0
    type: str = ""
    value: int = 0


class HPAScalingRules(Part):
    """`scale_down` of HorizontalPodAutoscalerBehavior, `scale_up` of HorizontalPodAutoscalerBehavior."""

    policies: list[HPAScalingPolicy] = Field(default_factory=list)
    select_policy: str | None = None
    stabilization_window_seconds: int | None = None
    tolerance: Quantity | None = None


class HorizontalPodAutoscalerBehavior(Part):
    """`behavior` of HorizontalPodAutoscalerSpec."""

    scale_down: HPAScalingRules | None = None
    scale_up: HPAScalingRules | None = None


class ObjectMetricSource(Part):
    """`object` of MetricSpec."""

    described_object: CrossVersionObjectReference = Field(default_factory=CrossVersionObjectReference)
    metric: MetricIdentifier = Field(default_factory=MetricIdentifier)
    target: MetricTarget = Field(default_factory=MetricTarget)


class PodsMetricSource(Part):
    """`pods` of MetricSpec."""

    metric: MetricIdentifier = Field(default_factory=MetricIdentifier)
    target: MetricTarget = Field(default_factory=MetricTarget)


class ResourceMetricSource(Part):
    """`resource` of MetricSpec."""

    name: str = ""
    target: MetricTarget = Field(default_factory=MetricTarget)


class MetricSpec(Part):
    """`metrics` of HorizontalPodAutoscalerSpec."""

    container_resource: ContainerResourceMetricSource | None = None
    external: ExternalMetricSource | None = None
    object: ObjectMetricSource | None = None
    pods: PodsMetricSource | None = None
    resource: ResourceMetricSource | None = None
    type: str = ""


class HorizontalPodAutoscalerSpec(Part):
    """`spec` of HorizontalPodAutoscaler."""

    behavior: HorizontalPodAutoscalerBehavior | None = None
    max_replicas: int = 0
    metrics: list[MetricSpec] = Field(default_factory=list)
    min_replicas: int | None = None
    scale_target_ref: CrossVersionObjectReference = Field(default_factory=CrossVersionObjectReference)


class HorizontalPodAutoscalerCondition(Part):
    """`conditions` of HorizontalPodAutoscalerStatus."""

    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


class ObjectMetricStatus(Part):
    """`object` of MetricStatus."""

    current: MetricValueStatus = Field(default_factory=MetricValueStatus)
    described_object: CrossVersionObjectReference = Field(default_factory=CrossVersionObjectReference)
    metric: MetricIdentifier = Field(default_factory=MetricIdentifier)


class PodsMetricStatus(Part):
    """`pods` of MetricStatus."""

    current: MetricValueStatus = Field(default_factory=MetricValueStatus)
    metric: MetricIdentifier = Field(default_factory=MetricIdentifier)


class ResourceMetricStatus(Part):
    """`resource` of MetricStatus."""

    current: MetricValueStatus = Field(default_factory=MetricValueStatus)
    name: str = ""


class MetricStatus(Part):
    """`current_metrics` of HorizontalPodAutoscalerStatus."""

    container_resource: ContainerResourceMetricStatus | None = None
    external: ExternalMetricStatus | None = None
    object: ObjectMetricStatus | None = None
    pods: PodsMetricStatus | None = None
    resource: ResourceMetricStatus | None = None
    type: str = ""


class HorizontalPodAutoscalerStatus(Part):
    """`status` of HorizontalPodAutoscaler."""

    conditions: list[HorizontalPodAutoscalerCondition] = Field(default_factory=list)
    current_metrics: list[MetricStatus] = Field(default_factory=list)
    current_replicas: int | None = None
    desired_replicas: int = 0
    last_scale_time: Time | None = None
    observed_generation: int | None = None


class HorizontalPodAutoscaler(
    Kind,
    group="autoscaling",
    version="v2",
    plural="horizontalpodautoscalers",
    short_names=("hpa",),
    categories=("all",),
    subresources=("status",),
):
    """HorizontalPodAutoscaler of autoscaling/v2."""

    spec: HorizontalPodAutoscalerSpec = Field(default_factory=HorizontalPodAutoscalerSpec)
    status: HorizontalPodAutoscalerStatus = Field(default_factory=HorizontalPodAutoscalerStatus)
