"""Authentication and authorization webhooks: reviews, caching, retries, failures."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

import msgspec
import pytest

from pyctrl.apiserver import (
    ApiServer,
    AuthenticationWebhook,
    AuthorizationWebhook,
    User,
    WebhookRequest,
    WebhookResponse,
    WebhookUnreachable,
)

WHO, MAY = "https://webhook/who", "https://webhook/may"
SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
PODS = "/api/v1/namespaces/default/pods"

Status = dict[str, Any]


@dataclass
class Asked:
    """A server and its webhooks, with the reviews that they receive and return."""

    who: Callable[[str], Status] = lambda token: {"authenticated": True, "user": {"username": token}}
    may: Callable[[Mapping[str, Any]], Status] = lambda _: {"allowed": True}
    code: int = 200
    reviews: list[dict[str, Any]] = field(default_factory=list)

    def server(self, **options: Any) -> ApiServer:
        given: dict[str, Any] = {
            "authentication_webhook": AuthenticationWebhook(url=WHO),
            "authorization_webhook": AuthorizationWebhook(url=MAY),
        } | options
        return ApiServer(webhooks=self._call, random=Random(1), **given)

    async def _call(self, request: WebhookRequest) -> WebhookResponse:
        assert request.url in (f"{WHO}?timeout=30s", f"{MAY}?timeout=30s")
        review = msgspec.json.decode(request.body)
        self.reviews.append(review)
        if self.code == 0:
            raise WebhookUnreachable("dial tcp webhook:443: connect: connection refused")
        if self.code != 200:
            return WebhookResponse(status=self.code, body=b"broken", content_type="text/plain")
        status = self.who(review["spec"]["token"]) if "/who" in request.url else self.may(review["spec"])
        return WebhookResponse(body=msgspec.json.encode({**review, "status": status}))

    def count(self, kind: str) -> int:
        return sum(each["kind"] == kind for each in self.reviews)


async def ask(server: ApiServer, method: str, path: str, token: str = "jane", body: Any = None) -> tuple[int, Any]:
    """Send a request; return code and body."""
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    path, _, query = path.partition("?")
    pairs = [(key, value) for key, _, value in (each.partition("=") for each in query.split("&") if each)]
    answer = await server.handle(method, path, pairs, headers, b"" if body is None else json.dumps(body).encode())
    assert isinstance(answer.body, bytes)
    return answer.status, json.loads(answer.body) if answer.body.startswith(b"{") else answer.body.decode()


def seconds() -> float:
    return asyncio.get_running_loop().time()


async def test_what_is_asked() -> None:
    """Reviews have the fields of kube-apiserver's, in the configured version."""
    asked = Asked(who=lambda _: {"authenticated": True, "user": {"username": "jane", "groups": ["ops"], "uid": "7"}})
    assert (await ask(asked.server(), "GET", f"{PODS}/a/log"))[0] == 404
    beta = AuthorizationWebhook(url=MAY, version="v1beta1")
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
    asked = Asked(may=lambda spec: {"allowed": spec["resourceAttributes"]["resource"] == "pods"})
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
    asked = Asked()
    server = asked.server(
        authentication_webhook=AuthenticationWebhook(url=WHO, cache=zero),
        authorization_webhook=AuthorizationWebhook(url=MAY, authorized_cache=zero, unauthorized_cache=zero),
    )
    for _ in range(3):
        assert (await ask(server, "GET", PODS))[0] == 200

    assert (asked.count("TokenReview"), asked.count("SubjectAccessReview")) == (3, 3)


async def test_who_is_known_otherwise_is_not_asked_about() -> None:
    """Static tokens and administrators need no review; anonymous users do."""
    asked = Asked(may=lambda _: {"allowed": False})
    server = asked.server(tokens={"t": User(name="joe", groups=("system:masters",))})
    assert (await ask(server, "GET", PODS, token="t"))[0] == 200
    assert asked.reviews == []
    assert (await server.handle("GET", PODS, [], {}, b"")).status == 403
    assert asked.reviews[0]["spec"]["user"] == "system:anonymous"


