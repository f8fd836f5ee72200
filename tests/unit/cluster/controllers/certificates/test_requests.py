"""Which requests are those of a kubelet."""

from __future__ import annotations

import pytest

from pyctrl._certificate_requests import CertificateRequest
from pyctrl.cluster._controllers.certificates.requests import kubelet_client_problem, kubelet_serving_problem

CLIENT = ("digital signature", "client auth")
SERVING = ("digital signature", "key encipherment", "server auth")
NODE, NODES = "system:node:a", ("system:nodes",)


@pytest.mark.parametrize(
    ("request_", "usages", "problem"),
    [
        (CertificateRequest(common_name=NODE, organizations=NODES), CLIENT, ""),
        (CertificateRequest(common_name=NODE, organizations=NODES), (*CLIENT, "key encipherment"), ""),
        (
            CertificateRequest(common_name=NODE, organizations=NODES, dns_names=("a",)),
            CLIENT,
            "DNS subjectAltNames are not allowed",
        ),
        (
            CertificateRequest(common_name="a", organizations=NODES),
            CLIENT,
            "subject common name does not begin with system:node:",
        ),
        (
            CertificateRequest(common_name=NODE, organizations=(*NODES, "x")),
            CLIENT,
            "subject organization is not system:nodes",
        ),
    ],
)
def test_client_certificates_of_kubelets(request_: CertificateRequest, usages: tuple[str, ...], problem: str) -> None:
    """A kubelet's client certificate has the node's name and group, no other names, and the usages of a client."""
    assert kubelet_client_problem(request_, usages) == problem


@pytest.mark.parametrize(
    ("request_", "usages", "problem"),
    [
        (CertificateRequest(common_name=NODE, organizations=NODES, ip_addresses=("10.0.0.1",)), SERVING, ""),
        (CertificateRequest(common_name=NODE, organizations=NODES), SERVING, "DNS or IP subjectAltName is required"),
        (
            CertificateRequest(common_name=NODE, organizations=NODES, dns_names=("a",), uris=("x:y",)),
            SERVING,
            "URI subjectAltNames are not allowed",
        ),
        (
            CertificateRequest(common_name="a", organizations=NODES, dns_names=("a",)),
            CLIENT,
            "usages did not match [digital signature key encipherment server auth]",
        ),
    ],
)
def test_serving_certificates_of_kubelets(request_: CertificateRequest, usages: tuple[str, ...], problem: str) -> None:
    """A kubelet's serving certificate has the node's name and group, its addresses, and the usages of a server."""
    assert kubelet_serving_problem(request_, usages) == problem
