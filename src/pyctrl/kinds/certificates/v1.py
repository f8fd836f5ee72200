# Written by tools/generate_kinds.py from pyctrl/_schemas; change the generator, not this file.
"""The kinds of certificates/v1 and their parts."""

from pydantic import Field

from pyctrl.api import Time
from pyctrl.kinds._builtin import Kind, Part

__all__ = [
    "CertificateSigningRequest",
    "CertificateSigningRequestCondition",
    "CertificateSigningRequestSpec",
    "CertificateSigningRequestStatus",
]


class CertificateSigningRequestSpec(Part):
    """`spec` of CertificateSigningRequest."""

    expiration_seconds: int | None = None
    extra: dict[str, list[str]] = Field(default_factory=dict)
    groups: list[str] = Field(default_factory=list)
    request: str = ""
    signer_name: str = ""
    uid: str | None = None
    usages: list[str] = Field(default_factory=list)
    username: str | None = None


class CertificateSigningRequestCondition(Part):
    """`conditions` of CertificateSigningRequestStatus."""

    last_transition_time: Time | None = None
    last_update_time: Time | None = None
    message: str | None = None
    reason: str | None = None
    status: str = ""
    type: str = ""


class CertificateSigningRequestStatus(Part):
    """`status` of CertificateSigningRequest."""

    certificate: str | None = None
    conditions: list[CertificateSigningRequestCondition] = Field(default_factory=list)


class CertificateSigningRequest(
    Kind,
    group="certificates.k8s.io",
    version="v1",
    plural="certificatesigningrequests",
    scope="Cluster",
    short_names=("csr",),
    subresources=(
        "approval",
        "status",
    ),
):
    """CertificateSigningRequest of certificates.k8s.io/v1."""

    spec: CertificateSigningRequestSpec = Field(default_factory=CertificateSigningRequestSpec)
    status: CertificateSigningRequestStatus = Field(default_factory=CertificateSigningRequestStatus)
