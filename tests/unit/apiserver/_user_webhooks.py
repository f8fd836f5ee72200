"""A server with authentication and authorization webhooks, for tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

import msgspec

from pyctrl.apiserver import (
    ApiServer,
    AuthenticationWebhook,
    AuthorizationWebhook,
    WebhookRequest,
    WebhookResponse,
    WebhookUnreachable,
)

Status = dict[str, Any]


AUTHN, AUTHZ = "https://webhook/authn", "https://webhook/authz"


SELF = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


PODS = "/api/v1/namespaces/default/pods"


def seconds() -> float:
    return asyncio.get_running_loop().time()


@dataclass
class Reviewer:
    """A server and its webhooks, with the reviews that they receive and return."""

    authn: Callable[[str], Status] = lambda token: {"authenticated": True, "user": {"username": token}}
    authz: Callable[[Mapping[str, Any]], Status] = lambda _: {"allowed": True}
    code: int = 200
    reviews: list[dict[str, Any]] = field(default_factory=list)

    def server(self, **options: Any) -> ApiServer:
        given: dict[str, Any] = {
            "authentication_webhook": AuthenticationWebhook(url=AUTHN),
            "authorization_webhook": AuthorizationWebhook(url=AUTHZ),
        } | options
        return ApiServer(webhooks=self._call, random=Random(1), **given)

    async def _call(self, request: WebhookRequest) -> WebhookResponse:
        assert request.url in (f"{AUTHN}?timeout=30s", f"{AUTHZ}?timeout=30s")
        review = msgspec.json.decode(request.body)
        self.reviews.append(review)
        if self.code == 0:
            raise WebhookUnreachable("dial tcp webhook:443: connect: connection refused")
        if self.code != 200:
            return WebhookResponse(status=self.code, body=b"broken", content_type="text/plain")
        status = self.authn(review["spec"]["token"]) if "/authn" in request.url else self.authz(review["spec"])
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
