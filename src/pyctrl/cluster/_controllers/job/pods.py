"""Pods of a Job: how many are needed, which are surplus, and new pods.

The rules are those of kube-controller-manager's job controller (pkg/controller/job: job_controller.go,
indexed_job_utils.go).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from pyctrl.cluster._controllers.job.indexes import COMPLETION_INDEX, index_of
from pyctrl.cluster._controllers.job.pod_failures import (
    finished_at,
    match_pod_failure_policy,
    only_replace_failed_pods,
    remaining_backoff,
)
from pyctrl.cluster._controllers.job.view import (
    FAILURE_COUNT,
    FINALIZER,
    IGNORED_COUNT,
    JobView,
    failure_count,
    ignored_count,
)
from pyctrl.cluster._controllers.pod_control import pod_from_template
from pyctrl.cluster._controllers.pod_ranking import pods_to_delete
from pyctrl.kinds.batch.v1 import Job
from pyctrl.kinds.core.v1 import EnvVar, EnvVarSource, ObjectFieldSelector, Pod, PodTemplateSpec

__all__ = ["active_pods_for_removal", "indexes_to_create", "new_pods", "pods_to_create"]

INDEX_VARIABLE = "JOB_COMPLETION_INDEX"
LONGEST_PREFIX = 58  # of a generated name: 63 characters less 5 random ones


def wanted_active_pods(view: JobView) -> int:
    """Return the number of pods that should be active."""
    completions, parallelism = view.job.spec.completions, view.parallelism
    if completions is None:
        return len(view.active) if view.succeeded else parallelism  # after a success, none is created
    return max(0, min(completions - view.succeeded, parallelism))


def pods_to_create(view: JobView) -> int:
    """Return the number of pods to create."""
    terminating = view.terminating if only_replace_failed_pods(view.job) else 0
    return max(0, wanted_active_pods(view) - terminating - len(view.active))


def active_pods_for_removal(view: JobView, wanted_active: int | None = None) -> list[Pod]:
    """Return the active pods to delete: those with an invalid or duplicate index, then surplus ones."""
    removed, left = _split_by_valid_index(view) if view.is_indexed else ([], list(view.active))
    number = len(view.active) - (wanted_active_pods(view) if wanted_active is None else wanted_active) - len(removed)
    return [*removed, *(pods_to_delete(left, (), number) if number > 0 else ())]


def _split_by_valid_index(view: JobView) -> tuple[list[Pod], list[Pod]]:
    """Return the pods with an invalid or duplicate index, and the others."""
    by_index: dict[int | None, list[Pod]] = defaultdict(list)
    for pod in view.active:
        by_index[index_of(pod) if view.has_valid_index(pod) else None].append(pod)
    removed, left = by_index.pop(None, []), []
    for _, pods in sorted((index, pods) for index, pods in by_index.items() if index is not None):
        worst = pods_to_delete(pods, (), len(pods) - 1)
        removed += worst
        left += [pod for pod in pods if pod not in worst]
    return removed, left


def indexes_to_create(view: JobView, number: int, now: datetime) -> tuple[list[int], timedelta]:
    """Return the indexes to create pods for now, and the shortest backoff of the pending indexes.

    With a backoff limit per index, each index has a backoff of its own.
    """
    indexes = view.pending_indexes[:number]
    if not view.has_backoff_limit_per_index:
        return indexes, timedelta(0)
    delayed = view.delayed()
    waits = {index: _wait(delayed.get(index), now) for index in indexes}
    ready = [index for index, wait in waits.items() if wait <= timedelta(0)]
    return ready, min((wait for wait in waits.values()), default=timedelta(0))


def _wait(failed: Pod | None, now: datetime) -> timedelta:
    if failed is None:
        return timedelta(0)
    return remaining_backoff(failure_count(failed) + ignored_count(failed) + 1, finished_at(failed), now)


def new_pods(view: JobView, number: int, indexes: Sequence[int]) -> list[Pod]:
    """Return the pods to create, one for each index if the Job has indexes."""
    template = view.job.spec.template.deep_copy()
    if FINALIZER not in template.metadata.finalizers:
        template.metadata.finalizers.append(FINALIZER)
    if not view.is_indexed:
        return [pod_from_template(template, view.job) for _ in range(number)]
    _add_completion_index_env(template)
    delayed = view.delayed() if view.has_backoff_limit_per_index else {}
    return [_indexed_pod(view, template, index, delayed.get(index)) for index in indexes]


def _add_completion_index_env(template: PodTemplateSpec) -> None:
    """Set JOB_COMPLETION_INDEX in every container."""
    field = ObjectFieldSelector(field_path=f"metadata.labels['{COMPLETION_INDEX}']")
    for container in (*template.spec.init_containers, *template.spec.containers):
        if all(variable.name != INDEX_VARIABLE for variable in container.env):
            container.env.append(EnvVar(name=INDEX_VARIABLE, value_from=EnvVarSource(field_ref=field)))


def _indexed_pod(view: JobView, template: PodTemplateSpec, index: int, replaced: Pod | None) -> Pod:
    name = view.job.metadata.name
    pod = pod_from_template(template, view.job)
    suffix = f"-{index}-"
    pod.metadata.generate_name = name[: LONGEST_PREFIX - len(suffix)] + suffix
    pod.metadata.labels[COMPLETION_INDEX] = pod.metadata.annotations[COMPLETION_INDEX] = str(index)
    pod.spec = template.spec.model_copy(update={"hostname": f"{name}-{index}"})
    if view.has_backoff_limit_per_index:
        pod.metadata.annotations |= _failure_annotations(view.job, replaced)
    return pod


def _failure_annotations(job: Job, replaced: Pod | None) -> dict[str, str]:
    """Return the failure counts that a pod takes over from the pod that it replaces."""
    if replaced is None:
        return {FAILURE_COUNT: "0"}
    counts = match_pod_failure_policy(replaced, job).counts
    ignored = ignored_count(replaced) + (not counts)
    annotations = {FAILURE_COUNT: str(failure_count(replaced) + counts)}
    return {**annotations, IGNORED_COUNT: str(ignored)} if ignored else annotations
