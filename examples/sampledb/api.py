"""API types of SampleDB: a database of a given version, with volumes and backups."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from pyctrl.api import (
    AGE,
    Condition,
    CustomResource,
    Duration,
    Immutable,
    Int32,
    Int64,
    MetadataName,
    Model,
    PrinterColumn,
    Quantity,
    Time,
    ValidationRule,
)

__all__ = ["SampleDB", "SampleDBSpec", "SampleDBStatus"]


class SampleDBSpec(Model):
    """What the user wants."""

    version: Annotated[Int32, ValidationRule("self >= oldSelf", message="a database cannot be downgraded")] = Field(
        ge=1
    )
    """The release to run. A higher one than before is an upgrade."""

    replicas: Int32 = Field(1, ge=1, le=9)
    """The number of pods that serve the data."""

    storage: Annotated[Quantity, Immutable()] = Quantity("1Gi")
    """The volume size of each pod, and of all backups together."""

    storage_class: Annotated[str, Immutable()] = ""
    """The storage class of the volumes; by default the cluster's."""

    backup_every: Annotated[
        Duration, ValidationRule("duration(self) >= duration('1m')", message="at least a minute was expected")
    ] = timedelta(days=1)
    """The interval between backups."""

    snapshot_on_delete: bool = True
    """Whether the data is saved before deletion. False also releases a database whose snapshot fails."""


class SampleDBStatus(Model):
    """What there is."""

    version: Int32 | None = None
    """The release that the data was created with, or upgraded to."""

    last_backup: Time | None = None
    next_backup: Time | None = None
    observed_generation: Int64 = 0
    conditions: list[Condition] = Field(default_factory=list)


class SampleDB(
    CustomResource[SampleDBSpec, SampleDBStatus],
    group="databases.example.com",
    version="v1alpha1",
    marks=(MetadataName(max_length=40),),  # pods and Jobs have it in their names
    columns=(
        PrinterColumn("Version", ".status.version"),
        PrinterColumn("Ready", '.status.conditions[?(@.type=="Ready")].status'),
        PrinterColumn("Reason", '.status.conditions[?(@.type=="Ready")].reason'),
        PrinterColumn("Last backup", ".status.lastBackup"),
        AGE,
    ),
):
    """SampleDB is a database that is initialised, backed up, upgraded, and saved before its deletion."""
