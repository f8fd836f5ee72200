"""Webhook authorizer."""

from __future__ import annotations

import pytest

from pyctrl.apiserver import (
    User,
)
from tests.unit.apiserver._user_webhooks import AUTHZ, PODS, Reviewer, Status, ask, seconds


@pytest.mark.parametrize(
    ("status", "code", "said"),
    [
        ({"allowed": True, "reason": "fine"}, 200, ""),
        ({"allowed": False, "denied": True, "reason": "never"}, 403, 'in the namespace "default": never'),
        ({"allowed": False, "reason": "who knows"}, 403, 'in the namespace "default": who knows'),
        ({"allowed": False, "evaluationError": "it broke"}, 403, 'in the namespace "default"'),
    ],
)
async def test_what_is_let_through(status: Status, code: int, said: str) -> None:
    """The webhook decides; its reason is in the error."""
    found, body = await ask(Reviewer(authz=lambda _: status).server(), "GET", PODS)
    assert (found, body.get("message", "").endswith(said)) == (code, True)


async def test_an_answer_that_says_both_is_a_failure() -> None:
    """Allowed and denied at once is a 500 in plain text, and an evaluation error in a review."""
    server = Reviewer(
        authz=lambda spec: {"allowed": True, "denied": spec["resourceAttributes"]["verb"] == "list"}
    ).server()
    both = "webhook subject access review returned both allow and deny response"
    assert await ask(server, "GET", f"{PODS}?limit=3") == (500, f'Internal Server Error: "{PODS}?limit=3": {both}\n')
    spec = {"resourceAttributes": {"verb": "list", "resource": "pods", "namespace": "default"}}
    code, review = await ask(
        server, "POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body={"spec": spec}
    )
    assert (code, review["status"]) == (201, {"allowed": False, "denied": True, "evaluationError": both})


async def test_what_rules_there_are_is_not_known() -> None:
    """A SelfSubjectRulesReview is incomplete with a webhook."""
    body = {"spec": {"namespace": "default"}}
    _, review = await ask(
        Reviewer().server(), "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", body=body
    )
    assert review["status"]["incomplete"]
    assert review["status"]["evaluationError"] == "webhook authorizer does not support user rule resolution"
    assert review["status"]["resourceRules"]


@pytest.mark.parametrize(
    ("code", "attempts", "said"),
    [
        (500, 5, 'an error on the server ("broken") has prevented the request from succeeding'),
        (503, 1, "the server is currently unable to handle the request"),
        (0, 1, f'Post "{AUTHZ}?timeout=30s": dial tcp webhook:443: connect: connection refused'),
    ],
)
async def test_an_authorizer_that_fails_has_no_opinion(code: int, attempts: int, said: str) -> None:
    """Transient failures are retried for four seconds; then RBAC decides, and the error has the failure."""
    asked = Reviewer(code=code)
    server = asked.server(tokens={"t": User(name="joe")}, authentication_webhook=None)
    assert await ask(server, "GET", PODS, token="t") == (500, f'Internal Server Error: "{PODS}": {said}\n')
    assert asked.count("SubjectAccessReview") == attempts
    assert seconds() == pytest.approx((0.5 + 0.75 + 1.125 + 1.6875) * 1.1 if attempts > 1 else 0, rel=0.1)
    assert (await ask(server, "GET", "/healthz", token="t"))[0] == 200  # system:public-info-viewer
    asked.code = 200
    assert (await ask(server, "GET", PODS, token="t"))[0] == 200  # no response was cached
