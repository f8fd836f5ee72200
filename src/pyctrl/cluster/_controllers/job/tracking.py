"""Counting of a Job's finished pods: each exactly once, even if a write fails in between.

A pod keeps a finalizer until it is counted. First its uid is added to the status' list of uncounted pods, in one write
with the other changes. Then its finalizer is removed. Then the uid moves from the list to the count. A controller that
stops in between finds the remaining work in the list and the finalizers. Indexes need no list: adding one twice changes
nothing.
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

MAX_UNCOUNTED = 500  # uids in the list at a time (MaxUncountedPods)


@dataclass(slots=True)
class TrackedPods:
    """The result of one pass over the pods."""

    #: The counted pods, whose finalizers can be removed.
    counted: list[Pod] = field(default_factory=list)
    #: True if more pods are left for the next sync.
    has_more: bool = False


def track_finished_pods(view: JobView, finished: FinishedCondition | None) -> TrackedPods:
    """Add the finished pods to the Job's status, with the interim condition of a Job that finishes."""
    job, result = view.job, TrackedPods()
    uncounted = _uncounted(job)
    kept = {pod.metadata.uid for pod in view.delayed().values()} if view.has_backoff_limit_per_index else set()
    indexes = 0
    for pod in view.pods:
        if not is_tracked(pod) or not _can_remove_finalizer(pod, view, finished, kept):
            continue
        result.counted.append(pod)
        indexes += _add_uncounted(pod, view, finished, uncounted)
        if indexes + len(uncounted.succeeded) + len(uncounted.failed) >= MAX_UNCOUNTED:
            result.has_more = True
            break
    if view.is_indexed:
        job.status.succeeded = len(view.succeeded_indexes) or None
        job.status.completed_indexes = format_indexes(view.succeeded_indexes) or None
    if view.has_backoff_limit_per_index:
        job.status.failed_indexes = format_indexes(view.failed_indexes)
    if finished is not None:
        first = "SuccessCriteriaMet" if finished.is_success else "FailureTarget"
        if find_true_condition(job, first) is None:
            job.status.conditions.append(_condition(first, "True", finished.reason, finished.message))
    return result


def _uncounted(job: Job) -> UncountedTerminatedPods:
    """Return the list of uncounted pods, which is created if missing."""
    uncounted = job.status.uncounted_terminated_pods or UncountedTerminatedPods()
    job.status.uncounted_terminated_pods = uncounted
    return uncounted


def _can_remove_finalizer(pod: Pod, view: JobView, finished: FinishedCondition | None, kept: Iterable[str]) -> bool:
    if is_deleting(view.job) or finished is not None or pod.status.phase == "Succeeded":
        return True
    return is_pod_failed(pod, view.job) and pod.metadata.uid not in kept


def _add_uncounted(
    pod: Pod, view: JobView, finished: FinishedCondition | None, uncounted: UncountedTerminatedPods
) -> bool:
    """Add a pod to the list if it counts; return whether it finishes an index."""
    uid = pod.metadata.uid
    if pod.status.phase == "Succeeded" and uid not in uncounted.failed:
        if not view.is_indexed and uid not in uncounted.succeeded:
            uncounted.succeeded.append(uid)
        return view.is_indexed
    fails_with_job = finished is not None and not finished.is_success  # a failing Job fails its unfinished pods
    is_new = view.has_valid_index(pod) and uid not in uncounted.failed
    if is_new and (is_pod_failed(pod, view.job) or fails_with_job) and match_pod_failure_policy(pod, view.job).counts:
        uncounted.failed.append(uid)
    return False


def flush_uncounted(job: Job, tracked: Collection[str]) -> None:
    """Count the listed pods whose finalizer is removed. ``tracked`` holds the uids of those that still have it."""
    uncounted = _uncounted(job)
    left = UncountedTerminatedPods()
    left.succeeded += (uid for uid in uncounted.succeeded if uid in tracked)
    left.failed += (uid for uid in uncounted.failed if uid in tracked)
    job.status.succeeded = (job.status.succeeded or 0) + len(uncounted.succeeded) - len(left.succeeded) or None
    job.status.failed = (job.status.failed or 0) + len(uncounted.failed) - len(left.failed) or None
    job.status.uncounted_terminated_pods = left


def enact_job_finished(job: Job, finished: FinishedCondition, terminating: int) -> bool:
    """Set the final condition if every pod is counted and gone; return whether it is set."""
    uncounted = _uncounted(job)
    if uncounted.succeeded or uncounted.failed or terminating:
        return False
    ensure_condition(job, "Complete" if finished.is_success else "Failed", "True", finished.reason, finished.message)
    if finished.is_success:
        job.status.completion_time = _clock.now().replace(microsecond=0)
    return True


def ensure_condition(job: Job, type: str, status: str, reason: str, message: str) -> bool:
    """Add or replace a condition in place; a False one is not added. Return whether anything changed.

    Unlike `pyctrl.api.set_condition`, every change is a transition, also one of reason or message alone
    (ensureJobConditionStatus).
    """
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
