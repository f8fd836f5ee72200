"""Admission plugins CertificateApproval and CertificateSigning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyctrl._go.text import quoted
from pyctrl.api import Access
from pyctrl.apiserver._admission.attributes import UPDATE, Attributes
from pyctrl.apiserver._admission.chain import Plugin

if TYPE_CHECKING:
    from pyctrl.apiserver._authz import Authorizer

__all__ = ["CertificateApproval", "CertificateSigning"]


_GROUP = "certificates.k8s.io"


class _SignerPlugin(Plugin):
    """Base class: requires permission for the signer, or for all signers of its domain as `DOMAIN/*`."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is certificatesigningrequests."""
        return (group, resource) == (_GROUP, "certificatesigningrequests")

    def _check(self, attributes: Attributes, verb: str, request: dict[str, Any]) -> None:
        signer: str = request["spec"].get("signerName", "")
        domain = signer.partition("/")[0]
        for name in (signer, f"{domain}/*"):
            access = Access(verb, _GROUP, "signers", name=name)
            if self._authorizer.decide(attributes.user, access).is_allowed:
                return
        raise attributes.forbidden(f"user not permitted to {verb} requests with signerName {quoted(signer)}")


class CertificateApproval(_SignerPlugin):
    """Requires `approve` on the signer for approvals."""

    def validate(self, attributes: Attributes) -> None:
        """Raise a 403 error without permission for the signer."""
        if attributes.operation == UPDATE and attributes.old is not None and attributes.subresource == "approval":
            self._check(attributes, "approve", attributes.old)


class CertificateSigning(_SignerPlugin):
    """Requires `sign` on the signer for changes of a status' conditions or certificate."""

    def validate(self, attributes: Attributes) -> None:
        """Raise a 403 error without permission for the signer."""
        old = attributes.old
        if attributes.operation != UPDATE or old is None or attributes.subresource != "status":
            return
        if _signed(attributes.object) != _signed(old):
            self._check(attributes, "sign", old)


def _signed(obj: dict[str, Any] | None) -> tuple[Any, Any]:
    status = (obj or {}).get("status") or {}
    return status.get("certificate") or "", status.get("conditions") or []
