"""PVC protection controller: a deleted claim stays until no pod uses it."""

from __future__ import annotations

from pyctrl.api import is_deleting, remove_finalizer
from pyctrl.client import merge_from
from pyctrl.cluster._pod_claims import pod_claim_keys
from pyctrl.cluster._pod_summary import may_use_claims
from pyctrl.controller import Builder, Controller, ManagedCluster, Predicate, Reconciler, Request, Result, mapped
from pyctrl.errors import Conflict, NotFound
from pyctrl.kinds.core.v1 import PersistentVolumeClaim, Pod

__all__ = ["MAY_USE_CLAIMS", "PVCProtectionReconciler", "add_pvc_protection"]

#: Accepts changes of pods that may use claims.
MAY_USE_CLAIMS: Predicate[Pod] = Predicate(lambda observed: any(map(may_use_claims, observed.records)), "uses claims")

FINALIZER = "kubernetes.io/pvc-protection"  # added to every new claim by the API server


def add_pvc_protection(host: ManagedCluster) -> Controller:
    """Run the protection of claims in a manager."""
    return (
        Builder(host)
        .reconciles(PersistentVolumeClaim)
        .watches(Pod, mapped(_claims_of), predicates=[MAY_USE_CLAIMS])
        .options(name="pvc-protection")
        .build(PVCProtectionReconciler())
    )


def _claims_of(pod: Pod) -> list[Request]:
    """Return the claims that a pod uses; an unscheduled pod uses none."""
    return [Request(*key) for key in pod_claim_keys(pod)] if pod.spec.node_name else []


class PVCProtectionReconciler(Reconciler[PersistentVolumeClaim]):
    """Removes the finalizer of a deleted claim when no pod uses it, not even a finished one (as upstream)."""

    async def reconcile(self, request: Request) -> Result | None:
        claim = await self.client.find(PersistentVolumeClaim, request.key)
        if claim is None or not is_deleting(claim):
            return None
        for pod in await self.client.list(Pod, namespace=request.namespace):
            if request in _claims_of(pod):
                return None  # the deletion of the pod enqueues the claim
        before = claim.deep_copy()
        if remove_finalizer(claim, FINALIZER):
            try:
                await self.client.patch(claim, merge_from(before, optimistic_lock=True))
            except (NotFound, Conflict):
                return None  # changed or deleted meanwhile: its next event triggers a reconcile
        return None
