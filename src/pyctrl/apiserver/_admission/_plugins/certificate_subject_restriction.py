"""Admission plugin CertificateSubjectRestriction."""

from __future__ import annotations

import binascii

from pyctrl._certificate_requests import NoCryptography, parse_request
from pyctrl.apiserver._admission.attributes import CREATE, Attributes

__all__ = ["CertificateSubjectRestriction"]

_SIGNER = "kubernetes.io/kube-apiserver-client"
_MASTERS = "system:masters"


class CertificateSubjectRestriction:
    """Rejects requests for client certificates of the group system:masters."""

    def handles(self, group: str, resource: str) -> bool:
        """Return whether the resource is certificatesigningrequests."""
        return (group, resource) == ("certificates.k8s.io", "certificatesigningrequests")

    def mutate(self, attributes: Attributes) -> None:
        """Do nothing."""

    def validate(self, attributes: Attributes) -> None:
        """Raise a 403 error for a new request of the group."""
        if attributes.operation != CREATE or attributes.subresource or attributes.object is None:
            return
        spec = attributes.object["spec"]
        if spec.get("signerName") != _SIGNER:
            return
        try:
            request = parse_request(binascii.a2b_base64(spec.get("request") or ""))
        except ValueError as error:
            raise attributes.forbidden(f"failed to parse CSR: {error}") from error
        except NoCryptography:  # then no certificate is issued either
            return
        if _MASTERS in request.organizations:
            raise attributes.forbidden(f"use of {_SIGNER} signer with {_MASTERS} group is not allowed")
