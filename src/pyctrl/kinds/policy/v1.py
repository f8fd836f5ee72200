# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of policy/v1 and their parts."""

from pydantic import Field

from pyctrl.api import Condition, IntOrString, Time
from pyctrl.kinds._builtin import Kind, Part
from pyctrl.kinds.meta.v1 import DeleteOptions, LabelSelector

__all__ = ["Eviction", "PodDisruptionBudget", "PodDisruptionBudgetSpec", "PodDisruptionBudgetStatus"]


class Eviction(Kind, group="policy", version="v1"):
    """Eviction of policy/v1."""

    delete_options: DeleteOptions | None = None


class PodDisruptionBudgetSpec(Part):
    """`spec` of PodDisruptionBudget."""

    max_unavailable: IntOrString | None = None
    min_available: IntOrString | None = None
    selector: LabelSelector | None = None
    unhealthy_pod_eviction_policy: str | None = None


class PodDisruptionBudgetStatus(Part):
    """`status` of PodDisruptionBudget."""

    conditions: list[Condition] = Field(default_factory=list)
    current_healthy: int = 0
    desired_healthy: int = 0
    disrupted_pods: dict[str, Time] = Field(default_factory=dict)
    disruptions_allowed: int = 0
    expected_pods: int = 0
    observed_generation: int | None = None


class PodDisruptionBudget(
    Kind, group="policy", version="v1", plural="poddisruptionbudgets", short_names=("pdb",), subresources=("status",)
):
    """PodDisruptionBudget of policy/v1."""

    spec: PodDisruptionBudgetSpec = Field(default_factory=PodDisruptionBudgetSpec)
    status: PodDisruptionBudgetStatus = Field(default_factory=PodDisruptionBudgetStatus)
