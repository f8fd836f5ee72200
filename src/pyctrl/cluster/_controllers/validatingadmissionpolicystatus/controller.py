"""ValidatingAdmissionPolicy status controller: writes the warnings of type checks into the status of policies.

The rules are those of kube-controller-manager's controller (pkg/controller/validatingadmissionpolicystatus).
"""

from __future__ import annotations

from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import NotFound
from pyctrl.kinds.admissionregistration.v1 import ValidatingAdmissionPolicy

__all__ = ["ValidatingAdmissionPolicyStatusReconciler", "add_validating_admission_policy_status"]

NAME = "validatingadmissionpolicy-status"


def add_validating_admission_policy_status(host: ManagedCluster) -> Controller:
    """Run the controller of the status of ValidatingAdmissionPolicies in a manager."""
    reconciler = ValidatingAdmissionPolicyStatusReconciler(host.client.live)
    return Builder(host).reconciles(ValidatingAdmissionPolicy).options(name=NAME).build(reconciler)


class ValidatingAdmissionPolicyStatusReconciler(Reconciler[ValidatingAdmissionPolicy]):
    """Checks the types of each generation of a policy once."""

    def __init__(self, live: Client) -> None:
        self._live = live

    async def reconcile(self, request: Request) -> Result | None:
        # lazy: the import of CEL is slow and most clusters have no policies
        from pyctrl.cluster._controllers.validatingadmissionpolicystatus.typechecker import check_types

        policy = await self.client.find(ValidatingAdmissionPolicy, request.key)
        if policy is None:
            return None
        generation = policy.metadata.generation or 0
        if generation <= (policy.status.observed_generation or 0):
            return None
        warnings = await check_types(self._live, policy.to_wire())
        checking = {"expressionWarnings": warnings} if warnings else {}
        status = {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": policy.metadata.name},
            "status": {"observedGeneration": generation, "typeChecking": checking},
        }
        try:
            await self._live.status.apply(status, field_owner=NAME, force=True)
        except NotFound:
            return None  # deleted meanwhile
        return None
