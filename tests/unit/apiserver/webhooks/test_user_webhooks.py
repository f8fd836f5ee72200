"""Authentication and authorization webhooks: reviews, caching, retries, failures."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from pyctrl.apiserver import (
    AuthenticationWebhook,
    AuthorizationWebhook,
    User,
)
from tests.unit.apiserver._user_webhooks import AUTHN, AUTHZ, PODS, Reviewer, ask, seconds


async def test_what_is_asked() -> None:
    """Reviews have the fields of kube-apiserver's, in the configured version."""
    asked = Reviewer(
        authn=lambda _: {"authenticated": True, "user": {"username": "jane", "groups": ["ops"], "uid": "7"}}
    )
    assert (await ask(asked.server(), "GET", f"{PODS}/a/log"))[0] == 404
    beta = AuthorizationWebhook(url=AUTHZ, version="v1beta1")
    await ask(asked.server(authorization_webhook=beta), "GET", "/metrics")

    token, access, _, path = asked.reviews
    assert token == {
        "kind": "TokenReview",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {},
        "spec": {"token": "jane", "audiences": ["https://kubernetes.default.svc"]},
        "status": {"user": {}},
    }
    assert access["spec"] == {
        "resourceAttributes": {
            "namespace": "default",
            "verb": "get",
            "version": "*",
            "resource": "pods",
            "subresource": "log",
            "name": "a",
        },
        "user": "jane",
        "uid": "7",
        "groups": ["ops", "system:authenticated"],
    }
    assert path["apiVersion"] == "authorization.k8s.io/v1beta1"
    assert path["spec"]["nonResourceAttributes"] == {"path": "/metrics", "verb": "get"}
    assert path["spec"]["group"] == ["ops", "system:authenticated"]


async def test_answers_are_kept() -> None:
    """Token reviews are cached for two minutes, allowed accesses for five, others for 30 seconds."""
    asked = Reviewer(authz=lambda spec: {"allowed": spec["resourceAttributes"]["resource"] == "pods"})
    server = asked.server()
    times: dict[tuple[str, str], list[float]] = {}
    for _ in range(401):
        for path in (PODS, "/api/v1/namespaces/default/secrets"):
            before = asked.count("TokenReview"), asked.count("SubjectAccessReview")
            await ask(server, "GET", path)
            for kind, count in zip(("TokenReview", "SubjectAccessReview"), before, strict=True):
                if asked.count(kind) > count:
                    times.setdefault((kind, path if kind != "TokenReview" else ""), []).append(seconds())
        await asyncio.sleep(1)

    assert times["TokenReview", ""] == [0, 120, 240, 360]
    assert times["SubjectAccessReview", PODS] == [0, 300]
    assert times["SubjectAccessReview", "/api/v1/namespaces/default/secrets"] == list(range(0, 401, 30))


async def test_nothing_has_to_be_kept() -> None:
    """Without caching, each request calls the webhook once, even if it needs the review several times."""
    zero = timedelta(0)
    asked = Reviewer()
    server = asked.server(
        authentication_webhook=AuthenticationWebhook(url=AUTHN, cache=zero),
        authorization_webhook=AuthorizationWebhook(url=AUTHZ, authorized_cache=zero, unauthorized_cache=zero),
    )
    for _ in range(3):
        assert (await ask(server, "GET", PODS))[0] == 200

    assert (asked.count("TokenReview"), asked.count("SubjectAccessReview")) == (3, 3)


async def test_who_is_known_otherwise_is_not_asked_about() -> None:
    """Static tokens and administrators cause no review; anonymous users do."""
    asked = Reviewer(authz=lambda _: {"allowed": False})
    server = asked.server(tokens={"t": User(name="joe", groups=("system:masters",))})
    assert (await ask(server, "GET", PODS, token="t"))[0] == 200
    assert asked.reviews == []
    assert (await server.handle("GET", PODS, [], {}, b"")).status == 403
    assert asked.reviews[0]["spec"]["user"] == "system:anonymous"


async def test_an_answer_at_once_cannot_be_had() -> None:
    """`handle_nowait` raises an error if a webhook must be called."""
    server = Reviewer().server()
    assert server.handle_nowait("GET", PODS, headers={"authorization": f"Bearer {server.loopback_token}"}).status == 200
    with pytest.raises(RuntimeError, match="a webhook must be called first"):
        server.handle_nowait("GET", PODS, headers={"authorization": "Bearer jane"})
