"""Approved requests: signed by the rules of their signer."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import ExtendedKeyUsageOID

from pyctrl import _clock
from pyctrl.client import Client, Config, wait_for
from pyctrl.cluster import Cluster
from pyctrl.kinds.authentication.v1 import SelfSubjectReview
from pyctrl.kinds.certificates.v1 import CertificateSigningRequest
from tests.unit.cluster._certificates import (
    CLIENT_SIGNER,
    KEY,
    KUBELET_SIGNER,
    NAME,
    approve,
    create,
    encoded_request,
    issued,
)


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


@pytest.mark.real_time
async def test_an_issued_certificate_logs_in() -> None:
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
