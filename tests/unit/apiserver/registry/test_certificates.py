"""CertificateSigningRequests: the requester and the approval; the recording `own-approval` has the other cases."""

from __future__ import annotations

import base64
from typing import Any

import msgspec
import pytest

from pyctrl.apiserver import ApiServer, CertificateAuthority, User
from tests.unit.apiserver.registry._tables import Row, cells_of, row_id
from tests.unit.cluster._certificates import encoded_request

PATH = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
SPEC = {"request": encoded_request("jane"), "signerName": "example.com/signer", "usages": ["client auth"]}

CERTIFICATE = base64.b64encode(CertificateAuthority.new().certificate).decode()


def ask(server: ApiServer, method: str, path: str, body: Any, token: str = "") -> tuple[int, Any]:
    """Send a request and return the status code and the body of the response."""
    kind = {"PATCH": "application/merge-patch+json"}.get(method, "application/json")
    headers = {"content-type": kind, **({"authorization": f"Bearer {token}"} if token else {})}
    answer = server.handle_nowait(method, path, headers=headers, body=msgspec.json.encode(body))
    assert isinstance(answer.body, bytes)
    return answer.status, msgspec.json.decode(answer.body)


def test_the_requester_is_the_authenticated_user() -> None:
    """Name, uid, groups and extra are those of the user; those that the client sends are dropped."""
    groups = ("system:masters", "system:authenticated")
    server = ApiServer(tokens={"t": User(name="jane", groups=groups, extra={"key": ("a", "b")})})
    sent = {**SPEC, "username": "eve", "uid": "1", "groups": ["x"], "extra": {"other": ["c"]}}
    code, made = ask(server, "POST", PATH, {"metadata": {"name": "r"}, "spec": sent}, "t")
    assert code == 201
    assert made["spec"] == {**SPEC, "username": "jane", "groups": [*groups], "extra": {"key": ["a", "b"]}}


def test_approval_changes_conditions_only() -> None:
    """Changes of spec and certificate are reverted, missing times are set, and status writes keep the approval."""
    server = ApiServer()
    _, made = ask(server, "POST", PATH, {"metadata": {"name": "r"}, "spec": SPEC})
    approved = {"type": "Approved", "status": "True", "lastTransitionTime": "2020-01-01T00:00:00Z"}
    change = {"spec": {**SPEC, "usages": ["any"]}, "status": {"certificate": CERTIFICATE, "conditions": [approved]}}
    code, found = ask(server, "PATCH", f"{PATH}/r/approval", change)
    assert (code, found["spec"], list(found["status"])) == (200, made["spec"], ["conditions"])
    (condition,) = found["status"]["conditions"]
    assert condition["lastTransitionTime"] == "2020-01-01T00:00:00Z"
    assert condition["lastUpdateTime"]

    changed = {"status": {"certificate": CERTIFICATE, "conditions": [{**approved, "reason": "changed"}]}}
    _, signed = ask(server, "PATCH", f"{PATH}/r/status", changed)
    assert signed["status"] == {"certificate": CERTIFICATE, "conditions": [condition]}
    code, refused = ask(server, "PATCH", f"{PATH}/r/approval", {"status": {"conditions": []}})
    assert (code, refused["details"]["causes"][0]["field"]) == (422, "status.conditions")


ROWS: list[Row] = [
    (
        ("certificates.k8s.io", "v1", "certificatesigningrequests"),
        {
            "spec": {"signerName": "e.com/x", "username": "joe", "expirationSeconds": 86400},
            "status": {"conditions": [{"type": "Approved"}], "certificate": "x"},
        },
        ["e.com/x", "joe", "24h", "Approved,Issued"],
    ),
]


@pytest.mark.parametrize(("place", "obj", "cells"), ROWS, ids=row_id)
def test_cells_of_a_row(place: tuple[str, str, str], obj: dict[str, Any], cells: list[Any]) -> None:
    """A row has the cells that kube-apiserver 1.36 shows for the object."""
    assert cells_of(place, obj) == cells
