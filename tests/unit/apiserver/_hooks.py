"""Webhooks in this process, and a server that calls them."""

from __future__ import annotations

import base64
import inspect
import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from pyctrl.apiserver import ApiServer, WebhookRequest, WebhookResponse
from tests.unit.apiserver._kit import CONFIGMAPS

Review: TypeAlias = dict[str, Any]
Reply: TypeAlias = Callable[[Review], Any]
CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1"
CONFIGMAP_RULE = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["*"]}


def allowed(review: Review, **response: Any) -> Review:
    """Allow the request of a review."""
    return answered(review, allowed=True, **response)


def denied(review: Review, message: str = "", **status: Any) -> Review:
    """Deny the request of a review."""
    told = {**({"message": message} if message else {}), **status}
    return answered(review, allowed=False, **({"status": told} if told else {}))


def answered(review: Review, **response: Any) -> Review:
    """Respond to a review."""
    told = {"uid": review["request"]["uid"], **response}
    return {"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": told}


def patching(*operations: Mapping[str, Any]) -> Reply:
    """Allow the request, with a JSON patch."""
    patch = base64.b64encode(json.dumps(operations).encode()).decode()
    return lambda review: allowed(review, patchType="JSONPatch", patch=patch)


class World:
    """A server and the webhooks that it calls: `replies` by URL path, and `calls` in order."""

    def __init__(self, **options: Any) -> None:
        self.replies: dict[str, Reply] = {}
        self.calls: list[tuple[str, Review]] = []
        self.server = ApiServer(random=Random(7), webhooks=self._call, **options)

    async def _call(self, request: WebhookRequest) -> WebhookResponse:
        path = urlsplit(request.url).path
        review: Review = json.loads(request.body)
        self.calls.append((path, review))
        respond: Reply = self.replies.get(path, allowed)
        reply: Any = respond(review)
        if inspect.iscoroutine(reply):
            reply = await reply
        if isinstance(reply, WebhookResponse):
            return reply
        return WebhookResponse(body=json.dumps(reply).encode())

    async def ask(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None, **query: str
    ) -> tuple[int, Any]:
        """Send a request; return the code and the decoded body."""
        data = b"" if body is None else json.dumps(body).encode()
        answer = await self.server.handle(method, path, list(query.items()), headers or {}, data)
        assert isinstance(answer.body, bytes)
        self.warnings = [text for name, text in answer.headers if name == "Warning"]
        return answer.status, json.loads(answer.body)

    async def hook(self, name: str, *webhooks: Mapping[str, Any], mutating: bool = False) -> None:
        """Configure webhooks; the fields of each item of `webhooks` override the defaults."""
        kind = "MutatingWebhookConfiguration" if mutating else "ValidatingWebhookConfiguration"
        body = {
            "kind": kind,
            "metadata": {"name": name},
            "webhooks": [webhook(f"{name}.example.com", **each) for each in webhooks or ({},)],
        }
        code, made = await self.ask("POST", f"{CONFIGURATIONS}/{kind.lower()}s", body)
        assert code == 201, made

    async def create(self, name: str = "a", **more: Any) -> tuple[int, Any]:
        """Create a ConfigMap in `default`."""
        return await self.ask("POST", CONFIGMAPS, {"metadata": {"name": name}, **more})

    @property
    def asked(self) -> list[str]:
        """Return the paths of the webhooks that were called."""
        return [path for path, _ in self.calls]


def webhook(name: str, /, **more: Any) -> dict[str, Any]:
    """Return a webhook that matches all writes of ConfigMaps."""
    return {
        "name": name,
        "clientConfig": {"url": f"https://hooks.example.com/{name.partition('.')[0]}"},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "rules": [CONFIGMAP_RULE],
        **more,
    }
