"""A snapshot of a Job and its pods, with the decisions of a sync, as pure functions (upstream's syncJobCtx).

The rules are those of kube-controller-manager's job controller (pkg/controller/job/job_controller.go).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from pyctrl import _clock
from pyctrl.api import is_deleting
from pyctrl.cluster._controllers.job.indexes import index_of, parse_indexes
from pyctrl.cluster._controllers.job.pod_failures import (
    finished_at,
    is_pod_failed,
    match_pod_failure_policy,
    only_replace_failed_pods,
)
from pyctrl.cluster._controllers.pod_control import is_active, is_ready
from pyctrl.kinds.batch.v1 import Job, JobCondition, UncountedTerminatedPods
from pyctrl.kinds.core.v1 import Pod

__all__ = [
    "FAILURE_COUNT",
    "FINALIZER",
    "IGNORED_COUNT",
    "FinishedCondition",
    "JobView",
    "failure_count",
    "find_true_condition",
    "ignored_count",
    "is_finished",
    "is_suspended",
    "is_tracked",
]

FINALIZER = "batch.kubernetes.io/job-tracking"  # keeps a pod until the Job has counted it
FAILURE_COUNT = "batch.kubernetes.io/job-index-failure-count"
IGNORED_COUNT = "batch.kubernetes.io/job-index-ignored-failure-count"


@dataclass(frozen=True, slots=True)
class FinishedCondition:
    """The reason for which a Job finishes."""

    is_success: bool
    reason: str
    message: str


def is_finished(job: Job) -> bool:
    """Return whether a Job is complete or has failed."""
    return any(c.type in ("Complete", "Failed") and c.status == "True" for c in job.status.conditions)


def is_suspended(job: Job) -> bool:
    """Return whether a Job is suspended."""
    return bool(job.spec.suspend)


def is_tracked(pod: Pod) -> bool:
    """Return whether a pod has the tracking finalizer, so that it is not counted yet."""
    return FINALIZER in pod.metadata.finalizers


def find_true_condition(job: Job, type: str) -> JobCondition | None:
    """Return the condition of a type if it is True, or None."""
    return next((c for c in job.status.conditions if c.type == type and c.status == "True"), None)


def failure_count(pod: Pod) -> int:
    """Return how many pods of the same index had failed when this pod was created."""
    return _number(pod, FAILURE_COUNT)


def ignored_count(pod: Pod) -> int:
    """Return how many failures of the same index the pod failure policy had ignored."""
    return _number(pod, IGNORED_COUNT)


def _number(pod: Pod, annotation: str) -> int:
    text = pod.metadata.annotations.get(annotation, "")
    return int(text) if text.isdecimal() else 0


@dataclass(slots=True)
class JobView:
    """A Job, and its pods grouped by state."""

    job: Job
    pods: Sequence[Pod]
    active: list[Pod] = field(init=False)
    #: The numbers of succeeded pods, or indexes, and of failed pods that count.
    succeeded: int = field(init=False)
    failed: int = field(init=False)
    #: Finished pods that are neither in the counts of the status nor in its list of uncounted pods.
    new_succeeded: list[Pod] = field(init=False)
    new_failed: list[Pod] = field(init=False)
    #: The finished indexes, including those of this sync; empty for a Job without indexes.
    succeeded_indexes: set[int] = field(init=False)
    failed_indexes: set[int] = field(init=False)

    def __post_init__(self) -> None:
        uncounted = self.job.status.uncounted_terminated_pods or UncountedTerminatedPods()
        self.active = [pod for pod in self.pods if is_active(pod)]
        tracked = [pod for pod in self.pods if is_tracked(pod) and self.has_valid_index(pod)]
        succeeded = [pod for pod in tracked if pod.status.phase == "Succeeded"]
        failed = [pod for pod in tracked if is_pod_failed(pod, self.job)]
        known_succeeded, known_failed = set(uncounted.succeeded), set(uncounted.failed)
        self.new_succeeded = [pod for pod in succeeded if pod.metadata.uid not in known_succeeded]
        self.new_failed = [pod for pod in failed if pod.metadata.uid not in known_failed]
        self.succeeded_indexes = parse_indexes(self.job.status.completed_indexes, self.job.spec.completions)
        self.succeeded_indexes |= self._indexes(succeeded)
        self.failed_indexes = parse_indexes(self.job.status.failed_indexes, self.job.spec.completions)
        if self.has_backoff_limit_per_index:
            self.failed_indexes |= self._indexes(pod for pod in tracked if self._is_index_failed(pod))
        self._count(uncounted)

    # --- the mode of the Job ---

    @property
    def is_indexed(self) -> bool:
        """True if each pod works on an index of its own."""
        return self.job.spec.completion_mode == "Indexed"

    @property
    def has_backoff_limit_per_index(self) -> bool:
        """True if failures are counted for each index."""
        return self.is_indexed and self.job.spec.backoff_limit_per_index is not None

    @property
    def parallelism(self) -> int:
        """The maximum number of active pods."""
        return 1 if self.job.spec.parallelism is None else self.job.spec.parallelism

    def has_valid_index(self, pod: Pod) -> bool:
        """Return whether a pod has an index that the Job wants; without indexes every pod is valid."""
        index = index_of(pod)
        return not self.is_indexed or (index is not None and index < (self.job.spec.completions or 0))

    def _indexes(self, pods: Iterable[Pod]) -> set[int]:
        return {index for pod in pods if (index := index_of(pod)) is not None} if self.is_indexed else set()

    # --- numbers ---

    def _count(self, uncounted: UncountedTerminatedPods) -> None:
        new = sum(match_pod_failure_policy(pod, self.job).counts for pod in self.new_failed)
        self.failed = (self.job.status.failed or 0) + new + len(uncounted.failed)
        self.succeeded = (self.job.status.succeeded or 0) + len(self.new_succeeded) + len(uncounted.succeeded)
        if self.is_indexed:
            self.succeeded = len(self.succeeded_indexes)

    @property
    def ready(self) -> int:
        """The number of active pods that are ready."""
        return sum(map(is_ready, self.active))

    @property
    def terminating(self) -> int:
        """The number of terminating pods."""
        return sum(map(_is_terminating, self.pods))

    # --- indexes ---

    def _is_index_failed(self, pod: Pod) -> bool:
        """Return whether a pod's failure is the last that its index may have."""
        if not is_pod_failed(pod, self.job):
            return False
        match = match_pod_failure_policy(pod, self.job)
        is_last = failure_count(pod) >= (self.job.spec.backoff_limit_per_index or 0)
        return match.action == "FailIndex" or (match.counts and is_last)

    @property
    def pending_indexes(self) -> list[int]:
        """The indexes that need a pod, in ascending order."""
        occupied = self.succeeded_indexes | self._indexes(self.active) | self.failed_indexes
        if only_replace_failed_pods(self.job):
            occupied |= self._indexes(pod for pod in self.pods if _is_terminating(pod))
        return [index for index in range(self.job.spec.completions or 0) if index not in occupied]

    def delayed(self) -> dict[int, Pod]:
        """Return the last failed pod of each index that waits for its next pod.

        Such a pod is kept, because its annotations hold the failure count that the next pod takes over.
        """
        kept: dict[int, Pod] = {}
        done = self.succeeded_indexes | self.failed_indexes | self._indexes(self.active)
        for pod in self.pods:
            index = index_of(pod)
            if index is None or index in done or not (is_tracked(pod) and self.has_valid_index(pod)):
                continue
            if is_pod_failed(pod, self.job) and (index not in kept or _is_later(pod, kept[index])):
                kept[index] = pod
        return kept

    # --- finishing ---

    def finished_condition(self) -> FinishedCondition | None:
        """Return the condition with which the Job is to finish, or None."""
        if (met := find_true_condition(self.job, "SuccessCriteriaMet")) is not None:
            return FinishedCondition(True, met.reason or "", met.message or "")
        if (target := find_true_condition(self.job, "FailureTarget")) is not None:
            return FinishedCondition(False, target.reason or "", target.message or "")
        return self._failure() or self._failed_indexes_condition() or self._match_success_policy()

    def _failure(self) -> FinishedCondition | None:
        if self.job.spec.pod_failure_policy is not None:
            for pod in self.pods:
                if is_pod_failed(pod, self.job) and (message := match_pod_failure_policy(pod, self.job).message):
                    return FinishedCondition(False, "PodFailurePolicy", message)
        limit = 6 if self.job.spec.backoff_limit is None else self.job.spec.backoff_limit
        if self.failed > limit or self._is_past_backoff_limit(limit):
            return FinishedCondition(False, "BackoffLimitExceeded", "Job has reached the specified backoff limit")
        if (left := self.remaining_active_deadline()) is not None and left <= timedelta(0):
            return FinishedCondition(False, "DeadlineExceeded", "Job was active longer than specified deadline")
        return None

    def _is_past_backoff_limit(self, limit: int) -> bool:
        """Return whether containers that the kubelet restarts have exceeded the backoff limit."""
        if self.job.spec.template.spec.restart_policy != "OnFailure":
            return False
        running = [pod for pod in self.pods if pod.status.phase in ("Running", "Pending")]
        statuses = [s for p in running for s in (*p.status.init_container_statuses, *p.status.container_statuses)]
        restarts = sum(status.restart_count or 0 for status in statuses)
        return restarts >= limit if limit else restarts > 0

    def remaining_active_deadline(self) -> timedelta | None:
        """Return the time until activeDeadlineSeconds; None without a deadline or while suspended."""
        seconds, start = self.job.spec.active_deadline_seconds, self.job.status.start_time
        if seconds is None or start is None or is_suspended(self.job):
            return None
        return start + timedelta(seconds=seconds) - _clock.now()

    def _failed_indexes_condition(self) -> FinishedCondition | None:
        if not self.has_backoff_limit_per_index:
            return None
        failed, limit = len(self.failed_indexes), self.job.spec.max_failed_indexes
        if limit is not None and failed > limit:
            message = "Job has exceeded the specified maximal number of failed indexes"
            return FinishedCondition(False, "MaxFailedIndexesExceeded", message)
        if failed and failed + len(self.succeeded_indexes) >= (self.job.spec.completions or 0):
            return FinishedCondition(False, "FailedIndexes", "Job has failed indexes")
        return None

    def _match_success_policy(self) -> FinishedCondition | None:
        policy = self.job.spec.success_policy
        for position, rule in enumerate(policy.rules if policy is not None and self.is_indexed else ()):
            wanted = parse_indexes(rule.succeeded_indexes, self.job.spec.completions)
            among = self.succeeded_indexes & wanted if rule.succeeded_indexes is not None else self.succeeded_indexes
            needed = rule.succeeded_count if rule.succeeded_count is not None else len(wanted)
            if len(among) >= needed:
                return FinishedCondition(True, "SuccessPolicy", f"Matched rules at index {position}")
        return None

    def is_complete(self, active: int) -> bool:
        """Return whether enough pods have succeeded and none is active."""
        wanted = self.job.spec.completions
        return active == 0 and (self.succeeded > 0 if wanted is None else self.succeeded >= wanted)


def _is_terminating(pod: Pod) -> bool:
    return is_deleting(pod) and pod.status.phase not in ("Succeeded", "Failed")


def _is_later(pod: Pod, other: Pod) -> bool:
    def attempts(found: Pod) -> int:
        return failure_count(found) + ignored_count(found)

    return attempts(pod) > attempts(other) or finished_at(pod) > finished_at(other)
