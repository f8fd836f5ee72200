"""ReplicaSets: as many pods as they want, no more and no fewer."""

from __future__ import annotations

from collections.abc import Sequence

from pyctrl.api import LabelSelector, ObjectMeta, controller_of, is_controlled_by, is_deleting, set_controller_reference
from pyctrl.client import Preconditions, merge_from
from pyctrl.controller import Builder, Controller, Host, Reconciler, Request, Result
from pyctrl.errors import Conflict, Forbidden, NotFound
from pyctrl.kinds.apps.v1 import ReplicaSet
from pyctrl.kinds.core.v1 import Pod

from ._namespaces import is_namespace_going
from ._rollout import desired_of

__all__ = ["ReplicaSetReconciler", "add_replicasets"]

BURST = 500  # pods made or deleted in one reconcile (kube-controller-manager's BurstReplicas)


def add_replicasets(host: Host) -> Controller:
    """Run ReplicaSets in a manager."""
    return (
        Builder(host)
        .reconciles(ReplicaSet)
        .owns(Pod)
        .options(name="replicaset", workers=4)
        .build(ReplicaSetReconciler())
    )


class ReplicaSetReconciler(Reconciler[ReplicaSet]):
    """Makes and deletes pods until there are as many as wanted, adopts fitting orphans, and counts.

    No expectations are kept, as upstream must: the client's reads see its own writes.
    """

    async def reconcile(self, request: Request) -> Result | None:
        replica_set = await self.client.find(ReplicaSet, request.key)
        if replica_set is None:
            return None
        pods = await self._pods(replica_set)
        living = [pod for pod in pods if not is_deleting(pod) and pod.status.phase not in ("Succeeded", "Failed")]
        if not is_deleting(replica_set):
            await self._scale(replica_set, living)
            pods = await self._pods(replica_set)
        await self._report(replica_set, pods)
        return None

    async def _pods(self, replica_set: ReplicaSet) -> list[Pod]:
        """Return the pods that the set controls, after adopting those that fit it and belong to nobody."""
        selector = LabelSelector.from_wire(replica_set.spec.selector.to_wire())
        fitting = await self.client.list(Pod, namespace=replica_set.metadata.namespace, labels=selector)
        mine = [pod for pod in fitting if is_controlled_by(pod, replica_set)]
        for pod in fitting:
            if controller_of(pod) is None and not is_deleting(pod) and not is_deleting(replica_set):
                before = pod.deep_copy()
                set_controller_reference(replica_set, pod)
                mine.append(await self.client.patch(pod, merge_from(before, optimistic_lock=True)))
        return mine

    async def _scale(self, replica_set: ReplicaSet, living: Sequence[Pod]) -> None:
        missing = desired_of(replica_set) - len(living)
        for _ in range(min(missing, BURST)):
            try:
                await self.client.create(_pod_for(replica_set))
            except Forbidden as error:
                if is_namespace_going(error):
                    return  # the set itself is about to go
                raise
        if missing < 0:
            for pod in sorted(living, key=_worth)[: min(-missing, BURST)]:
                await self._delete(pod)

    async def _delete(self, pod: Pod) -> None:
        try:
            await self.client.delete(pod, preconditions=Preconditions(uid=pod.metadata.uid))
        except (NotFound, Conflict):
            return  # gone already, or replaced by another of its name

    async def _report(self, replica_set: ReplicaSet, pods: Sequence[Pod]) -> None:
        before = replica_set.deep_copy()
        living = [pod for pod in pods if not is_deleting(pod) and pod.status.phase not in ("Succeeded", "Failed")]
        ready = sum(map(_is_ready, living))
        labels = replica_set.spec.template.metadata.labels
        status = replica_set.status
        status.replicas = len(living)
        status.fully_labeled_replicas = sum(labels.items() <= pod.metadata.labels.items() for pod in living) or None
        status.ready_replicas = status.available_replicas = ready or None
        status.terminating_replicas = sum(map(is_deleting, pods))
        status.observed_generation = replica_set.metadata.generation
        if status.to_wire() != before.status.to_wire():
            await self.client.status.patch(replica_set, merge_from(before))


def _pod_for(replica_set: ReplicaSet) -> Pod:
    template = replica_set.spec.template
    meta = template.metadata
    pod = Pod(
        metadata=ObjectMeta(
            generate_name=f"{replica_set.metadata.name}-",
            namespace=replica_set.metadata.namespace,
            labels=dict(meta.labels),
            annotations=dict(meta.annotations),
            finalizers=list(meta.finalizers),
        ),
        spec=template.spec,
    )
    set_controller_reference(replica_set, pod)
    return pod


def _is_ready(pod: Pod) -> bool:
    return any(condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions)


def _worth(pod: Pod) -> tuple[bool, int, bool, float]:
    """Sort pods to delete first: unassigned, not running, not ready, youngest (upstream's ActivePods order)."""
    phase = {"Pending": 0, "Unknown": 1, "Running": 2}.get(pod.status.phase or "", 0)
    created = pod.metadata.creation_timestamp
    return bool(pod.spec.node_name), phase, _is_ready(pod), -(created.timestamp() if created else 0)
