"""The controller csrapproving: approves kubelets' client certificates that their users may have."""

from __future__ import annotations

from pyctrl._certificate_requests import NoCryptography
from pyctrl.cluster._controllers.certificates.requests import kubelet_client_problem, parsed
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import Conflict, NotFound
from pyctrl.kinds.authorization.v1 import ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec
from pyctrl.kinds.certificates.v1 import CertificateSigningRequest, CertificateSigningRequestCondition

__all__ = ["add_csr_approving"]

_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
_SELF = "Auto approving self kubelet client certificate after SubjectAccessReview."
_ANY = "Auto approving kubelet client certificate after SubjectAccessReview."


def add_csr_approving(host: ManagedCluster) -> Controller:
    """Run the controller csrapproving in a manager."""
    builder = Builder(host).reconciles(CertificateSigningRequest).options(name="csrapproving")
    return builder.build(CSRApprovingReconciler())


class CSRApprovingReconciler(Reconciler[CertificateSigningRequest]):
    """Approves a request if its user may create `selfnodeclient`, for its own node, or `nodeclient`."""

    async def reconcile(self, request: Request) -> Result | None:
        csr = await self.client.find(CertificateSigningRequest, request.key)
        if csr is None or csr.spec.signer_name != _SIGNER or csr.status.certificate:
            return None
        if {each.type for each in csr.status.conditions} & {"Approved", "Denied"}:
            return None
        try:
            asked = parsed(csr)
        except (ValueError, NoCryptography):
            return None
        if kubelet_client_problem(asked, csr.spec.usages):
            return None
        is_own = csr.spec.username == asked.common_name
        if is_own and await self._is_allowed(csr, "selfnodeclient"):
            await self._approve(csr, _SELF)
        elif await self._is_allowed(csr, "nodeclient"):
            await self._approve(csr, _ANY)
        return None

    async def _is_allowed(self, csr: CertificateSigningRequest, subresource: str) -> bool:
        spec = csr.spec
        attributes = ResourceAttributes(
            group="certificates.k8s.io",
            version="*",
            resource="certificatesigningrequests",
            subresource=subresource,
            verb="create",
        )
        review = SubjectAccessReviewSpec(
            user=spec.username, uid=spec.uid, groups=spec.groups, extra=spec.extra, resource_attributes=attributes
        )
        return (await self.client.create(SubjectAccessReview(spec=review))).status.allowed

    async def _approve(self, csr: CertificateSigningRequest, message: str) -> None:
        condition = CertificateSigningRequestCondition(
            type="Approved", status="True", reason="AutoApproved", message=message
        )
        csr.status.conditions = [*csr.status.conditions, condition]
        try:
            await self.client.subresource("approval").update(csr, csr)
        except (NotFound, Conflict):
            return  # changed meanwhile: reconciled again
