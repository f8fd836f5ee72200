"""Failed pods of a Job: which pods count as failed, the pod failure policy, and the backoff.

The rules are those of kube-controller-manager's job controller (pkg/controller/job: pod_failure_policy.go,
backoff_utils.go).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pyctrl.api import is_deleting
from pyctrl.kinds.batch.v1 import Job, PodFailurePolicyOnExitCodesRequirement, PodFailurePolicyRule
from pyctrl.kinds.core.v1 import ContainerStatus, Pod

__all__ = [
    "BackoffRecord",
    "PodFailureMatch",
    "finished_at",
    "is_pod_failed",
    "match_pod_failure_policy",
    "only_replace_failed_pods",
    "remaining_backoff",
]

NEVER = datetime.min.replace(tzinfo=UTC)
INITIAL_BACKOFF, MAX_BACKOFF = timedelta(seconds=10), timedelta(minutes=10)  # (DefaultJobPodFailureBackOff, Max…)


def only_replace_failed_pods(job: Job) -> bool:
    """Return whether a terminating pod is replaced only after it has failed."""
    return job.spec.pod_replacement_policy == "Failed" or job.spec.pod_failure_policy is not None


def is_pod_failed(pod: Pod, job: Job) -> bool:
    """Return whether a pod has failed; a terminating pod has, unless the Job replaces failed pods only."""
    if pod.status.phase == "Failed":
        return True
    return not only_replace_failed_pods(job) and is_deleting(pod) and pod.status.phase != "Succeeded"


# --- pod failure policy ---


@dataclass(frozen=True, slots=True)
class PodFailureMatch:
    """The result of the pod failure policy for a failed pod."""

    #: True if the failure counts towards the limits.
    counts: bool = True
    #: The action of the matching rule, or None.
    action: str | None = None
    #: The message with which the Job fails, or "".
    message: str = ""


def match_pod_failure_policy(pod: Pod, job: Job) -> PodFailureMatch:
    """Apply the first matching rule of podFailurePolicy to a failed pod; without one, the failure counts."""
    policy = job.spec.pod_failure_policy
    for position, rule in enumerate(policy.rules if policy is not None else ()):
        description = _match_rule(pod, rule)
        if description is None:
            continue
        message = f"{description} matching {rule.action} rule at index {position}" if rule.action == "FailJob" else ""
        return PodFailureMatch(rule.action != "Ignore", rule.action, message)
    return PodFailureMatch()


def _match_rule(pod: Pod, rule: PodFailurePolicyRule) -> str | None:
    """Return a description of the matching part of a pod, or None."""
    name = f"{pod.metadata.namespace}/{pod.metadata.name}"
    if rule.on_exit_codes is not None:
        status = _match_on_exit_codes(pod, rule.on_exit_codes)
        if status is None or status.state.terminated is None:
            return None
        return f"Container {status.name} for pod {name} failed with exit code {status.state.terminated.exit_code}"
    for pattern in rule.on_pod_conditions:
        for condition in pod.status.conditions:
            if (condition.type, condition.status) == (pattern.type, pattern.status or "True"):
                return f"Pod {name} has condition {condition.type}"
    return None


def _match_on_exit_codes(pod: Pod, requirement: PodFailurePolicyOnExitCodesRequirement) -> ContainerStatus | None:
    for status in (*pod.status.container_statuses, *pod.status.init_container_statuses):
        ended = status.state.terminated
        if ended is None or not ended.exit_code or requirement.container_name not in (None, "", status.name):
            continue
        if (ended.exit_code in requirement.values) == (requirement.operator == "In"):
            return status
    return None


# --- backoff ---


def finished_at(pod: Pod) -> datetime:
    """Return when a pod finished: by its containers, its condition Ready, or its deletion."""
    ends = [s.state.terminated.finished_at for s in pod.status.container_statuses if s.state.terminated]
    known = [end for end in ends if end is not None]
    if known and len(known) == len(pod.status.container_statuses):
        return max(known)
    not_ready = [c.last_transition_time for c in pod.status.conditions if c.type == "Ready" and c.status == "False"]
    if not_ready and not_ready[0] is not None:
        return not_ready[0]
    meta = pod.metadata
    if meta.deletion_timestamp is not None:
        return meta.deletion_timestamp - timedelta(seconds=meta.deletion_grace_period_seconds or 0)
    return meta.creation_timestamp or NEVER


def remaining_backoff(failures: int, last: datetime, now: datetime) -> timedelta:
    """Return the remaining backoff after a number of failures: 10 s, 20 s, 40 s and so on, up to 10 min."""
    if not failures:
        return timedelta(0)
    wait: timedelta = min(INITIAL_BACKOFF * 2 ** min(failures - 1, 10), MAX_BACKOFF)
    return max(timedelta(0), last + wait - now)


@dataclass(frozen=True, slots=True)
class BackoffRecord:
    """The failures of a Job's pods since the last success."""

    failures: int = 0
    last: datetime = NEVER

    def after(self, succeeded: Sequence[Pod], failed: Iterable[Pod]) -> BackoffRecord:
        """Return the record after more pods have finished."""
        ends = sorted(map(finished_at, failed))
        if succeeded:
            success = max(map(finished_at, succeeded))
            ends = [end for end in ends if end > success]
            return BackoffRecord(len(ends), ends[-1] if ends else NEVER)
        return BackoffRecord(self.failures + len(ends), max(self.last, ends[-1])) if ends else self

    def wait(self, now: datetime) -> timedelta:
        """Return the time until the next pod may be created."""
        return remaining_backoff(self.failures, self.last, now)
