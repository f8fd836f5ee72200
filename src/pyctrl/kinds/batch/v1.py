# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of batch/v1 and their parts."""

from pydantic import Field

from pyctrl.api import ObjectMeta, Time
from pyctrl.kinds._builtin import Kind, Part
from pyctrl.kinds.core.v1 import ObjectReference, PodTemplateSpec
from pyctrl.kinds.meta.v1 import LabelSelector

__all__ = [
    "CronJob",
    "CronJobSpec",
    "CronJobStatus",
    "Job",
    "JobCondition",
    "JobSpec",
    "JobStatus",
    "JobTemplateSpec",
    "PodFailurePolicy",
    "PodFailurePolicyOnExitCodesRequirement",
    "PodFailurePolicyOnPodConditionsPattern",
    "PodFailurePolicyRule",
    "SuccessPolicy",
    "SuccessPolicyRule",
    "UncountedTerminatedPods",
]


class PodFailurePolicyOnExitCodesRequirement(Part):
    """`on_exit_codes` of PodFailurePolicyRule."""

    container_name: str | None = None
    operator: str = ""
    values: list[int] = Field(default_factory=list)


class PodFailurePolicyOnPodConditionsPattern(Part):
    """`on_pod_conditions` of PodFailurePolicyRule."""

    status: str = ""
    type: str = ""


class PodFailurePolicyRule(Part):
    """`rules` of PodFailurePolicy."""

    action: str = ""
    on_exit_codes: PodFailurePolicyOnExitCodesRequirement | None = None
    on_pod_conditions: list[PodFailurePolicyOnPodConditionsPattern] = Field(default_factory=list)


class PodFailurePolicy(Part):
    """`pod_failure_policy` of JobSpec."""

    rules: list[PodFailurePolicyRule] = Field(default_factory=list)


class SuccessPolicyRule(Part):
    """`rules` of SuccessPolicy."""

    succeeded_count: int | None = None
    succeeded_indexes: str | None = None


class SuccessPolicy(Part):
    """`success_policy` of JobSpec."""

    rules: list[SuccessPolicyRule] = Field(default_factory=list)


class JobSpec(Part):
    """`spec` of Job, `spec` of JobTemplateSpec."""

    active_deadline_seconds: int | None = None
    backoff_limit: int | None = None
    backoff_limit_per_index: int | None = None
    completion_mode: str | None = None
    completions: int | None = None
    managed_by: str | None = None
    manual_selector: bool | None = None
    max_failed_indexes: int | None = None
    parallelism: int | None = None
    pod_failure_policy: PodFailurePolicy | None = None
    pod_replacement_policy: str | None = None
    selector: LabelSelector | None = None
    success_policy: SuccessPolicy | None = None
    suspend: bool | None = None
    template: PodTemplateSpec = Field(default_factory=PodTemplateSpec)
    ttl_seconds_after_finished: int | None = None


class JobTemplateSpec(Part):
    """`job_template` of CronJobSpec."""

    metadata: ObjectMeta = Field(default_factory=ObjectMeta)
    spec: JobSpec = Field(default_factory=JobSpec)


class CronJobSpec(Part):
    """`spec` of CronJob."""

    concurrency_policy: str | None = None
    failed_jobs_history_limit: int | None = None
    job_template: JobTemplateSpec = Field(default_factory=JobTemplateSpec)
    schedule: str = ""
    starting_deadline_seconds: int | None = None
    successful_jobs_history_limit: int | None = None
    suspend: bool | None = None
    time_zone: str | None = None


class CronJobStatus(Part):
    """`status` of CronJob."""

    active: list[ObjectReference] = Field(default_factory=list)
    last_schedule_time: Time | None = None
    last_successful_time: Time | None = None


class CronJob(
    Kind,
    group="batch",
    version="v1",
    plural="cronjobs",
    short_names=("cj",),
    categories=("all",),
    subresources=("status",),
):
    """CronJob of batch/v1."""

    spec: CronJobSpec = Field(default_factory=CronJobSpec)
    status: CronJobStatus = Field(default_factory=CronJobStatus)


class JobCondition(Part):
    """`conditions` of JobStatus."""

    last_probe_time: Time | None = None
    last_transition_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


class UncountedTerminatedPods(Part):
    """`uncounted_terminated_pods` of JobStatus."""

    failed: list[str] = Field(default_factory=list)
    succeeded: list[str] = Field(default_factory=list)


class JobStatus(Part):
    """`status` of Job."""

    active: int | None = None
    completed_indexes: str | None = None
    completion_time: Time | None = None
    conditions: list[JobCondition] = Field(default_factory=list)
    failed: int | None = None
    failed_indexes: str | None = None
    ready: int | None = None
    start_time: Time | None = None
    succeeded: int | None = None
    terminating: int | None = None
    uncounted_terminated_pods: UncountedTerminatedPods | None = None


class Job(Kind, group="batch", version="v1", plural="jobs", categories=("all",), subresources=("status",)):
    """Job of batch/v1."""

    spec: JobSpec = Field(default_factory=JobSpec)
    status: JobStatus = Field(default_factory=JobStatus)
