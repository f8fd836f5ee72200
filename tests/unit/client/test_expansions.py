"""Scale, eviction, binding and token."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from pyctrl.api import CustomResource, Key, Model
from pyctrl.client import Client, bind, create_token, evict, get_scale, set_scale
from pyctrl.errors import TooManyRequests
from tests.unit.client._fake_server import FakeServer


class WidgetStatus(Model):
    ready: int = 0


class Widget(CustomResource[Model, WidgetStatus], group="demo.test", version="v1"):
    """A kind with a status."""


KEY = Key("default", "a")


PATH = "/apis/demo.test/v1/namespaces/default/widgets/a"


SCALE = {
    "apiVersion": "autoscaling/v1",
    "kind": "Scale",
    "metadata": {"name": "a", "namespace": "default", "resourceVersion": "8"},
    "spec": {"replicas": 3},
    "status": {"replicas": 2, "selector": "app=a"},
}


async def test_scale(client: Client, server: FakeServer) -> None:
    """The scale of any kind is read and set without touching the rest of the object."""
    server.reply(SCALE)
    server.reply(SCALE)

    scale = await get_scale(client, Widget, KEY)
    await set_scale(client, Widget, KEY, 5)

    assert (scale.replicas, scale.current_replicas, str(scale.selector)) == (3, 2, "app=a")
    assert (server.asked[1].method, server.asked[1].path) == ("PATCH", f"{PATH}/scale")
    assert server.asked[1].json == {"spec": {"replicas": 5}}


async def test_eviction(client: Client, server: FakeServer) -> None:
    """An eviction that a budget forbids raises TooManyRequests at once; the caller decides when to retry."""
    server.reply({"kind": "Status", "status": "Success"}, status=201)
    server.refuse(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.")

    await evict(client, Key("default", "p"), grace_period_seconds=5)
    with pytest.raises(TooManyRequests, match="disruption budget"):
        await evict(client, Key("default", "p"))

    assert server.asked[0].path == "/api/v1/namespaces/default/pods/p/eviction"
    assert server.asked[0].json["kind"] == "Eviction"
    assert server.asked[0].json["deleteOptions"]["gracePeriodSeconds"] == 5


async def test_binding(client: Client, server: FakeServer) -> None:
    """A binding names the node."""
    server.reply({"kind": "Status", "status": "Success"}, status=201)

    await bind(client, Key("default", "p"), "node-1")

    assert server.asked[0].path == "/api/v1/namespaces/default/pods/p/binding"
    assert server.asked[0].json["target"] == {"apiVersion": "v1", "kind": "Node", "name": "node-1"}


async def test_token(client: Client, server: FakeServer) -> None:
    """A token has an expiry time, and is not in its repr."""
    status = {"token": "secret", "expirationTimestamp": "2030-01-02T03:04:05Z"}
    server.reply({"kind": "TokenRequest", "apiVersion": "authentication.k8s.io/v1", "status": status}, status=201)

    token = await create_token(client, Key("default", "sa"), audiences=["x"], expiration_seconds=600)

    assert token.token == "secret"
    assert token.expires_at == datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert "secret" not in repr(token)
    assert server.asked[0].path == "/api/v1/namespaces/default/serviceaccounts/sa/token"
    assert server.asked[0].json["spec"] == {"audiences": ["x"], "expirationSeconds": 600}
