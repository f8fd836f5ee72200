"""EphemeralVolumeClaim: a claim of a volume, as its user writes it and as its status reports it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pyctrl.api import Condition, CustomResource, Int64, Model, PreserveUnknownFields

__all__ = ["EphemeralVolumeClaim", "EvcSpec", "EvcStatus"]


class EvcSpec(Model, marks=(PreserveUnknownFields(),)):
    """What the user wants."""

    size: Annotated[object, PreserveUnknownFields()] = None
    """Such as 2G. The definition accepts any value; the status reports an invalid one."""


class EvcStatus(Model, marks=(PreserveUnknownFields(),)):
    """What there is. Unknown fields, such as kopf's, are kept."""

    size: str | None = None
    phase: str | None = None
    volume: str | None = None
    observed_generation: Int64 | None = None
    conditions: list[Condition] = Field(default_factory=list)


class EphemeralVolumeClaim(
    CustomResource[EvcSpec, EvcStatus], group="kopf.dev", version="v1", short_names=("evcs", "evc"), subresources=()
):
    """EphemeralVolumeClaim is a volume of a given size that is deleted with its claim."""
