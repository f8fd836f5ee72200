"""Version v2 of CronJob: the schedule is an object with a field for each part."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

from pyctrl import AGE, CustomResource, Int32, Int64, Model, PrinterColumn
from pyctrl.api import MetadataName
from pyctrl.kinds.batch.v1 import JobTemplateSpec

from .v1 import ConcurrencyPolicy, CronJobStatus

__all__ = ["CronJob", "CronJobSpec", "CronSchedule"]

#: One field of cron: ``5``, ``1-5``, ``*/10``, ``MON,WED``; without blanks.
CronField: TypeAlias = Annotated[str, Field(pattern=r"^\S+$")]


class CronSchedule(Model):
    """When to run, in UTC. A field that is left out matches every value."""

    minute: CronField = "*"
    hour: CronField = "*"
    day_of_month: CronField = "*"
    month: CronField = "*"
    day_of_week: CronField = "*"


class CronJobSpec(Model):
    """What the user wants."""

    schedule: CronSchedule
    """When to run, in UTC."""

    job_template: JobTemplateSpec
    """The Job to start at each run."""

    concurrency_policy: ConcurrencyPolicy = "Allow"
    """Whether a run starts while an earlier one is active: Allow, Forbid or Replace."""

    starting_deadline_seconds: Int64 | None = Field(None, ge=0)
    """How late a run may start. A later one is missed. Without a deadline the last missed run starts."""

    suspend: bool = False
    """Whether no runs start. Active Jobs continue."""

    successful_jobs_history_limit: Int32 = Field(3, ge=0)
    """The number of successful Jobs to keep."""

    failed_jobs_history_limit: Int32 = Field(1, ge=0)
    """The number of failed Jobs to keep."""


class CronJob(
    CustomResource[CronJobSpec, CronJobStatus],
    group="batch.tutorial.kubebuilder.io",
    version="v2",
    marks=(MetadataName(max_length=52),),
    columns=(
        PrinterColumn("Minute", ".spec.schedule.minute"),
        PrinterColumn("Hour", ".spec.schedule.hour"),
        PrinterColumn("Suspend", ".spec.suspend"),
        PrinterColumn("Last schedule", ".status.lastScheduleTime"),
        AGE,
    ),
):
    """CronJob starts a Job at each time of a schedule."""
