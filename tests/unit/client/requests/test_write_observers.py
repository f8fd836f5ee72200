"""Write observers: their notifications."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pyctrl.api import CustomResource, GroupVersionKind, Key, Model, ObjectMeta
from pyctrl.client import (
    Client,
    MergePatch,
    dry_run,
    in_namespace,
)
from pyctrl.errors import Conflict, StreamBroken
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


async def test_observers(client: Client, server: FakeServer) -> None:
    """Observers are called before and after each write, with the answer's bytes and the generated name."""
    recorder = Recorder()
    stop = client.observe_writes(recorder)
    server.reply(wire("gen-1"))
    server.reply({"kind": "Status", "status": "Success"})
    server.refuse(409, "Conflict")
    server.reply(wire())

    await in_namespace(client, "default").create(Widget(metadata=ObjectMeta(generate_name="gen-"), spec=WidgetSpec()))
    await client.delete(Widget, KEY)
    with pytest.raises(Conflict):
        await client.update(widget())
    stop()
    await client.update(widget())

    before, after = recorder.told[0], recorder.told[1]
    assert before == ("before", "Widget", "default/")
    assert after[:4] == ("after", "Widget", "default/gen-1", "create")
    assert b'"gen-1"' in after[4]
    assert recorder.told[3][3] == "delete"
    assert b"Success" in recorder.told[3][4]
    assert recorder.told[5] == ("after", "Widget", "default/a", "update", None, "Conflict")
    assert len(recorder.told) == 6


async def test_observers_hear_of_unknown_outcomes(client: Client, server: FakeServer) -> None:
    """Without a response, observers get the error, since the object may have changed."""
    recorder = Recorder()
    client.observe_writes(recorder)
    server.line.append(RuntimeError("gone"))

    with pytest.raises(StreamBroken):
        await client.update(widget())

    assert recorder.told[1][4:] == (None, "StreamBroken")


async def test_observers_do_not_hear_of_what_is_not_kept(client: Client, server: FakeServer) -> None:
    """A dry run is not observed, and the answer of a sub-resource of another kind is not passed as the object."""
    recorder = Recorder()
    client.observe_writes(recorder)
    for _ in range(2):
        server.reply(wire())
    await client.update(widget(), dry_run=True)
    await dry_run(client).update(widget())
    assert recorder.told == []

    server.reply({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "a", "namespace": "default"}})
    await client.subresource("scale").patch(Widget, KEY, MergePatch({"spec": {"replicas": 2}}))
    assert recorder.told[-1] == ("after", "Widget", "default/a", "patch", None, None)


# --- mutators ---


class Labeller:
    """A mutator that labels what is written with the verb."""

    def mutate(self, gvk: GroupVersionKind, verb: str, body: bytes) -> bytes:
        obj = json.loads(body)
        obj["metadata"]["labels"] = {"verb": f"{verb} {gvk.kind}"}
        return json.dumps(obj).encode()


async def test_mutators_change_whole_objects(client: Client, server: FakeServer) -> None:
    """Creates, updates and applies are changed, dry runs included; patches, deletes and sub-resources are not."""
    stop = client.mutate_writes(Labeller())
    for _ in range(8):
        server.reply(wire())
    await client.create(widget())
    await client.update(widget())
    await client.apply(widget())
    await dry_run(client).create(widget())
    await client.patch(Widget, KEY, MergePatch({"metadata": {"labels": {"a": "b"}}}))
    await client.status.update(widget())
    stop()
    await client.create(widget())

    bodies = [json.loads(request.body or b"{}") for request in server.asked]
    labels = [body["metadata"].get("labels") for body in bodies]
    written = [{"verb": f"{verb} Widget"} for verb in ("create", "update", "apply", "create")]
    assert labels == [*written, {"a": "b"}, None, None]
