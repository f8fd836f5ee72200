"""CertificateApproval and CertificateSigning: who may approve and sign requests for a signer's certificates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyctrl._go.text import quoted
from pyctrl.api import Access
from pyctrl.apiserver._admission.attributes import UPDATE, Attributes

if TYPE_CHECKING:
    from pyctrl.apiserver._authz import Authorizer

_GROUP = "certificates.k8s.io"


class CertificateSigning:
    """Asks for `approve` of the signer for an approval, and for `sign` when a status gets conditions or a certificate.

    A signer is named in full, or as `DOMAIN/*` with all others of its domain.
    """

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    def concerns(self, group: str, resource: str) -> bool:
        """Requests for certificates."""
        return (group, resource) == (_GROUP, "certificatesigningrequests")

    def mutate(self, attributes: Attributes) -> None:
        """Nothing is changed."""

    def validate(self, attributes: Attributes) -> None:
        """Refuse (403) who may not act for the signer."""
        old = attributes.old
        if attributes.operation != UPDATE or old is None:
            return
        if attributes.subresource == "approval":
            self._check(attributes, "approve", old)
        elif attributes.subresource == "status" and _signed(attributes.object) != _signed(old):
            self._check(attributes, "sign", old)

    def _check(self, attributes: Attributes, verb: str, request: dict[str, Any]) -> None:
        signer: str = request["spec"].get("signerName", "")
        domain = signer.partition("/")[0]
        for name in (signer, f"{domain}/*"):
            access = Access(verb, _GROUP, "signers", name=name)
            if self._authorizer.decide(attributes.user, access).is_allowed:
                return
        raise attributes.forbidden(f"user not permitted to {verb} requests with signerName {quoted(signer)}")


def _signed(obj: dict[str, Any] | None) -> tuple[Any, Any]:
    status = (obj or {}).get("status") or {}
    return status.get("certificate") or "", status.get("conditions") or []
