"""Pods as controllers see them: which count, which are ready, and how they are made and deleted, with the events of it.

The rules are those of kube-controller-manager's controller_utils.go (pkg/controller).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from pyctrl import _clock
from pyctrl.api import KubernetesObject, ObjectMeta, is_deleting, set_controller_reference
from pyctrl.cache import CachedClient
from pyctrl.client import Preconditions
from pyctrl.cluster._controllers.namespace import is_namespace_terminating
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.errors import ApiError, Conflict, Forbidden, NotFound
from pyctrl.kinds.core.v1 import Pod, PodCondition, PodTemplateSpec

__all__ = [
    "PodControl",
    "is_active",
    "is_available",
    "is_ready",
    "pod_from_template",
    "ready_condition",
    "ready_since",
    "time_until_available",
]


def is_active(pod: Pod) -> bool:
    """Say whether a pod counts: it has not ended and is not being deleted."""
    return pod.status.phase not in ("Succeeded", "Failed") and not is_deleting(pod)


def ready_condition(pod: Pod) -> PodCondition | None:
    """Return the condition Ready, or None."""
    return next((condition for condition in pod.status.conditions if condition.type == "Ready"), None)


def is_ready(pod: Pod) -> bool:
    """Say whether a pod serves."""
    condition = ready_condition(pod)
    return condition is not None and condition.status == "True"


def ready_since(pod: Pod) -> datetime | None:
    """Return since when a pod is ready; None when it is not, or nobody said since when."""
    condition = ready_condition(pod)
    return condition.last_transition_time if condition is not None and condition.status == "True" else None


def time_until_available(pod: Pod, min_ready_seconds: int | None) -> timedelta | None:
    """Return how long a pod has to stay ready to count as available: zero when it does, None when it is not ready."""
    if not is_ready(pod):
        return None
    if not min_ready_seconds:
        return timedelta(0)
    since = ready_since(pod)
    if since is None:
        return None
    return max(timedelta(0), since + timedelta(seconds=min_ready_seconds) - _clock.now())


def is_available(pod: Pod, min_ready_seconds: int | None) -> bool:
    """Say whether a pod has been ready for long enough."""
    return time_until_available(pod, min_ready_seconds) == timedelta(0)


def pod_from_template(template: PodTemplateSpec, owner: KubernetesObject) -> Pod:
    """Return a new pod of a template, controlled by an owner and named after it."""
    meta = template.metadata
    pod = Pod(
        metadata=ObjectMeta(
            generate_name=f"{owner.metadata.name}-",
            namespace=owner.metadata.namespace,
            labels=dict(meta.labels),
            annotations=dict(meta.annotations),
            finalizers=list(meta.finalizers),
        ),
        spec=template.spec,
    )
    set_controller_reference(owner, pod)
    return pod


class PodControl:
    """Makes and deletes pods for an owner, and tells of it."""

    def __init__(self, client: CachedClient, events: LegacyEventRecorder) -> None:
        self._client, self._events = client, events

    async def create(self, owner: KubernetesObject, pod: Pod) -> Pod | None:
        """Create a pod; None when its namespace is going, and the owner with it.

        Raises:
            ApiError: the server refused it; the owner's events tell.
        """
        try:
            created = await self._client.create(pod)
        except ApiError as error:
            if isinstance(error, Forbidden) and is_namespace_terminating(error):
                return None
            await self._events.warning(owner, "FailedCreate", f"Error creating: {error.message}")
            raise
        await self._events.normal(owner, "SuccessfulCreate", f"Created pod: {created.metadata.name}")
        return created

    async def create_all(self, owner: KubernetesObject, pods: Sequence[Pod]) -> tuple[list[Pod], ApiError | None]:
        """Create pods in batches of one, two, four and so on, up to the batch in which one is refused.

        What is refused is refused to all of them mostly: a quota that is used up should not cost a request for each
        (upstream's slowStartBatch). Returns those that were created, and the first refusal.
        """
        created: list[Pod] = []
        begin, size, refusal = 0, 1, None
        while begin < len(pods) and refusal is None:
            for pod in pods[begin : begin + size]:
                try:
                    made = await self.create(owner, pod)
                except ApiError as error:
                    refusal = refusal or error
                    continue
                if made is None:
                    return created, None
                created.append(made)
            begin, size = begin + size, size * 2
        return created, refusal

    async def delete_all(self, owner: KubernetesObject, pods: Sequence[Pod]) -> ApiError | None:
        """Delete pods, and return the first refusal."""
        refusal = None
        for pod in pods:
            try:
                await self.delete(owner, pod)
            except ApiError as error:
                refusal = refusal or error
        return refusal

    async def delete(self, owner: KubernetesObject, pod: Pod) -> None:
        """Delete a pod. One that is gone, or has been replaced by another of its name, is left alone.

        Raises:
            ApiError: the server refused it; the owner's events tell.
        """
        try:
            await self._client.delete(pod, preconditions=Preconditions(uid=pod.metadata.uid))
        except (NotFound, Conflict):
            return
        except ApiError as error:
            await self._events.warning(owner, "FailedDelete", f"Error deleting: {error.message}")
            raise
        await self._events.normal(owner, "SuccessfulDelete", f"Deleted pod: {pod.metadata.name}")
