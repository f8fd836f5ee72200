# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of autoscaling/v1 and their parts."""

from pydantic import Field

from pyctrl.api import Time
from pyctrl.kinds._builtin import Kind, Part

__all__ = [
    "CrossVersionObjectReference",
    "HorizontalPodAutoscaler",
    "HorizontalPodAutoscalerSpec",
    "HorizontalPodAutoscalerStatus",
    "Scale",
    "ScaleSpec",
    "ScaleStatus",
]


class CrossVersionObjectReference(Part):
    """CrossVersionObjectReference contains enough information to let you identify the referred resource."""

    api_version: str | None = None
    """apiVersion is the API version of the referent"""
    kind: str = ""
    """kind is the kind of the referent; More info:
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds
    """
    name: str = ""
    """name is the name of the referent; More info:
    https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#names
    """


class HorizontalPodAutoscalerSpec(Part):
    """specification of a horizontal pod autoscaler."""

    max_replicas: int = 0
    """maxReplicas is the upper limit for the number of pods that can be set by the autoscaler; cannot be smaller
    than MinReplicas.
    """
    min_replicas: int | None = None
    """minReplicas is the lower limit for the number of replicas to which the autoscaler can scale down.  It defaults
    to 1 pod.  minReplicas is allowed to be 0 if the alpha feature gate HPAScaleToZero is enabled and at least one
    Object or External metric is configured.  Scaling is active as long as at least one metric value is available.
    """
    scale_target_ref: CrossVersionObjectReference = Field(default_factory=CrossVersionObjectReference)
    """reference to scaled resource; horizontal pod autoscaler will learn the current resource consumption and will
    set the desired number of pods by using its Scale subresource.
    """
    target_cpu_utilization_percentage: int | None = Field(
        default=None,
        validation_alias="targetCPUUtilizationPercentage",
        serialization_alias="targetCPUUtilizationPercentage",
    )
    """targetCPUUtilizationPercentage is the target average CPU utilization (represented as a percentage of requested
    CPU) over all the pods; if not specified the default autoscaling policy will be used.
    """


class HorizontalPodAutoscalerStatus(Part):
    """current status of a horizontal pod autoscaler"""

    current_cpu_utilization_percentage: int | None = Field(
        default=None,
        validation_alias="currentCPUUtilizationPercentage",
        serialization_alias="currentCPUUtilizationPercentage",
    )
    """currentCPUUtilizationPercentage is the current average CPU utilization over all pods, represented as a
    percentage of requested CPU, e.g. 70 means that an average pod is using now 70% of its requested CPU.
    """
    current_replicas: int = 0
    """currentReplicas is the current number of replicas of pods managed by this autoscaler."""
    desired_replicas: int = 0
    """desiredReplicas is the  desired number of replicas of pods managed by this autoscaler."""
    last_scale_time: Time | None = None
    """lastScaleTime is the last time the HorizontalPodAutoscaler scaled the number of pods; used by the autoscaler
    to control how often the number of pods is changed.
    """
    observed_generation: int | None = None
    """observedGeneration is the most recent generation observed by this autoscaler."""


class HorizontalPodAutoscaler(
    Kind,
    group="autoscaling",
    version="v1",
    plural="horizontalpodautoscalers",
    short_names=("hpa",),
    categories=("all",),
    subresources=("status",),
):
    """configuration of a horizontal pod autoscaler."""

    spec: HorizontalPodAutoscalerSpec = Field(default_factory=HorizontalPodAutoscalerSpec)
    """spec defines the behaviour of autoscaler. More info:
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status.
    """
    status: HorizontalPodAutoscalerStatus = Field(default_factory=HorizontalPodAutoscalerStatus)
    """status is the current information about the autoscaler."""


class ScaleSpec(Part):
    """ScaleSpec describes the attributes of a scale subresource."""

    replicas: int = 0
    """replicas is the desired number of instances for the scaled object."""


class ScaleStatus(Part):
    """ScaleStatus represents the current status of a scale subresource."""

    replicas: int = 0
    """replicas is the actual number of observed instances of the scaled object."""
    selector: str | None = None
    """selector is the label query over pods that should match the replicas count. This is same as the label selector
    but in the string format to avoid introspection by clients. The string will be in the same format as the
    query-param syntax. More info about label selectors:
    https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/
    """


class Scale(Kind, group="autoscaling", version="v1"):
    """Scale represents a scaling request for a resource."""

    spec: ScaleSpec = Field(default_factory=ScaleSpec)
    """spec defines the behavior of the scale. More info:
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status.
    """
    status: ScaleStatus = Field(default_factory=ScaleStatus)
    """status is the current status of the scale. More info:
    https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#spec-and-status.
    Read-only.
    """
