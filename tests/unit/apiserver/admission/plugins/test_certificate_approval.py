"""The admission plugins CertificateApproval and CertificateSigning."""

from __future__ import annotations

import base64
from random import Random
from typing import Any

from pyctrl.apiserver import ApiServer, User
from tests.unit.apiserver._kit import Asker

REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def certificate_request() -> str:
    """Return a certificate request, as the field of a CertificateSigningRequest has it."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "jane")])
    made = (
        x509.CertificateSigningRequestBuilder()
        .subject_name(name)
        .sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    )
    return base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()


def test_approvals_need_permission_for_the_signer() -> None:
    """A user who may update approvals also needs `approve` on the signer; `DOMAIN/*` is enough."""
    server = ApiServer(random=Random(7), authorization="RBAC")
    ask = Asker(server)
    admin = {"Authorization": f"Bearer {server.loopback_token}"}
    jane = {"Authorization": f"Bearer {server.issue_token(User(name='jane'))}"}

    def rules(*more: dict[str, Any]) -> dict[str, Any]:
        group = {"apiGroups": ["certificates.k8s.io"]}
        update = {"resources": ["certificatesigningrequests/approval"], "verbs": ["update"]}
        return {"metadata": {"name": "approver"}, "rules": [group | each for each in (update, *more)]}

    role = {"kind": "ClusterRole", "name": "approver"}
    binding = {"metadata": {"name": "approver"}, "roleRef": role, "subjects": [{"kind": "User", "name": "jane"}]}
    ask("POST", f"{RBAC}/clusterroles", rules(), headers=admin)
    ask("POST", f"{RBAC}/clusterrolebindings", binding, headers=admin)
    spec = {"request": certificate_request(), "signerName": "example.com/dev", "usages": ["client auth"]}
    made = ask("POST", REQUESTS, {"metadata": {"name": "r"}, "spec": spec}, headers=admin)[1]
    made["status"] = {"conditions": [{"type": "Approved", "status": "True", "reason": "ok"}]}

    code, status = ask("PUT", f"{REQUESTS}/r/approval", made, headers=jane)
    why = 'user not permitted to approve requests with signerName "example.com/dev"'
    assert (code, status["message"]) == (403, f'certificatesigningrequests.certificates.k8s.io "r" is forbidden: {why}')

    approve = {"resources": ["signers"], "resourceNames": ["example.com/*"], "verbs": ["approve"]}
    ask("PUT", f"{RBAC}/clusterroles/approver", rules(approve), headers=admin)
    assert ask("PUT", f"{REQUESTS}/r/approval", made, headers=jane)[0] == 200
