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
    """`scale_target_ref` of HorizontalPodAutoscalerSpec."""

    api_version: str | None = None
    kind: str = ""
    name: str = ""


class HorizontalPodAutoscalerSpec(Part):
    """`spec` of HorizontalPodAutoscaler."""

    max_replicas: int = 0
    min_replicas: int | None = None
    scale_target_ref: CrossVersionObjectReference = Field(default_factory=CrossVersionObjectReference)
    target_cpu_utilization_percentage: int | None = Field(
        default=None,
        validation_alias="targetCPUUtilizationPercentage",
        serialization_alias="targetCPUUtilizationPercentage",
    )


class HorizontalPodAutoscalerStatus(Part):
    """`status` of HorizontalPodAutoscaler."""

    current_cpu_utilization_percentage: int | None = Field(
        default=None,
        validation_alias="currentCPUUtilizationPercentage",
        serialization_alias="currentCPUUtilizationPercentage",
    )
    current_replicas: int = 0
    desired_replicas: int = 0
    last_scale_time: Time | None = None
    observed_generation: int | None = None


class HorizontalPodAutoscaler(
    Kind,
    group="autoscaling",
    version="v1",
    plural="horizontalpodautoscalers",
    short_names=("hpa",),
    categories=("all",),
    subresources=("status",),
):
    """HorizontalPodAutoscaler of autoscaling/v1."""

    spec: HorizontalPodAutoscalerSpec = Field(default_factory=HorizontalPodAutoscalerSpec)
    status: HorizontalPodAutoscalerStatus = Field(default_factory=HorizontalPodAutoscalerStatus)


class ScaleSpec(Part):
    """`spec` of Scale."""

    replicas: int = 0


class ScaleStatus(Part):
    """`status` of Scale."""

    replicas: int = 0
    selector: str | None = None


class Scale(Kind, group="autoscaling", version="v1"):
    """Scale of autoscaling/v1."""

    spec: ScaleSpec = Field(default_factory=ScaleSpec)
    status: ScaleStatus = Field(default_factory=ScaleStatus)
