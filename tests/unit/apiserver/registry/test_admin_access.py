"""Access to devices as an administrator."""

from __future__ import annotations

from tests.unit.apiserver._kit import MERGE, Asker

CLAIMS = "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims"
ADMIN = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c", "adminAccess": True}}]}}


def test_access_as_administrator_needs_a_label_of_the_namespace(ask: Asker) -> None:
    """Claims and templates that request it are refused, unless their namespace has the label for it."""
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    templates = CLAIMS.replace("claims", "claimtemplates")
    bodies = (
        (CLAIMS, {"metadata": {"name": "a"}, "spec": ADMIN}),
        (templates, {"metadata": {"name": "a"}, "spec": {"spec": ADMIN}}),
    )
    why = "spec.devices.requests[0].adminAccess: Forbidden: admin access to devices requires the"
    for path, body in bodies:
        code, refused = ask("POST", path, body)
        assert (code, why in refused["message"]) == (422, True)
    labels = {"metadata": {"labels": {"resource.kubernetes.io/admin-access": "true"}}}
    ask("PATCH", "/api/v1/namespaces/default", labels, headers=MERGE)
    assert [ask("POST", path, body)[0] for path, body in bodies] == [201, 201]


def test_an_allocation_with_access_as_administrator_needs_the_label(ask: Asker) -> None:
    """A driver cannot allocate devices with it to a claim in another namespace."""
    ask("POST", "/api/v1/namespaces", {"metadata": {"name": "default"}})
    plain = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}}
    ask("POST", CLAIMS, {"metadata": {"name": "a"}, "spec": plain})
    result = {"request": "r", "driver": "d.example.com", "pool": "p", "device": "d", "adminAccess": True}
    status = {"status": {"allocation": {"devices": {"results": [result]}}}}
    code, refused = ask("PATCH", f"{CLAIMS}/a/status", status, headers=MERGE)
    why = "status.allocation.devices.results[0].adminAccess: Forbidden: admin access to devices requires the"
    assert (code, why in refused["message"]) == (422, True)
