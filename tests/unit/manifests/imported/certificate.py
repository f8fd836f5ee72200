"""Classes of certificates.cert-manager.io.

Written by `pyctrl crd import` from the definition.
"""

from typing import Annotated, Literal

from pyctrl.api import (
    Condition,
    CustomResource,
    Int32,
    Int64,
    ListType,
    Model,
    PrinterColumn,
    Required,
    Time,
    ValidationRule,
)
from pydantic import Field

__all__ = [
    "Certificate",
    "CertificateAdditionalOutputFormat",
    "CertificateIssuerRef",
    "CertificateJks",
    "CertificateKeystores",
    "CertificatePasswordSecretRef",
    "CertificatePkcs12",
    "CertificatePrivateKey",
    "CertificateSecretTemplate",
    "CertificateSpec",
    "CertificateStatus",
    "CertificateSubject",
]


class CertificateIssuerRef(Model):
    """Who signs."""

    name: str

    group: str = "cert-manager.io"

    kind: str = "Issuer"


class CertificateAdditionalOutputFormat(Model):
    """One further form."""

    type: Literal["DER", "CombinedPEM"]
    """Its name."""


class CertificatePasswordSecretRef(Model):
    """Where the password is."""

    name: str

    key: str | None = None


class CertificateJks(
    Model,
    marks=(
        ValidationRule(
            "!(has(self.password) && has(self.passwordSecretRef))",
            message='password and "passwordSecretRef" exclude each other',
        ),
    ),
):
    create: bool
    alias: str | None = None
    password: str | None = None
    password_secret_ref: CertificatePasswordSecretRef | None = None


class CertificatePkcs12(Model):
    create: bool
    password_secret_ref: CertificatePasswordSecretRef | None = None
    profile: Literal["LegacyRC2", "LegacyDES", "Modern2023"] | None = None


class CertificateKeystores(Model):
    jks: CertificateJks | None = None
    pkcs_12: CertificatePkcs12 | None = None


class CertificatePrivateKey(Model):
    algorithm: Literal["RSA", "ECDSA", "Ed25519"] | None = None
    encoding: Literal["PKCS1", "PKCS8"] | None = None
    rotation_policy: Literal["Never", "Always"] = "Always"
    size: Int64 | None = None


class CertificateSecretTemplate(Model):
    annotations: dict[str, str] = Field(default_factory=dict)
    labels: dict[str, str] = Field(default_factory=dict)


class CertificateSubject(Model):
    countries: list[str] = Field(default_factory=list)
    organizations: list[str] = Field(default_factory=list)
    serial_number: str | None = None


class CertificateSpec(Model):
    """What is wanted of the certificate.

    Changing it makes the issuer sign another one: everything that is "in use" stays until then.
    """

    issuer_ref: CertificateIssuerRef

    secret_name: str

    additional_output_formats: list[CertificateAdditionalOutputFormat] = Field(default_factory=list)
    """Further forms in which the secret has the certificate."""

    common_name: str | None = None

    dns_names: Annotated[list[str], ListType("atomic")] = Field(default_factory=list)

    duration: str | None = None
    """How long it is valid."""

    encode_usages_in_request: bool | None = None

    ip_addresses: list[str] = Field(default_factory=list)

    is_ca: bool | None = Field(default=None, validation_alias="isCA", serialization_alias="isCA")
    """Whether it may sign others."""

    keystores: CertificateKeystores | None = None

    private_key: CertificatePrivateKey | None = None

    renew_before: str | None = None

    renew_before_percentage: Int32 | None = None

    revision_history_limit: Int32 | None = Field(default=None, ge=1)

    secret_template: CertificateSecretTemplate | None = None

    subject: CertificateSubject | None = None

    usages: list[Literal["signing", "digital signature", "server auth", "client auth"]] = Field(default_factory=list)


class CertificateStatus(Model):
    conditions: Annotated[list[Condition], ListType("map", keys=("type",))] = Field(default_factory=list)
    failed_issuance_attempts: int | None = None
    last_failure_time: Time | None = None
    next_private_key_secret_name: str | None = None

    not_after: Time | None = None
    """When it ends."""

    revision: int | None = None


class Certificate(
    CustomResource[CertificateSpec, CertificateStatus],
    group="cert-manager.io",
    version="v1",
    short_names=("cert", "certs"),
    categories=("cert-manager",),
    columns=(
        PrinterColumn("Ready", '.status.conditions[?(@.type == "Ready")].status', type="string"),
        PrinterColumn("Secret", ".spec.secretName", type="string"),
        PrinterColumn("Issuer", ".spec.issuerRef.name", type="string", priority=1),
        PrinterColumn("Age", ".metadata.creationTimestamp", type="date", description="When it was made."),
    ),
):
    """A Certificate is asked of an issuer, and kept in a secret that is renewed in time."""

    spec: Annotated[CertificateSpec, Required(False)]
