"""Pod conditions as controllers evaluate them, and the creation and deletion of pods with their Events.

The rules are those of kube-controller-manager's controller_utils.go (pkg/controller).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from pyctrl import _clock
from pyctrl.api import KubernetesObject, ObjectMeta, is_deleting, set_controller_reference
from pyctrl.cache import CachedClient
from pyctrl.client import Preconditions
from pyctrl.cluster._legacy_event_recorder import LegacyEventRecorder
from pyctrl.cluster._namespace_termination import is_namespace_terminating
from pyctrl.cluster._own_writes import OwnWrites
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
    """Return whether a pod is active: not finished and not being deleted."""
    return pod.status.phase not in ("Succeeded", "Failed") and not is_deleting(pod)


def ready_condition(pod: Pod) -> PodCondition | None:
    """Return the condition Ready, or None."""
    return next((condition for condition in pod.status.conditions if condition.type == "Ready"), None)


def is_ready(pod: Pod) -> bool:
    """Return whether a pod is ready."""
    condition = ready_condition(pod)
    return condition is not None and condition.status == "True"


def ready_since(pod: Pod) -> datetime | None:
    """Return since when a pod is ready; None if it is not ready or has no transition time."""
    condition = ready_condition(pod)
    return condition.last_transition_time if condition is not None and condition.status == "True" else None


def time_until_available(pod: Pod, min_ready_seconds: int | None) -> timedelta | None:
    """Return the time until a pod is available: zero if it is, None if it is not ready."""
    if not is_ready(pod):
        return None
    if not min_ready_seconds:
        return timedelta(0)
    since = ready_since(pod)
    if since is None:
        return None
    return max(timedelta(0), since + timedelta(seconds=min_ready_seconds) - _clock.now())


def is_available(pod: Pod, min_ready_seconds: int | None) -> bool:
    """Return whether a pod has been ready for minReadySeconds."""
    return time_until_available(pod, min_ready_seconds) == timedelta(0)


def pod_from_template(template: PodTemplateSpec, owner: KubernetesObject) -> Pod:
    """Return a new pod from a template, controlled by an owner and with a name generated from the owner's."""
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
    """Creates and deletes the pods of an owner and records Events about it.

    Args:
        client: creates and deletes the pods.
        events: records the Events.
        own_creations: records the created pods, for a reconciler that counts them itself.
    """

    def __init__(
        self, client: CachedClient, events: LegacyEventRecorder, own_creations: OwnWrites | None = None
    ) -> None:
        self._client, self._events, self._own_creations = client, events, own_creations

    async def create(self, owner: KubernetesObject, pod: Pod) -> Pod | None:
        """Create a pod; return None if its namespace is terminating, in which the owner is deleted too.

        Raises:
            ApiError: the server refused the request; a Warning Event of the owner reports it.
        """
        try:
            created = await self._client.create(pod)
        except ApiError as error:
            if isinstance(error, Forbidden) and is_namespace_terminating(error):
                return None
            await self._events.warning(owner, "FailedCreate", f"Error creating: {error.message}")
            raise
        if self._own_creations is not None:
            self._own_creations.record(created)
        await self._events.normal(owner, "SuccessfulCreate", f"Created pod: {created.metadata.name}")
        return created

    async def create_all(self, owner: KubernetesObject, pods: Sequence[Pod]) -> tuple[list[Pod], ApiError | None]:
        """Create pods in batches of 1, 2, 4 and so on, up to the first batch with an error.

        Errors usually concern all pods alike: an exhausted quota must not cost a request for each pod (slowStartBatch).
        Returns the created pods and the first error.
        """
        created: list[Pod] = []
        begin, size, failure = 0, 1, None
        while begin < len(pods) and failure is None:
            for pod in pods[begin : begin + size]:
                try:
                    made = await self.create(owner, pod)
                except ApiError as error:
                    failure = failure or error
                    continue
                if made is None:
                    return created, None
                created.append(made)
            begin, size = begin + size, size * 2
        return created, failure

    async def delete_all(self, owner: KubernetesObject, pods: Sequence[Pod]) -> ApiError | None:
        """Delete pods, and return the first error."""
        failure = None
        for pod in pods:
            try:
                await self.delete(owner, pod)
            except ApiError as error:
                failure = failure or error
        return failure

    async def delete(self, owner: KubernetesObject, pod: Pod) -> None:
        """Delete a pod. A pod that is gone, or that was replaced under the same name, is no error.

        Raises:
            ApiError: the server refused the request; a Warning Event of the owner reports it.
        """
        try:
            await self._client.delete(pod, preconditions=Preconditions(uid=pod.metadata.uid))
        except (NotFound, Conflict):
            return
        except ApiError as error:
            await self._events.warning(owner, "FailedDelete", f"Error deleting: {error.message}")
            raise
        await self._events.normal(owner, "SuccessfulDelete", f"Deleted pod: {pod.metadata.name}")
