"""Derived clients: their defaults, and what a request overrides."""

from __future__ import annotations

from typing import Any

from pyctrl.api import CustomResource, GroupVersionKind, Key, Model
from pyctrl.client import (
    Client,
    MergePatch,
    dry_run,
    impersonate,
    in_namespace,
    with_field_owner,
    with_field_validation,
)
from tests.unit.client._fake_server import FakeServer


class WidgetSpec(Model):
    size: int = 1
    colours: list[str] = []


class Widget(CustomResource[WidgetSpec], group="demo.test", version="v1"):
    """A namespaced kind."""


KEY = Key("default", "a")


def wire(name: str = "a", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "demo.test/v1",
        "kind": "Widget",
        "metadata": {"name": name, "namespace": "default", "uid": "u", "resourceVersion": "5"},
        "spec": spec,
    }


def widget(**spec: Any) -> Widget:
    return Widget.from_wire(wire(**spec))


class Recorder:
    """An observer that records its calls."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def before(self, gvk: GroupVersionKind, key: Key) -> None:
        self.told.append(("before", gvk.kind, str(key)))

    def after(self, gvk: Any, key: Key, verb: str, body: bytes | None, error: BaseException | None) -> None:
        self.told.append(("after", gvk.kind, str(key), verb, body, type(error).__name__ if error else None))


async def test_dry_run(client: Client, server: FakeServer) -> None:
    """A dry-run client sends every write as a dry run, of which observers are not notified."""
    recorder = Recorder()
    client.observe_writes(recorder)
    dry = dry_run(client)
    for _ in range(5):
        server.reply(wire())

    await dry.create(widget())
    await dry.update(widget())
    await dry.patch(Widget, KEY, MergePatch({}))
    await dry.apply(widget())
    await dry.delete(widget())

    assert [a.query.get("dryRun") for a in server.asked] == ["All"] * 4 + [None]
    assert server.asked[4].json["dryRun"] == ["All"]
    assert recorder.told == []


async def test_field_owner(client: Client, server: FakeServer) -> None:
    """The client's field owner is used unless a request names another."""
    owned = with_field_owner(client, "mine")
    server.reply(wire())
    server.reply(wire())

    await owned.update(widget())
    await owned.update(widget(), field_owner="yours")

    assert [a.query["fieldManager"] for a in server.asked] == ["mine", "yours"]


async def test_field_validation(client: Client, server: FakeServer) -> None:
    """The client's field validation is sent unless a request names another; an apply has none."""
    strict = with_field_validation(client, "Strict")
    for _ in range(3):
        server.reply(wire())

    await strict.update(widget())
    await strict.update(widget(), field_validation="Ignore")
    await strict.apply(widget())

    assert [a.query.get("fieldValidation") for a in server.asked] == ["Strict", "Ignore", None]


async def test_impersonate(client: Client, server: FakeServer) -> None:
    """Each group is a separate header, and the original client does not impersonate."""
    server.reply(wire())
    server.reply(wire())

    await impersonate(client, "jane", ["devs", "ops"]).get(Widget, KEY)
    await client.get(Widget, KEY)

    assert server.asked[0].headers["Impersonate-User"] == "jane"
    assert server.asked[0].headers.get_all("Impersonate-Group") == ["devs", "ops"]
    assert "Impersonate-User" not in server.asked[1].headers


async def test_wrappers_add_up(client: Client, server: FakeServer) -> None:
    """Clients derived from derived clients keep their options."""
    server.reply(wire())

    await in_namespace(with_field_owner(dry_run(client), "me"), "default").create(widget())

    assert server.asked[0].query == {"dryRun": "All", "fieldManager": "me"}
