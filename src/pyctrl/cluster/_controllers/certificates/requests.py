"""What the controllers of CertificateSigningRequests read in a request."""

from __future__ import annotations

import binascii
from collections.abc import Collection

from pyctrl._certificate_requests import CertificateRequest, parse_request
from pyctrl.kinds.certificates.v1 import CertificateSigningRequest

__all__ = [
    "has_condition",
    "is_approved",
    "kubelet_client_problem",
    "kubelet_serving_problem",
    "parsed",
]

_NODES = ("system:nodes",)
_NODE_PREFIX = "system:node:"


def parsed(csr: CertificateSigningRequest) -> CertificateRequest:
    """Return the certificate request of an object.

    Raises:
        ValueError: It is not a certificate request.
        NoCryptography: The package cryptography is not installed.
    """
    return parse_request(binascii.a2b_base64(csr.spec.request))


def has_condition(csr: CertificateSigningRequest, kind: str) -> bool:
    """Return whether a request has a condition of this type that is not false."""
    return any(each.type == kind and each.status in ("", "True") for each in csr.status.conditions)


def is_approved(csr: CertificateSigningRequest) -> bool:
    """Return whether a request is approved and not denied."""
    kinds = {each.type for each in csr.status.conditions}
    return "Approved" in kinds and "Denied" not in kinds


def kubelet_client_problem(request: CertificateRequest, usages: Collection[str]) -> str:
    """Return why a request is not that of a kubelet's client certificate; "" if it is."""
    kinds = {
        "DNS": request.dns_names,
        "Email": request.email_addresses,
        "IP": request.ip_addresses,
        "URI": request.uris,
    }
    if request.organizations != _NODES:
        return "subject organization is not system:nodes"
    for kind, names in kinds.items():
        if names:
            return f"{kind} subjectAltNames are not allowed"
    if not request.common_name.startswith(_NODE_PREFIX):
        return "subject common name does not begin with system:node:"
    return _usages_problem(usages, "client auth")


def kubelet_serving_problem(request: CertificateRequest, usages: Collection[str]) -> str:
    """Return why a request is not that of a kubelet's serving certificate; "" if it is."""
    if request.organizations != _NODES:
        return "subject organization is not system:nodes"
    if not request.dns_names and not request.ip_addresses:
        return "DNS or IP subjectAltName is required"
    if request.email_addresses:
        return "Email subjectAltNames are not allowed"
    if request.uris:
        return "URI subjectAltNames are not allowed"
    if problem := _usages_problem(usages, "server auth"):
        return problem
    if not request.common_name.startswith(_NODE_PREFIX):
        return "subject common name does not begin with system:node:"
    return ""


def _usages_problem(usages: Collection[str], purpose: str) -> str:
    without_rsa = {"digital signature", purpose}
    required = {*without_rsa, "key encipherment"}
    if set(usages) in (required, without_rsa):
        return ""
    return f"usages did not match [{' '.join(sorted(required))}]"
