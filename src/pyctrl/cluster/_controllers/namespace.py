"""Namespace controller: deletes the content of deleted namespaces.

By the rules of upstream's `pkg/controller/namespace/deletion`: pods first, then everything else; the conditions in the
status tell what is left and why. It looks again after a second; upstream's waits longer, by grace periods.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, NamedTuple

from pyctrl import _clock
from pyctrl.api import GroupVersionResource, Metadata, is_deleting
from pyctrl.client import ResourceMapping
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import ApiError, Conflict, MethodNotAllowed, NotFound
from pyctrl.kinds.core.v1 import Namespace, NamespaceCondition, Pod

__all__ = ["NamespaceReconciler", "add_namespaces"]

FINALIZER = "kubernetes"  # in spec.finalizers of every namespace, removed through the `finalize` subresource
GRACE_PERIOD = timedelta(seconds=5)  # namespaceDeletionGracePeriod: lets writes in flight finish
CONTENT_RETRY = timedelta(seconds=1)  # the next check for objects with finalizers, whose removal triggers no event
PODS = GroupVersionResource("", "v1", "pods")

# Reason and message of each condition while nothing is wrong, in upstream's order.
_FINE = {
    "NamespaceDeletionDiscoveryFailure": ("ResourcesDiscovered", "All resources successfully discovered"),
    "NamespaceDeletionGroupVersionParsingFailure": (
        "ParsedGroupVersions",
        "All legacy kube types successfully parsed",
    ),
    "NamespaceDeletionContentFailure": (
        "ContentDeleted",
        "All content successfully deleted, may be waiting on finalization",
    ),
    "NamespaceContentRemaining": ("ContentRemoved", "All content successfully removed"),
    "NamespaceFinalizersRemaining": ("ContentHasNoFinalizers", "All content-preserving finalizers finished"),
}


def add_namespaces(host: ManagedCluster) -> Controller:
    """Run the namespace controller in a manager."""
    return Builder(host).reconciles(Namespace).options(name="namespace", workers=4).build(NamespaceReconciler())


class Remaining(NamedTuple):
    """What is left of a namespace, and what kept it from being deleted."""

    objects: Counter[GroupVersionResource]
    finalizers: Counter[str]
    stale: tuple[str, ...]
    """Group versions whose server does not answer: it may have objects."""
    errors: list[str]

    @property
    def is_nothing(self) -> bool:
        """Whether the namespace is empty."""
        return not (self.objects or self.stale or self.errors)


class NamespaceReconciler(Reconciler[Namespace]):
    """Deletes the content of deleted namespaces, and then lets them go."""

    async def reconcile(self, request: Request) -> Result | None:
        namespace = await self.client.find(Namespace, request.key)
        if namespace is None or not is_deleting(namespace) or FINALIZER not in namespace.spec.finalizers:
            return None
        early = _remaining_grace_period(namespace)
        if early > timedelta(0):
            return Result(requeue_after=early)
        remaining = await self._delete_all_content(namespace)
        await self._update_conditions(namespace, remaining)
        if not remaining.is_nothing:
            return Result(requeue_after=CONTENT_RETRY)
        await self._finalize(namespace)
        return None

    async def _delete_all_content(self, namespace: Namespace) -> Remaining:
        """Delete all objects of a namespace, pods first; return what is left."""
        discovery = self.client.live.discovery
        mappings = await discovery.mappings(refresh=True)
        remaining = Remaining(Counter(), Counter(), discovery.stale(), [])
        known = [each for each in mappings if each.gvk.api_version not in remaining.stale]
        deletable = [each for each in known if each.namespaced and {"list", "delete"} <= each.verbs]
        for mapping in sorted(deletable, key=lambda each: each.gvr != PODS):
            if mapping.gvr != PODS and remaining.objects[PODS]:
                break
            try:
                await self._delete_all_content_of(mapping, namespace, remaining)
            except (NotFound, MethodNotAllowed):
                continue  # the CustomResourceDefinition has just been deleted
            except ApiError as error:
                remaining.errors.append(str(error))
        return remaining

    async def _delete_all_content_of(self, mapping: ResourceMapping, of: Namespace, remaining: Remaining) -> None:
        live, kind, namespace = self.client.live, Metadata.of(mapping.gvk), of.metadata.name
        found: list[Metadata[Any]] = list(await live.list(kind, namespace=namespace))
        if not found:
            return
        is_graceful = mapping.gvr == PODS and await self._has_terminating_pods(of)
        for obj in found:
            if not is_deleting(obj):
                try:
                    await live.delete(kind, obj.key, propagation="Background")
                except (NotFound, Conflict):
                    continue
        left = await live.list(kind, namespace=namespace)
        if not left:
            return
        finalizers = [each for obj in left for each in obj.metadata.finalizers]
        remaining.objects[mapping.gvr] += len(left)
        remaining.finalizers.update(finalizers)
        if not (finalizers or is_graceful):
            gvr = f"{mapping.gvr.group}/{mapping.gvr.version}, Resource={mapping.gvr.resource}"
            remaining.errors.append(f"unexpected items still remain in namespace: {namespace} for gvr: {gvr}")

    async def _has_terminating_pods(self, namespace: Namespace) -> bool:
        """Return whether a pod may take its grace period, which upstream counts from the deletion of the namespace."""
        pods = await self.client.live.list(Pod, namespace=namespace.metadata.name)
        running = [pod for pod in pods if pod.status.phase not in ("Succeeded", "Failed")]
        seconds = max((pod.spec.termination_grace_period_seconds or 0 for pod in running), default=0)
        deleted = namespace.metadata.deletion_timestamp
        return deleted is not None and _clock.now() < deleted + timedelta(seconds=seconds)

    async def _update_conditions(self, namespace: Namespace, remaining: Remaining) -> None:
        """Write the conditions if they have changed. The next look writes what a conflict prevents."""
        conditions = namespace_conditions(namespace.status.conditions, remaining)
        if conditions == namespace.status.conditions:
            return
        changed = namespace.deep_copy()
        changed.status.conditions = conditions
        try:
            written = await self.client.live.subresource("status").update(changed)
        except (NotFound, Conflict):
            return
        namespace.metadata.resource_version = written.metadata.resource_version

    async def _finalize(self, namespace: Namespace) -> None:
        finalized = namespace.deep_copy()
        finalized.spec.finalizers = [f for f in namespace.spec.finalizers if f != FINALIZER]
        try:
            await self.client.live.subresource("finalize").update(Namespace, namespace.key, finalized)
        except (NotFound, Conflict):
            return


def _remaining_grace_period(namespace: Namespace) -> timedelta:
    """Return how long to wait before the content of a deleted namespace is deleted."""
    deleted = namespace.metadata.deletion_timestamp
    return timedelta(0) if deleted is None else deleted + GRACE_PERIOD - _clock.now()


def namespace_conditions(old: Iterable[NamespaceCondition], remaining: Remaining) -> list[NamespaceCondition]:
    """Return the conditions of a namespace whose deletion left `remaining`.

    The order, and the transition times of what has not changed, are those of the `old` ones.
    """
    wrong = _problems(remaining)
    conditions = {condition.type: condition for condition in old}
    for kind, fine in _FINE.items():
        status, (reason, message) = ("True", wrong[kind]) if kind in wrong else ("False", fine)
        previous = conditions.get(kind)
        if previous is not None and (previous.status, previous.reason, previous.message) == (status, reason, message):
            continue
        same = previous is not None and previous.status == status
        since = previous.last_transition_time if previous is not None and same else _clock.now()
        conditions[kind] = NamespaceCondition(
            type=kind, status=status, reason=reason, message=message, last_transition_time=since
        )
    return list(conditions.values())


def _problems(remaining: Remaining) -> Mapping[str, tuple[str, str]]:
    """Return reason and message of each condition that is true."""
    wrong: dict[str, tuple[str, str]] = {}
    if stale := sorted(remaining.stale):
        groups = ", ".join(f"{each}: stale GroupVersion discovery: {each}" for each in stale)
        text = f"unable to retrieve the complete list of server APIs: {groups}"
        wrong["NamespaceDeletionDiscoveryFailure"] = (
            "DiscoveryFailed",
            f"Discovery failed for some groups, {len(stale)} failing: {text}",
        )
    if errors := sorted(remaining.errors):
        wrong["NamespaceDeletionContentFailure"] = (
            "ContentDeletionFailed",
            f"Failed to delete all resource types, {len(errors)} remaining: {', '.join(errors)}",
        )
    if remaining.objects[PODS]:
        return wrong  # upstream tells what remains once the pods are gone
    if remaining.objects:
        texts = sorted(
            f"{gvr.resource}.{gvr.group} has {count} resource instances" for gvr, count in remaining.objects.items()
        )
        wrong["NamespaceContentRemaining"] = (
            "SomeResourcesRemain",
            f"Some resources are remaining: {', '.join(texts)}",
        )
    if remaining.finalizers:
        texts = sorted(f"{name} in {count} resource instances" for name, count in remaining.finalizers.items())
        wrong["NamespaceFinalizersRemaining"] = (
            "SomeFinalizersRemain",
            f"Some content in the namespace has finalizers remaining: {', '.join(texts)}",
        )
    return wrong
