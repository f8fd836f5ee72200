"""Patches: media types, documents and differences."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.api import CustomResource, Key, Model
from pyctrl.client import (
    Client,
    JsonPatch,
    MergePatch,
    StrategicMergePatch,
    merge_from,
)
from pyctrl.errors import Conflict
from tests.unit.client._fake_server import FakeServer


class WidgetSpec(Model):
    size: int = 1
    colours: list[str] = []


class Widget(CustomResource[WidgetSpec], group="demo.test", version="v1"):
    """A namespaced kind."""


KEY = Key("default", "a")


PATH = "/apis/demo.test/v1/namespaces/default/widgets"


def wire(name: str = "a", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "demo.test/v1",
        "kind": "Widget",
        "metadata": {"name": name, "namespace": "default", "uid": "u", "resourceVersion": "5"},
        "spec": spec,
    }


def widget(**spec: Any) -> Widget:
    return Widget.from_wire(wire(**spec))


@pytest.mark.parametrize(
    ("patch", "content_type", "body"),
    [
        (MergePatch({"spec": {"size": 2}}), "application/merge-patch+json", {"spec": {"size": 2}}),
        (StrategicMergePatch({"a": 1}), "application/strategic-merge-patch+json", {"a": 1}),
        (JsonPatch([{"op": "remove", "path": "/a"}]), "application/json-patch+json", [{"op": "remove", "path": "/a"}]),
    ],
)
async def test_patches(client: Client, server: FakeServer, patch: Any, content_type: str, body: Any) -> None:
    """Each patch type is sent with its media type, for an object or for a kind and a key."""
    server.reply(wire(size=2))
    server.reply(wire(size=2))

    changed = await client.patch(Widget, KEY, patch)
    await client.patch(widget(), patch)

    assert changed.spec.size == 2
    for asked in server.asked:
        assert (asked.method, asked.path) == ("PATCH", f"{PATH}/a")
        assert asked.headers["Content-Type"] == content_type
        assert asked.json == body


async def test_merge_from(client: Client, server: FakeServer) -> None:
    """merge_from takes a snapshot, so that the object can be changed in place; only the change is sent."""
    server.reply(wire())
    obj = widget(size=1, colours=["red"])
    patch = merge_from(obj)
    obj.spec.size = 2
    obj.spec.colours.append("blue")

    await client.patch(obj, patch)

    assert server.asked[0].json == {"spec": {"size": 2, "colours": ["red", "blue"]}}


async def test_merge_from_with_lock(client: Client, server: FakeServer) -> None:
    """With a lock the patch contains the resource version; an object without one is refused."""
    server.refuse(409, "Conflict")
    obj = widget()
    patch = merge_from(obj, optimistic_lock=True)
    obj.spec.size = 2

    with pytest.raises(Conflict):
        await client.patch(obj, patch)

    assert server.asked[0].json == {"spec": {"size": 2}, "metadata": {"resourceVersion": "5"}}
    with pytest.raises(ValueError, match="no resource version"):
        merge_from(Widget(spec=WidgetSpec()), optimistic_lock=True)


async def test_merge_from_needs_the_object(client: Client) -> None:
    """merge_from needs the changed object: kind and key are refused."""
    with pytest.raises(TypeError, match="needs the changed object"):
        await client.patch(Widget, KEY, merge_from(widget()))