@pytest.mark.parametrize(
    ("status", "code"),
    [
        ({"authenticated": False}, 401),
        ({"authenticated": False, "error": "no such badge"}, 401),
        ({"authenticated": True, "user": {"username": "jane"}, "audiences": ["others"]}, 401),
        ({"authenticated": True, "user": {"username": "jane"}}, 201),
    ],
)
async def test_who_is_let_in(status: Status, code: int) -> None:
    """A user that the webhook authenticates, if the token is for this server."""
    assert (await ask(Asked(who=lambda _: status).server(), "POST", SELF, body={}))[0] == code


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
    found, body = await ask(Asked(may=lambda _: status).server(), "GET", PODS)
    assert (found, body.get("message", "").endswith(said)) == (code, True)


async def test_an_answer_that_says_both_is_a_failure() -> None:
    """Allowed and denied at once is a 500 in plain text, and an evaluation error in a review."""
    server = Asked(may=lambda spec: {"allowed": True, "denied": spec["resourceAttributes"]["verb"] == "list"}).server()
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
    _, review = await ask(Asked().server(), "POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", body=body)
    assert review["status"]["incomplete"]
    assert review["status"]["evaluationError"] == "webhook authorizer does not support user rule resolution"
    assert review["status"]["resourceRules"]


@pytest.mark.parametrize(
    ("code", "attempts", "said"),
    [
        (500, 5, 'an error on the server ("broken") has prevented the request from succeeding'),
        (503, 1, "the server is currently unable to handle the request"),
        (0, 1, f'Post "{MAY}?timeout=30s": dial tcp webhook:443: connect: connection refused'),
    ],
)
async def test_an_authorizer_that_fails_has_no_opinion(code: int, attempts: int, said: str) -> None:
    """Transient failures are retried for four seconds; then RBAC decides, and the error has the failure."""
    asked = Asked(code=code)
    server = asked.server(tokens={"t": User(name="joe")}, authentication_webhook=None)
    assert await ask(server, "GET", PODS, token="t") == (500, f'Internal Server Error: "{PODS}": {said}\n')
    assert asked.count("SubjectAccessReview") == attempts
    assert seconds() == pytest.approx((0.5 + 0.75 + 1.125 + 1.6875) * 1.1 if attempts > 1 else 0, rel=0.1)
    assert (await ask(server, "GET", "/healthz", token="t"))[0] == 200  # system:public-info-viewer
    asked.code = 200
    assert (await ask(server, "GET", PODS, token="t"))[0] == 200  # nothing was kept of it


async def test_an_authenticator_that_fails_knows_nobody() -> None:
    """A failure is a 401 and not cached; a TokenReview returns the error."""
    asked = Asked(code=503)
    server = asked.server(authorization_webhook=None)
    assert (await ask(server, "POST", SELF, body={}))[0] == 401
    _, review = await ask(
        server,
        "POST",
        "/apis/authentication.k8s.io/v1/tokenreviews",
        token=server.loopback_token,
        body={"spec": {"token": "jane"}},
    )
    error = "[invalid bearer token, the server is currently unable to handle the request]"
    assert review["status"] == {"user": {}, "error": error}
    asked.code = 200
    assert (await ask(server, "POST", SELF, body={}))[0] == 201


async def test_authorizers_are_asked_in_order() -> None:
    """The first authorizer that allows or denies decides."""
    asked = Asked(may=lambda _: {"allowed": False, "denied": True})
    assert (await ask(asked.server(authorization=("RBAC", "Webhook")), "POST", SELF, body={}))[0] == 201
    assert (await ask(asked.server(authorization=("Webhook", "RBAC")), "POST", SELF, body={}))[0] == 403
    assert (await ask(asked.server(authorization=("AlwaysAllow", "Webhook")), "GET", PODS))[0] == 200


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"authorization": "RBAC"}, "an authorization webhook needs Webhook"),
        ({"authorization": "Webhook", "authorization_webhook": None}, "no authorization webhook is set"),
        ({"authorization": ("RBAC", "RBAC")}, "each once; got RBAC, RBAC"),
        ({"authorization": ()}, "got none"),
    ],
)
def test_modes_have_to_fit(options: dict[str, Any], said: str) -> None:
    """A mode without its webhook, a webhook without its mode, and a repeated mode are errors."""
    with pytest.raises(ValueError, match=said):
        Asked().server(**options)


async def test_an_answer_at_once_cannot_be_had() -> None:
    """`handle_nowait` raises an error if a webhook must be called."""
    server = Asked().server()
    assert server.handle_nowait("GET", PODS, headers={"authorization": f"Bearer {server.loopback_token}"}).status == 200
    with pytest.raises(RuntimeError, match="a webhook must be called first"):
        server.handle_nowait("GET", PODS, headers={"authorization": "Bearer jane"})
