"""Subresources: the status, and others by name."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.api import CustomResource, Key, Model
from pyctrl.client import Client, MergePatch, merge_from, set_scale
from pyctrl.errors import UnknownKind
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


def wire(ready: int = 0) -> dict[str, Any]:
    metadata = {"name": "a", "namespace": "default", "resourceVersion": "5"}
    return {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": metadata, "status": {"ready": ready}}


async def test_status(client: Client, server: FakeServer) -> None:
    """The status is written at its own path, and the response is the whole object, typed."""
    obj = Widget.from_wire(wire())
    patch = merge_from(obj)
    obj.status.ready = 2
    for _ in range(4):
        server.reply(wire(2))

    assert (await client.status.update(obj)).status.ready == 2
    assert (await client.status.patch(obj, patch)).status.ready == 2
    assert (await client.status.patch(Widget, KEY, MergePatch({"status": {"ready": 2}}))).status.ready == 2
    assert (await client.status.apply(obj, field_owner="me")).status.ready == 2

    assert [(a.method, a.path) for a in server.asked] == [
        ("PUT", f"{PATH}/status"),
        ("PATCH", f"{PATH}/status"),
        ("PATCH", f"{PATH}/status"),
        ("PATCH", f"{PATH}/status"),
    ]
    assert server.asked[1].json == {"status": {"ready": 2}}
    assert server.asked[3].headers["content-type"] == "application/apply-patch+yaml"


async def test_status_answers_reach_observers(client: Client, server: FakeServer) -> None:
    """Observers get the object that a status write returns, and None for a scale, which is not the object."""
    bodies: list[bytes | None] = []

    class Observer:
        def before(self, *_: object) -> None: ...

        def after(self, _gvk: Any, _key: Key, _verb: str, body: bytes | None, _error: Any) -> None:
            bodies.append(body)

    client.observe_writes(Observer())
    server.reply(wire(2))
    server.reply(SCALE)

    await client.status.update(Widget.from_wire(wire(2)))
    await set_scale(client, Widget, KEY, 3)

    assert bodies[0] is not None
    assert bodies[1] is None


async def test_any_other(client: Client, server: FakeServer) -> None:
    """Any subresource can be read and replaced by name; with a class the response is typed."""
    server.reply(wire())
    server.reply(wire(1))

    untyped = await client.subresource("approval").get(Widget, KEY)
    typed = await client.subresource("approval").update(Widget, KEY, Widget.from_wire(wire(1)), answer=Widget)

    assert untyped["status"] == {"ready": 0}
    assert typed.status.ready == 1
    assert [(a.method, a.path) for a in server.asked] == [("GET", f"{PATH}/approval"), ("PUT", f"{PATH}/approval")]


async def test_options_of_sub_resources(client: Client, server: FakeServer) -> None:
    """The status and every other subresource take the options of the client's own verbs."""
    obj, scale = Widget.from_wire(wire()), client.subresource("scale")
    for _ in range(7):
        server.reply(wire())

    await client.status.update(obj, dry_run=True, field_owner="me", field_validation="Strict")
    await client.status.patch(obj, MergePatch({}), dry_run=True, field_owner="me", field_validation="Strict")
    await scale.create(obj, {}, dry_run=True, field_owner="me", field_validation="Strict")
    await scale.update(obj, {}, dry_run=True, field_owner="me", field_validation="Strict")
    await scale.patch(obj, MergePatch({}), dry_run=True, field_owner="me", field_validation="Strict")
    await client.status.apply(obj, dry_run=True, field_owner="me", force=True)
    await scale.apply(obj, dry_run=True, field_owner="me", force=True)

    validated = {"dryRun": "All", "fieldManager": "me", "fieldValidation": "Strict"}
    applied = {"dryRun": "All", "fieldManager": "me", "force": "true"}
    assert [asked.query for asked in server.asked] == [validated] * 5 + [applied] * 2


async def test_subresource_that_is_not_served(client: Client, server: FakeServer) -> None:
    """A missing subresource is named in the error."""
    server.not_served()

    with pytest.raises(UnknownKind, match="sub-resource nonsense"):
        await client.subresource("nonsense").get(Widget, KEY)
