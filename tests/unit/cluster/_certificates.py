"""CertificateSigningRequests of tests: created, approved, and waited for."""

from __future__ import annotations

import base64

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, wait_for
from pyctrl.kinds.certificates.v1 import (
    CertificateSigningRequest,
    CertificateSigningRequestCondition,
    CertificateSigningRequestSpec,
)

CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client"
KUBELET_SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
KEY = ec.generate_private_key(ec.SECP256R1())
NAME = Key("", "jane")


def encoded_request(user: str, *groups: str, dns: str = "") -> str:
    """Return a certificate request as `spec.request` has it."""
    parts = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group) for group in groups]
    subject = x509.Name([*parts, x509.NameAttribute(NameOID.COMMON_NAME, user)])
    builder = x509.CertificateSigningRequestBuilder().subject_name(subject)
    if dns:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(dns)]), critical=False)
    return base64.b64encode(builder.sign(KEY, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)).decode()


async def create(client: Client, request: str, signer: str, usages: list[str], seconds: int | None = None) -> None:
    """Create the request `jane`."""
    spec = CertificateSigningRequestSpec(request=request, signer_name=signer, usages=usages, expiration_seconds=seconds)
    await client.create(CertificateSigningRequest(metadata=ObjectMeta(name="jane"), spec=spec))


async def approve(client: Client, kind: str = "Approved") -> None:
    """Approve or deny the request `jane`, as kubectl does."""
    csr = await client.get(CertificateSigningRequest, NAME)
    csr.status.conditions = [CertificateSigningRequestCondition(type=kind, status="True", reason="ByHand")]
    await client.subresource("approval").update(csr, csr)


async def issued(client: Client) -> x509.Certificate:
    """Wait for the certificate of the request `jane`."""
    csr = await wait_for(client, CertificateSigningRequest, NAME, lambda csr: bool(csr.status.certificate))
    return x509.load_pem_x509_certificate(base64.b64decode(csr.status.certificate or ""))
