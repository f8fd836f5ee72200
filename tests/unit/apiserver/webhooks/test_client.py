"""URLs of webhook requests."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import WebhookUnreachable
from tests.unit.apiserver._hooks import Review, World


@pytest.fixture
def world() -> World:
    """A server that calls webhooks in this process."""
    return World()


def _unreachable(_review: Review) -> Any:
    raise WebhookUnreachable("dial tcp 192.0.2.1:443: connect: connection refused")


async def test_a_service_is_named_as_kubernetes_does(world: World) -> None:
    """The URL of a webhook with a service has the service's DNS name."""
    service = {"namespace": "infra", "name": "guard", "path": "/check", "port": 8443}
    world.replies["/check"] = _unreachable
    await world.hook("v", {"clientConfig": {"service": service}})
    _, status = await world.create()
    assert 'Post "https://guard.infra.svc:8443/check?timeout=10s": dial tcp' in status["message"]
