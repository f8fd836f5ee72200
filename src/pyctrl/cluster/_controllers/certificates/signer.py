"""The controllers csrsigning: issue the certificates of approved requests for the signers of Kubernetes."""

from __future__ import annotations

import binascii
import logging
from collections.abc import Callable
from datetime import timedelta

from pyctrl._certificate_requests import CertificateRequest, NoCryptography
from pyctrl.apiserver import CertificateAuthority
from pyctrl.cluster._controllers.certificates.requests import (
    has_condition,
    is_approved,
    kubelet_client_problem,
    kubelet_serving_problem,
    parsed,
)
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result
from pyctrl.errors import ConfigError, Conflict, NotFound
from pyctrl.kinds.certificates.v1 import CertificateSigningRequest, CertificateSigningRequestCondition

__all__ = ["add_csr_signing"]

log = logging.getLogger("pyctrl.cluster")

LONGEST = timedelta(days=365)  # --cluster-signing-duration
SHORTEST = timedelta(minutes=10)
_CLIENT_USAGES = ("digital signature", "key encipherment", "client auth")


def _client_problem(request: CertificateRequest, usages: list[str]) -> str:
    for usage in usages:
        if usage not in _CLIENT_USAGES:
            return f"invalid usage for client certificate: {usage}"
    return "" if "client auth" in usages else "missing required usage for client certificate: client auth"


def _no_problem(request: CertificateRequest, usages: list[str]) -> str:
    return ""


_SIGNERS: dict[str, Callable[[CertificateRequest, list[str]], str]] = {
    "kubernetes.io/kubelet-serving": kubelet_serving_problem,
    "kubernetes.io/kube-apiserver-client-kubelet": kubelet_client_problem,
    "kubernetes.io/kube-apiserver-client": _client_problem,
    "kubernetes.io/legacy-unknown": _no_problem,
}


def add_csr_signing(host: ManagedCluster, authority: Callable[[], CertificateAuthority]) -> Controller:
    """Run the signers of Kubernetes in a manager.

    Args:
        authority: Returns the authority, created on the first use.
    """
    builder = Builder(host).reconciles(CertificateSigningRequest).options(name="csrsigning")
    return builder.build(CSRSigningReconciler(authority))


class CSRSigningReconciler(Reconciler[CertificateSigningRequest]):
    """Issues the certificate of an approved request, or adds the condition Failed."""

    def __init__(self, authority: Callable[[], CertificateAuthority]) -> None:
        self._authority = authority
        self._has_warned = False

    async def reconcile(self, request: Request) -> Result | None:
        csr = await self.client.find(CertificateSigningRequest, request.key)
        if csr is None or csr.status.certificate or not is_approved(csr) or has_condition(csr, "Failed"):
            return None
        check = _SIGNERS.get(csr.spec.signer_name)
        if check is None:
            return None
        try:
            asked = parsed(csr)
            problem = check(asked, csr.spec.usages)
            if problem:
                failed = CertificateSigningRequestCondition(
                    type="Failed", status="True", reason="SignerValidationFailure", message=problem
                )
                csr.status.conditions = [*csr.status.conditions, failed]
            else:
                issued = self._authority().sign(asked.encoded, csr.spec.usages, _lifetime(csr))
                csr.status.certificate = binascii.b2a_base64(issued, newline=False).decode()
        except (NoCryptography, ConfigError) as error:
            self._warn(error)
            return None
        try:
            await self.client.status.update(csr)
        except (NotFound, Conflict):
            return None  # changed meanwhile: reconciled again
        return None

    def _warn(self, error: Exception) -> None:
        """Warn once that no certificate can be issued."""
        if not self._has_warned:
            cause = str(error) or "the package cryptography is not installed: pip install 'pyctrl-runtime[apiserver]'"
            log.warning("Certificates are not issued", extra={"cause": cause})
        self._has_warned = True


def _lifetime(csr: CertificateSigningRequest) -> timedelta:
    seconds = csr.spec.expiration_seconds
    return LONGEST if seconds is None else min(max(timedelta(seconds=seconds), SHORTEST), LONGEST)
