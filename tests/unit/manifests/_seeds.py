"""The kinds of the seed projects, as their authors would write them with pyctrl."""

# ruff: noqa: D415  # descriptions are as kubebuilder has written them: without a period

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from pyctrl.api import CustomResource, Int32, Model, NoServerDefault, PreserveUnknownFields, Required

__all__ = ["CheckedCronTab", "CronTab", "EphemeralVolumeClaim", "MySrv", "PodSet"]


class PodSetSpec(Model):
    """PodSetSpec defines the desired state of PodSet"""

    size: Int32
    """Size is the size of the PodSet deployment"""


class PodSetStatus(Model):
    """PodSetStatus defines the observed state of PodSet"""

    nodes: Annotated[list[str], Required()] = Field(
        default_factory=list, description="Nodes are the names of the PodSet pods"
    )


class PodSet(CustomResource[PodSetSpec, PodSetStatus], group="apps.jicki.cn", version="v1alpha1"):
    """PodSet is the Schema for the podsets API"""

    spec: Annotated[PodSetSpec, Required(False)]  # optional in Go


class MySrvSpec(Model):
    """MySrvSpec defines the desired state of MySrv"""

    port: int
    name: str


class MySrvStatus(Model):
    """MySrvStatus defines the observed state of MySrv"""

    status: str


class MySrv(CustomResource[MySrvSpec, MySrvStatus], group="myapp.idcos.com", version="v1alpha1"):
    """MySrv is the Schema for the mysrvs API"""

    spec: Annotated[MySrvSpec, Required(False)]


class CronTabSpec(Model):
    cron_spec: str | None = None
    image: str | None = None
    replicas: int | None = None


class CronTab(
    CustomResource[CronTabSpec], group="stable.example.com", version="v1", short_names=("ct",), subresources=()
):
    pass


class CheckedCronTabSpec(Model):
    cron_spec: str = Field("5 0 * * *", pattern=r"^(\d+|\*)(/\d+)?(\s+(\d+|\*)(/\d+)?){4}$")
    image: str | None = None
    replicas: int = Field(1, ge=1, le=10)


class CheckedCronTab(
    CustomResource[CheckedCronTabSpec],
    group="stable.example.com",
    version="v1",
    kind="CronTab",
    short_names=("ct",),
    subresources=(),
    marks=(NoServerDefault(),),
):
    pass


class Anything(Model, marks=(PreserveUnknownFields(),)):
    pass


class EphemeralVolumeClaim(
    CustomResource[Anything, Anything], group="kopf.dev", version="v1", short_names=("evcs", "evc"), subresources=()
):
    pass
