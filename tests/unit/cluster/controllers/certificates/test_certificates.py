"""CertificateSigningRequests in a cluster: approved, signed, refused and cleaned up."""

from __future__ import annotations

import asyncio
import base64
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from pyctrl import _clock
from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, Config, wait_for, wait_until_gone
from pyctrl.cluster import Cluster
from pyctrl.kinds.authentication.v1 import SelfSubjectReview
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


@pytest.mark.virtual_time
async def test_an_approved_request_is_signed() -> None:
    """The certificate has the subject and usages of the request, and its duration on the cluster's clock."""
    async with Cluster(kubelet=False) as cluster, cluster.client() as client:
        await create(client, encoded_request("jane", "dev"), CLIENT_SIGNER, ["client auth"], seconds=3600)
        await asyncio.sleep(60)
        assert not (await client.get(CertificateSigningRequest, NAME)).status.certificate
        await approve(client)
        certificate = await issued(client)

    assert certificate.subject.rfc4514_string() == "CN=jane,O=dev"
    usages = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    assert list(usages) == [ExtendedKeyUsageOID.CLIENT_AUTH]
    remaining = certificate.not_valid_after_utc - _clock.now()
    assert timedelta(minutes=59) < remaining <= timedelta(hours=1)


@pytest.mark.virtual_time
@pytest.mark.parametrize(
    ("signer", "request_of", "usages", "message"),
    [
        (CLIENT_SIGNER, ("jane",), ["server auth"], "invalid usage for client certificate: server auth"),
        (CLIENT_SIGNER, ("jane",), ["digital signature"], "missing required usage for client certificate: client auth"),
        (
            "kubernetes.io/kubelet-serving",
            ("system:node:a", "system:nodes"),
            ["digital signature", "server auth"],
            "DNS or IP subjectAltName is required",
        ),
        (KUBELET_SIGNER, ("a", "x"), ["client auth"], "subject organization is not system:nodes"),
        (
            KUBELET_SIGNER,
            ("system:node:a", "system:nodes"),
            ["client auth"],
            "usages did not match [client auth digital signature key encipherment]",
        ),
    ],
)
async def test_a_request_that_breaks_the_rules_of_its_signer_fails(
    signer: str, request_of: tuple[str, ...], usages: list[str], message: str
) -> None:
    """The request gets the condition Failed with the reason of kube-controller-manager, and no certificate."""
    async with Cluster(kubelet=False) as cluster, cluster.client() as client:
        await create(client, encoded_request(*request_of), signer, usages)
        await approve(client)
        csr = await wait_for(
            client, CertificateSigningRequest, NAME, lambda csr: csr.status.conditions[-1].type == "Failed"
        )
    assert csr.status.conditions[-1].reason == "SignerValidationFailure"
    assert csr.status.conditions[-1].message == message
    assert not csr.status.certificate


@pytest.mark.virtual_time
async def test_a_kubelet_is_approved_automatically() -> None:
    """A request for a kubelet's client certificate is approved and signed if its user may create it."""
    async with Cluster(kubelet=False) as cluster, cluster.client() as client:
        usages = ["digital signature", "client auth"]
        await create(client, encoded_request("system:node:a", "system:nodes"), KUBELET_SIGNER, usages)
        await issued(client)
        (condition,) = (await client.get(CertificateSigningRequest, NAME)).status.conditions
    assert (condition.type, condition.reason) == ("Approved", "AutoApproved")
    assert condition.message == "Auto approving kubelet client certificate after SubjectAccessReview."


@pytest.mark.virtual_time(limit=timedelta(days=3))
@pytest.mark.parametrize(("decision", "hours"), [("", 24), ("Denied", 1), ("Approved", 1)])
async def test_old_requests_are_deleted(decision: str, hours: int) -> None:
    """A pending request is deleted after a day, a denied or issued one after an hour."""
    async with Cluster(kubelet=False) as cluster, cluster.client() as client:
        await create(client, encoded_request("jane"), CLIENT_SIGNER, ["client auth"])
        if decision:
            await approve(client, decision)
        await asyncio.sleep(hours * 3600 - 60)
        assert await client.find(CertificateSigningRequest, NAME) is not None
        await wait_until_gone(client, CertificateSigningRequest, NAME, timeout=3 * 3600)


@pytest.mark.real_time
async def test_an_issued_certificate_logs_in(tmp_path: Path) -> None:
    """The server accepts the issued client certificate: the user is the subject of the request."""
    async with Cluster(kubelet=False) as cluster, cluster.serve(tls=True) as config, Client.connect(config) as client:
        await create(client, encoded_request("jane", "dev"), CLIENT_SIGNER, ["client auth"])
        await approve(client)
        certificate = (await issued(client)).public_bytes(serialization.Encoding.PEM)
        key = KEY.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        assert config.tls.ca is not None
        login = Config.from_client_cert(config.server, certificate, key, ca=config.tls.ca.read())
        async with Client.connect(login) as jane:
            review = await jane.create(SelfSubjectReview())
    assert review.status.user_info is not None
    assert (review.status.user_info.username, review.status.user_info.groups) == (
        "jane",
        ["dev", "system:authenticated"],
    )
