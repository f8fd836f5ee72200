"""How a Job counts the pods that have ended: each exactly once, though any write may fail in between.

A pod keeps a finalizer until it has been counted. Its uid is first noted in the status' list of uncounted pods, with
what else has changed; then the finalizer goes; then the uid goes from the list to the number. Whoever stops in
between finds out from list and finalizers what is left to do. Indexes need no list: that one is done can be said twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from pyctrl import _clock
from pyctrl.api import is_deleting
from pyctrl.cluster._controllers.job.indexes import format_indexes
from pyctrl.cluster._controllers.job.pod_failures import is_pod_failed, match_pod_failure_policy
from pyctrl.cluster._controllers.job.view import FinishedCondition, JobView, find_true_condition, is_tracked
from pyctrl.kinds.batch.v1 import Job, JobCondition, UncountedTerminatedPods
from pyctrl.kinds.core.v1 import Pod

__all__ = ["TrackedPods", "enact_job_finished", "ensure_condition", "flush_uncounted", "track_finished_pods"]

MOST_UNCOUNTED = 500  # uids in the list at once (MaxUncountedPods)


@dataclass(slots=True)
class TrackedPods:
    """What one look at the pods has brought into the status."""

    #: Pods that are noted, whose finalizer can go.
    done: list[Pod] = field(default_factory=list)
    #: Whether there are more, for the next time.
    has_more: bool = False


def track_finished_pods(view: JobView, ending: FinishedCondition | None) -> TrackedPods:
    """Note the pods that have ended in the Job's status, and why the Job is to end if it is."""
    job, result = view.job, TrackedPods()
    listed = _uncounted(job)
    kept = {pod.metadata.uid for pod in view.delayed().values()} if view.has_backoff_limit_per_index else set()
    indexes = 0
    for pod in view.pods:
        if not is_tracked(pod) or not _can_remove_finalizer(pod, view, ending, kept):
            continue
        result.done.append(pod)
        indexes += _add_uncounted(pod, view, ending, listed)
        if indexes + len(listed.succeeded) + len(listed.failed) >= MOST_UNCOUNTED:
            result.has_more = True
            break
    if view.is_indexed:
        job.status.succeeded = len(view.succeeded_indexes) or None
        job.status.completed_indexes = format_indexes(view.succeeded_indexes) or None
    if view.has_backoff_limit_per_index:
        job.status.failed_indexes = format_indexes(view.failed_indexes)
    if ending is not None:
        first = "SuccessCriteriaMet" if ending.is_success else "FailureTarget"
        if find_true_condition(job, first) is None:
            job.status.conditions.append(_condition(first, "True", ending.reason, ending.message))
    return result


def _uncounted(job: Job) -> UncountedTerminatedPods:
    """Return the list of uncounted pods, which a Job always has."""
    listed = job.status.uncounted_terminated_pods or UncountedTerminatedPods()
    job.status.uncounted_terminated_pods = listed
    return listed


def _can_remove_finalizer(pod: Pod, view: JobView, ending: FinishedCondition | None, kept: Iterable[str]) -> bool:
    if is_deleting(view.job) or ending is not None or pod.status.phase == "Succeeded":
        return True
    return is_pod_failed(pod, view.job) and pod.metadata.uid not in kept


def _add_uncounted(pod: Pod, view: JobView, ending: FinishedCondition | None, listed: UncountedTerminatedPods) -> bool:
    """Put a pod on the list if it is to be counted; says whether it has brought an index to its end."""
    uid = pod.metadata.uid
    if pod.status.phase == "Succeeded" and uid not in listed.failed:
        if not view.is_indexed and uid not in listed.succeeded:
            listed.succeeded.append(uid)
        return view.is_indexed
    is_lost = ending is not None and not ending.is_success  # with the Job fails every pod that has not ended
    is_new = view.has_valid_index(pod) and uid not in listed.failed
    if is_new and (is_pod_failed(pod, view.job) or is_lost) and match_pod_failure_policy(pod, view.job).counts:
        listed.failed.append(uid)
    return False


def flush_uncounted(job: Job, tracked: Collection[str]) -> None:
    """Count the pods on the list whose finalizer is gone. ``tracked`` are the uids of those that still have it."""
    listed = _uncounted(job)
    left = UncountedTerminatedPods()
    left.succeeded += (uid for uid in listed.succeeded if uid in tracked)
    left.failed += (uid for uid in listed.failed if uid in tracked)
    job.status.succeeded = (job.status.succeeded or 0) + len(listed.succeeded) - len(left.succeeded) or None
    job.status.failed = (job.status.failed or 0) + len(listed.failed) - len(left.failed) or None
    job.status.uncounted_terminated_pods = left


def enact_job_finished(job: Job, ending: FinishedCondition, terminating: int) -> bool:
    """Say that the Job has ended, if every pod is counted and gone; says whether it has."""
    listed = _uncounted(job)
    if listed.succeeded or listed.failed or terminating:
        return False
    ensure_condition(job, "Complete" if ending.is_success else "Failed", "True", ending.reason, ending.message)
    if ending.is_success:
        job.status.completion_time = _clock.now().replace(microsecond=0)
    return True


def ensure_condition(job: Job, type: str, status: str, reason: str, message: str) -> bool:
    """Add a condition or change it where it stands; one that is False is not added. Says whether anything changed."""
    condition = _condition(type, status, reason, message)
    for position, present in enumerate(job.status.conditions):
        if present.type == type:
            if (present.status, present.reason, present.message) == (status, reason, message):
                return False
            job.status.conditions[position] = condition
            return True
    if status == "True":
        job.status.conditions.append(condition)
    return status == "True"


def _condition(type: str, status: str, reason: str, message: str) -> JobCondition:
    now = _clock.now().replace(microsecond=0)
    return JobCondition(
        type=type, status=status, reason=reason, message=message, last_probe_time=now, last_transition_time=now
    )
