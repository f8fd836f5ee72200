"""Writes: requests, decoded answers and errors."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pyctrl.api import CustomResource, Key, Model, ObjectMeta, Unstructured
from pyctrl.client import (
    Client,
    MergePatch,
    Preconditions,
)
from pyctrl.errors import AlreadyExists, DecodeError, Invalid, RequestTimeout, UnknownKind
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


@pytest.mark.parametrize("write", ["create", "update", "patch", "status.patch", "apply"])
async def test_answers_are_decoded_when_they_are_looked_at(client: Client, server: FakeServer, write: str) -> None:
    """A write succeeds whatever its response contains; an invalid field raises on first access."""
    server.reply(wire(size="large"))
    writes: dict[str, Callable[[], Awaitable[Widget]]] = {
        "create": lambda: client.create(widget(size=2)),
        "update": lambda: client.update(widget(size=2)),
        "patch": lambda: client.patch(Widget, KEY, MergePatch({"spec": {"size": 2}})),
        "status.patch": lambda: client.status.patch(Widget, KEY, MergePatch({"status": {}})),
        "apply": lambda: client.apply(widget(size=2)),
    }

    answer = await writes[write]()

    assert answer.metadata.resource_version == "5"
    with pytest.raises(DecodeError, match=r"Widget default/a: .*, got 'large' - at spec\.size"):
        answer.spec.to_wire()


async def test_create(client: Client, server: FakeServer) -> None:
    """create posts the object with its field owner and returns the server's; the argument is not changed."""
    server.reply(wire(size=2), status=201)
    new = Widget(metadata=ObjectMeta(name="a", namespace="default"), spec=WidgetSpec(size=2))

    made = await client.create(new, field_validation="Strict")

    assert (made.metadata.uid, new.metadata.uid) == ("u", "")
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", PATH)
    assert asked.query == {"fieldManager": "pyctrl", "fieldValidation": "Strict"}
    assert asked.headers["content-type"] == "application/json"
    assert asked.json["spec"] == {"size": 2}


async def test_create_untyped(client: Client, server: FakeServer) -> None:
    """An Unstructured is written like a typed object, and the response is one."""
    version = {
        "version": "v1",
        "resources": [{"resource": "widgets", "responseKind": {"kind": "Widget"}, "scope": "Namespaced"}],
    }
    server.reply({"kind": "APIGroupDiscoveryList"})
    server.reply(
        {"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": "demo.test"}, "versions": [version]}]}
    )
    server.reply(wire(size=2))

    made = await client.create(Unstructured.from_wire(wire(size=2)))

    assert isinstance(made, Unstructured)
    assert made["spec"] == {"size": 2}


async def test_update(client: Client, server: FakeServer) -> None:
    """update puts the whole object to its name."""
    server.reply(wire(size=3))

    assert (await client.update(widget(size=3))).spec.size == 3
    assert (server.asked[0].method, server.asked[0].path) == ("PUT", f"{PATH}/a")


async def test_apply(client: Client, server: FakeServer) -> None:
    """apply sends the object without managedFields, with the field owner, and creates or changes the object."""
    server.reply(wire(size=2))
    obj = widget(size=2)
    obj.metadata.managed_fields = [{"manager": "x"}]

    applied = await client.apply(obj, field_owner="me", force=True)

    assert applied.spec.size == 2
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("PATCH", f"{PATH}/a")
    assert asked.headers["content-type"] == "application/apply-patch+yaml"
    assert asked.query == {"fieldManager": "me", "force": "true"}
    assert "managedFields" not in asked.json["metadata"]
    assert obj.metadata.managed_fields


async def test_delete(client: Client, server: FakeServer) -> None:
    """delete takes an object or a kind and a key, and sends its options."""
    server.reply({"kind": "Status", "status": "Success"})
    server.reply(wire())

    await client.delete(widget())
    await client.delete(
        Widget,
        KEY,
        propagation="Foreground",
        grace_period_seconds=0,
        preconditions=Preconditions(uid="u", resource_version="5"),
    )

    assert [(a.method, a.path) for a in server.asked] == [("DELETE", f"{PATH}/a")] * 2
    assert server.asked[0].body == b""
    assert server.asked[1].json == {
        "apiVersion": "meta.k8s.io/v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Foreground",
        "gracePeriodSeconds": 0,
        "preconditions": {"uid": "u", "resourceVersion": "5"},
    }


async def test_delete_all_of(client: Client, server: FakeServer) -> None:
    """delete_all_of deletes the matching objects in one namespace, which is required."""
    server.reply({"kind": "WidgetList", "items": []})

    await client.delete_all_of(Widget, namespace="default", labels="app=x")
    with pytest.raises(ValueError, match="pass its namespace"):
        await client.delete_all_of(Widget)

    assert (server.asked[0].method, server.asked[0].path) == ("DELETE", PATH)
    assert server.asked[0].query == {"labelSelector": "app=x"}


async def test_a_name_is_needed(client: Client) -> None:
    """Deleting an object without a name, which would delete the whole collection, is refused."""
    with pytest.raises(ValueError, match="must have a name"):
        await client.delete(Widget, Key("default", ""))


async def test_refusals(client: Client, server: FakeServer) -> None:
    """A failed request raises the class of its reason, with the invalid fields."""
    server.refuse(409, "AlreadyExists")
    status = {"causes": [{"reason": "FieldValueInvalid", "message": "too big", "field": "spec.size"}]}
    server.reply({"kind": "Status", "code": 422, "reason": "Invalid", "details": status}, status=422)

    with pytest.raises(AlreadyExists):
        await client.create(widget())
    with pytest.raises(Invalid) as caught:
        await client.create(widget())
    assert caught.value.causes[0].field == "spec.size"


async def test_write_to_a_kind_that_is_not_installed(client: Client, server: FakeServer) -> None:
    """Writing an object whose definition is not installed raises UnknownKind."""
    server.not_served()
    server.reply({"kind": "APIGroupDiscoveryList"})
    server.reply({"kind": "APIGroupDiscoveryList"})

    with pytest.raises(UnknownKind, match=r"is its definition installed\?"):
        await client.create(widget())


async def test_writes_time_out(client: Client, server: FakeServer) -> None:
    """A write times out when the server never answers."""

    async def silent(_: object) -> Any:
        await asyncio.Event().wait()

    server.handler = silent
    started = asyncio.get_running_loop().time()

    with pytest.raises(RequestTimeout, match=r"PUT .* timed out"):
        await client.update(widget())
    assert asyncio.get_running_loop().time() - started == 30
