"""TokenReviews and SubjectAccessReviews, as functions and as HTTP endpoints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from pyctrl.api import Access
from pyctrl.errors import BadRequest
from pyctrl.webhook import AuthorizationDecision, Decision, UserInfo, Webhooks, review_access, review_token


async def authenticate(token: str, audiences: Sequence[str]) -> UserInfo | None:
    if token == "broken":
        raise OSError("the directory does not answer")
    return UserInfo(username="jane", groups=("ops",), extra={"team": ["x"]}) if token == "hers" else None


async def authorize(user: UserInfo, access: Access) -> Decision:
    if access.verb == "broken":
        raise OSError("the directory does not answer")
    if access.resource == "secrets":
        return Decision(AuthorizationDecision.DENY, "access to secrets is denied")
    if "ops" in user.groups or access.path == "/healthz":
        return Decision(AuthorizationDecision.ALLOW)
    return Decision(AuthorizationDecision.NONE, "not of ops")


def token_review(token: str, *audiences: str) -> dict[str, Any]:
    spec = {"token": token, "audiences": list(audiences)}
    return {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": spec}


def access_review(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}


async def test_a_token_is_somebody() -> None:
    """The answer has the user and the requested audiences."""
    answer = await review_token(authenticate, token_review("hers", "api"))

    assert (answer["apiVersion"], answer["kind"]) == ("authentication.k8s.io/v1", "TokenReview")
    assert answer["status"] == {
        "authenticated": True,
        "user": {"username": "jane", "groups": ["ops"], "extra": {"team": ["x"]}},
        "audiences": ["api"],
    }


@pytest.mark.parametrize("token", ["", "other"])
async def test_a_token_is_nobody(token: str) -> None:
    """An empty or an unknown token is not authenticated."""
    assert (await review_token(authenticate, token_review(token)))["status"] == {"authenticated": False}


async def test_an_authenticator_that_fails_lets_nobody_in() -> None:
    """An exception in an authenticator gives an unauthenticated answer with a one-sentence error."""
    status = (await review_token(authenticate, token_review("broken")))["status"]

    assert status == {"authenticated": False, "error": "the webhook failed: OSError; its log has more"}


@pytest.mark.parametrize(
    ("spec", "status"),
    [
        (
            {"user": "jane", "groups": ["ops"], "resourceAttributes": {"verb": "get", "resource": "pods"}},
            {"allowed": True},
        ),
        (
            {"user": "joe", "resourceAttributes": {"verb": "get", "resource": "pods"}},
            {"allowed": False, "reason": "not of ops"},
        ),
        (
            {"user": "jane", "groups": ["ops"], "resourceAttributes": {"verb": "get", "resource": "secrets"}},
            {"allowed": False, "denied": True, "reason": "access to secrets is denied"},
        ),
        ({"user": "joe", "nonResourceAttributes": {"verb": "get", "path": "/healthz"}}, {"allowed": True}),
        (
            {"user": "joe", "nonResourceAttributes": {"verb": "broken", "path": "/"}},
            {"allowed": False, "evaluationError": "the webhook failed: OSError; its log has more"},
        ),
    ],
)
async def test_what_may_be_done(spec: dict[str, Any], status: dict[str, Any]) -> None:
    """An authorizer may allow, deny or have no opinion; an exception counts as no opinion."""
    assert (await review_access(authorize, access_review(**spec)))["status"] == status


async def test_reviews_of_both_kinds_have_their_paths() -> None:
    """Both reviews have endpoints; a document of another kind is a bad request."""
    webhooks = Webhooks()
    webhooks.add_authentication("/token", authenticate)
    webhooks.add_authorization("/access", authorize)

    known = await webhooks.answer("/token", json.dumps(token_review("hers")).encode())
    mistaken = await webhooks.answer("/access", json.dumps(token_review("hers")).encode())

    assert json.loads(known.body)["status"]["user"]["username"] == "jane"
    assert mistaken.status == 400
    with pytest.raises(BadRequest, match="expected authorization.k8s.io/v1 or v1beta1, Kind=SubjectAccessReview, got"):
        await review_access(authorize, token_review("hers"))


async def test_v1beta1_is_spoken_with_who_asks_in_it() -> None:
    """Both reviews support v1beta1, kube-apiserver's default, where a user's groups are in `group`."""
    beta = {"apiVersion": "authentication.k8s.io/v1beta1"}
    known = await review_token(authenticate, token_review("hers") | beta)
    spec = {"user": "jane", "group": ["ops"], "resourceAttributes": {"verb": "get", "resource": "pods"}}
    allowed = await review_access(authorize, access_review(**spec) | {"apiVersion": "authorization.k8s.io/v1beta1"})

    assert (known["apiVersion"], known["status"]["authenticated"]) == ("authentication.k8s.io/v1beta1", True)
    assert (allowed["apiVersion"], allowed["status"]) == ("authorization.k8s.io/v1beta1", {"allowed": True})


async def test_no_token_is_nobody() -> None:
    """An empty token is not authenticated, whatever the authenticator accepts."""

    async def anybody(token: str, audiences: Sequence[str]) -> UserInfo:
        return UserInfo(username="jane")

    assert (await review_token(anybody, token_review("")))["status"] == {"authenticated": False}
