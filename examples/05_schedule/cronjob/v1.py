"""Version v1 of CronJob, the one that is stored: the schedule is a text."""

from __future__ import annotations

from typing import Literal, TypeAlias

from pydantic import Field

from pyctrl import AGE, CustomResource, Int32, Int64, Model, PrinterColumn, Time
from pyctrl.api import MetadataName
from pyctrl.kinds.batch.v1 import JobTemplateSpec
from pyctrl.kinds.core.v1 import ObjectReference

__all__ = ["ConcurrencyPolicy", "CronJob", "CronJobSpec", "CronJobStatus"]

#: What to do when a run is due while an earlier one is active: start it too, wait, or delete the earlier one.
ConcurrencyPolicy: TypeAlias = Literal["Allow", "Forbid", "Replace"]


class CronJobSpec(Model):
    """What the user wants."""

    schedule: str = Field(min_length=1, examples=["*/5 * * * *"])
    """When to run, in UTC: minute, hour, day of month, month and day of week. ``@daily`` and the like are expanded."""

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


class CronJobStatus(Model):
    """What there is."""

    active: list[ObjectReference] = Field(default_factory=list)
    """The Jobs that are running."""

    last_schedule_time: Time | None = None
    """The scheduled time of the last run that was started."""


class CronJob(
    CustomResource[CronJobSpec, CronJobStatus],
    group="batch.tutorial.kubebuilder.io",
    version="v1",
    stored=True,
    marks=(MetadataName(max_length=52),),  # its Jobs append 11 characters, and names of Jobs have at most 63
    columns=(
        PrinterColumn("Schedule", ".spec.schedule"),
        PrinterColumn("Suspend", ".spec.suspend"),
        PrinterColumn("Last schedule", ".status.lastScheduleTime"),
        AGE,
    ),
):
    """CronJob starts a Job at each time of a schedule."""
