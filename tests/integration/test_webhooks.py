"""Admission webhooks over HTTPS on loopback, called by any API server on this machine."""

from __future__ import annotations

import asyncio
import base64
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from aiohttp import web

from pyctrl.api import GroupVersionKind as Gvk
from pyctrl.api import Key, ObjectMeta, Unstructured
from pyctrl.client import Client
from pyctrl.errors import ApiError
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.testing._cluster.control_plane import write_serving_certificate

pytestmark = pytest.mark.slow("a real API server sees a new configuration after a while")

GROUP = "admissionregistration.k8s.io"
MUTATING = Gvk(GROUP, "v1", "MutatingWebhookConfiguration")
VALIDATING = Gvk(GROUP, "v1", "ValidatingWebhookConfiguration")


class Hooks:
    """A webhook server that adds a label, and denies objects with `deny` in their data."""

    def __init__(self, authority: bytes) -> None:
        self.url = ""
        self.authority = base64.b64encode(authority).decode()

    async def handle(self, request: web.BaseRequest) -> web.Response:
        """Answer an AdmissionReview."""
        review = json.loads(await request.read())
        asked = review["request"]
        response: dict[str, Any] = {"uid": asked["uid"], "allowed": True}
        data = (asked.get("object") or {}).get("data") or {}
        if request.path == "/mutate":
            patch = json.dumps([{"op": "add", "path": "/metadata/labels", "value": {"mutated": "yes"}}])
            response |= {"patchType": "JSONPatch", "patch": base64.b64encode(patch.encode()).decode()}
        elif "deny" in data:
            response |= {"allowed": False, "status": {"message": data["deny"], "code": 422}}
        return web.json_response({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})

    def configuration(self, kind: Gvk, namespace: str, path: str, **more: Any) -> Unstructured:
        """Configure a webhook for the ConfigMaps of a namespace."""
        webhook = {
            "name": "hook.pyctrl.example.com",
            "clientConfig": {"url": self.url + path, "caBundle": self.authority},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["*"]}],
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            **more,
        }
        return Unstructured.new(kind, name=f"{kind.kind.lower()}-{namespace}", webhooks=[webhook])


@pytest_asyncio.fixture
async def hooks(tmp_path: Path) -> AsyncIterator[Hooks]:
    """Webhooks that listen on a free port, with a certificate from their own authority."""

    def prepare() -> tuple[Hooks, ssl.SSLContext]:
        write_serving_certificate(tmp_path)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tmp_path / "serving.crt", tmp_path / "serving.key")
        return Hooks((tmp_path / "ca.crt").read_bytes()), context

    hooks, context = await asyncio.to_thread(prepare)
    runner = web.ServerRunner(web.Server(hooks.handle))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    hooks.url = f"https://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield hooks
    finally:
        await runner.cleanup()


@asynccontextmanager
async def configured(client: Client, configuration: Unstructured) -> AsyncIterator[None]:
    """Create a configuration for the length of the block; a cluster-wide one must not remain."""
    made = await client.create(configuration)
    try:
        yield
    finally:
        await client.delete(made)


async def refusal(client: Client, namespace: str, **data: str) -> str:
    """Create ConfigMaps until one is denied, which takes a real server a while, and return the message."""
    for number in range(50):
        try:
            await client.create(ConfigMap(metadata=ObjectMeta(name=f"c{number}", namespace=namespace), data=data))
        except ApiError as error:
            return error.message
        await asyncio.sleep(0.1)
    raise AssertionError("nothing was refused")


async def test_a_validating_webhook_denies_in_its_own_words(client: Client, namespace: str, hooks: Hooks) -> None:
    """The error names the webhook and contains its message."""
    async with configured(client, hooks.configuration(VALIDATING, namespace, "/validate")):
        message = await refusal(client, namespace, deny="not on a Sunday")
    assert message == 'admission webhook "hook.pyctrl.example.com" denied the request: not on a Sunday'


async def test_a_mutating_webhook_changes_what_is_created(client: Client, namespace: str, hooks: Hooks) -> None:
    """The stored object has the webhook's patch."""
    async with configured(client, hooks.configuration(MUTATING, namespace, "/mutate")):
        labels: dict[str, str] = {}
        for number in range(50):
            name = f"m{number}"
            await client.create(ConfigMap(metadata=ObjectMeta(name=name, namespace=namespace)))
            labels = (await client.get(ConfigMap, Key(namespace, name))).metadata.labels or {}
            if labels:
                break
            await asyncio.sleep(0.1)
    assert labels == {"mutated": "yes"}


async def test_a_webhook_that_is_not_there_fails_the_write(client: Client, namespace: str, hooks: Hooks) -> None:
    """The error for an unreachable webhook names the address that the server tried."""
    nobody = {"url": "https://127.0.0.1:1/nobody", "caBundle": hooks.authority}
    async with configured(client, hooks.configuration(VALIDATING, namespace, "", clientConfig=nobody)):
        message = await refusal(client, namespace)
    told = 'failed to call webhook: Post "https://127.0.0.1:1/nobody?timeout=10s": dial tcp 127.0.0.1:1: '
    assert message == (
        f'Internal error occurred: failed calling webhook "hook.pyctrl.example.com": {told}connect: connection refused'
    )


async def test_a_certificate_of_another_authority_is_not_trusted(client: Client, namespace: str, hooks: Hooks) -> None:
    """A certificate from an authority outside the bundle fails the call as unknown authority."""
    config = {"url": f"{hooks.url}/validate"}
    async with configured(client, hooks.configuration(VALIDATING, namespace, "", clientConfig=config)):
        message = await refusal(client, namespace)
    assert "tls: failed to verify certificate: x509: certificate signed by unknown authority" in message
