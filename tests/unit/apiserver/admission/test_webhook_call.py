"""Calls of admission webhooks: denials, failures, warnings."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pyctrl.apiserver import WebhookResponse, WebhookUnreachable
from tests.unit.apiserver._hooks import Review, World, allowed, answered, patching


def _unreachable(_review: Review) -> Any:
    raise WebhookUnreachable("dial tcp 192.0.2.1:443: connect: connection refused")


def _status(code: int, body: bytes = b"", kind: str = "application/json") -> Any:
    return lambda _review: WebhookResponse(body=body, status=code, content_type=kind)


_POST = 'failed to call webhook: Post "https://hooks.example.com/v?timeout=10s"'


_SERVER = "failed to call webhook: an error on the server"


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (_unreachable, f"{_POST}: dial tcp 192.0.2.1:443: connect: connection refused"),
        (_status(500, b"{}"), f'{_SERVER} ("unknown") has prevented the request from succeeding'),
        (_status(500, b"boom\n", "text/plain"), f'{_SERVER} ("boom") has prevented the request from succeeding'),
        (_status(404), "failed to call webhook: the server could not find the requested resource"),
        (
            _status(200),
            "failed to call webhook: 0-length response with status code: 200 and content type: application/json",
        ),
        (lambda review: {**allowed(review), "response": None}, "webhook response was absent"),
        (
            lambda review: {**allowed(review), "apiVersion": "admission.k8s.io/v1beta1"},
            "converting (v1beta1.AdmissionReview) to (v1.AdmissionReview): unknown conversion",
        ),
        (
            lambda review: answered(review, allowed="yes"),
            "json: cannot unmarshal string into Go struct field AdmissionResponse.response.allowed of type bool",
        ),
        (patching({"op": "remove", "path": "/data"}), "validating webhook may not return response.patch"),
    ],
)
async def test_a_webhook_that_fails_refuses_unless_it_may_be_ignored(world: World, reply: Any, why: str) -> None:
    """With failurePolicy Fail the write fails with a 500 and the error; with Ignore it succeeds."""
    world.replies["/v"] = reply
    await world.hook("v")
    code, status = await world.create()
    assert code == 500
    assert status["message"].startswith('Internal error occurred: failed calling webhook "v.example.com": ')
    assert status["message"].endswith(why)
    fails_open = [{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}]
    path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/v"
    await world.ask("PATCH", path, fails_open, headers={"Content-Type": "application/json-patch+json"})
    assert (await world.create())[0] == 201


async def test_a_slow_webhook_is_waited_for_no_longer_than_its_timeout(world: World) -> None:
    """The timeout runs on the loop's clock."""

    async def slow(review: Review) -> Review:
        await asyncio.sleep(60)
        return allowed(review)

    world.replies["/v"] = slow
    await world.hook("v", {"timeoutSeconds": 3})
    began = asyncio.get_running_loop().time()
    code, status = await world.create()
    assert asyncio.get_running_loop().time() - began == pytest.approx(3)
    assert code == 500
    assert status["message"].endswith('Post "https://hooks.example.com/v?timeout=3s": context deadline exceeded')
