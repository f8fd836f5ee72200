"""Writing: what is sent, what comes back, and who is told."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from pyctrl.api import CustomResource, GroupVersionKind, Key, Metadata, Model, ObjectMeta, Unstructured
from pyctrl.client import (
    Client,
    JsonPatch,
    MergePatch,
    Preconditions,
    StrategicMergePatch,
    dry_run,
    impersonate,
    in_namespace,
    merge_from,
    with_field_owner,
    with_field_validation,
)
from pyctrl.errors import AlreadyExists, Conflict, DecodeError, Invalid, RequestTimeout, StreamBroken, UnknownKind
from tests.unit.client._fake_server import FakeServer


class WidgetSpec(Model):
    size: int = 1
    colours: list[str] = []


class Widget(CustomResource[WidgetSpec], group="demo.test", version="v1"):
    """A namespaced kind."""


GVK = GroupVersionKind("demo.test", "v1", "Widget")
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


class Recorder:
    """An observer that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def before(self, gvk: GroupVersionKind, key: Key) -> None:
        self.told.append(("before", gvk.kind, str(key)))

    def after(self, gvk: Any, key: Key, verb: str, body: bytes | None, error: BaseException | None) -> None:
        self.told.append(("after", gvk.kind, str(key), verb, body, type(error).__name__ if error else None))


@pytest.mark.parametrize("write", ["create", "update", "patch", "status.patch", "apply"])
async def test_answers_are_decoded_when_they_are_looked_at(client: Client, server: FakeServer, write: str) -> None:
    """A write has succeeded whatever its answer is like; what is wrong with it is told where it is looked at."""
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
    """create posts the whole object with its owner and returns the server's, leaving the argument alone."""
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
    """An Unstructured is written like a typed object, and is answered with one."""
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


async def test_metadata_cannot_be_written_whole(client: Client) -> None:
    """Writing a metadata view as a whole would delete the rest of the object: it is refused."""
    view = Metadata[Widget].from_wire(wire())

    with pytest.raises(TypeError, match="only its metadata is here; patch it instead"):
        await client.update(view)


async def test_a_class_is_no_object(client: Client) -> None:
    """Passing a class where an object is wanted says what is missing."""
    with pytest.raises(TypeError, match="needs a key"):
        await client.update(Widget)  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("patch", "content_type", "body"),
    [
        (MergePatch({"spec": {"size": 2}}), "application/merge-patch+json", {"spec": {"size": 2}}),
        (StrategicMergePatch({"a": 1}), "application/strategic-merge-patch+json", {"a": 1}),
        (JsonPatch([{"op": "remove", "path": "/a"}]), "application/json-patch+json", [{"op": "remove", "path": "/a"}]),
    ],
)
async def test_patches(client: Client, server: FakeServer, patch: Any, content_type: str, body: Any) -> None:
    """Each kind of patch goes out under its media type, for an object or for a kind and a key."""
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
    """merge_from remembers the object as it was, so that it can be changed in place; only the change is sent."""
    server.reply(wire())
    obj = widget(size=1, colours=["red"])
    patch = merge_from(obj)
    obj.spec.size = 2
    obj.spec.colours.append("blue")

    await client.patch(obj, patch)

    assert server.asked[0].json == {"spec": {"size": 2, "colours": ["red", "blue"]}}


async def test_merge_from_with_lock(client: Client, server: FakeServer) -> None:
    """With a lock the patch names the version that was read, and without a version there is nothing to lock on."""
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
    """A difference needs the changed object: a key alone is refused."""
    with pytest.raises(TypeError, match="needs the changed object"):
        await client.patch(Widget, KEY, merge_from(widget()))


async def test_apply(client: Client, server: FakeServer) -> None:
    """apply sends the object without managedFields, under the owner's name, and creates or changes it."""
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


async def test_apply_a_dict_without_a_kind(client: Client) -> None:
    """A dict that does not say what it is cannot be applied."""
    with pytest.raises(ValueError, match="must say its apiVersion and kind"):
        await client.apply({"metadata": {"name": "a"}})


async def test_delete(client: Client, server: FakeServer) -> None:
    """delete takes an object or a kind and a key, and sends what was said about how."""
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
    """delete_all_of deletes what matches in one namespace, and refuses to guess the namespace."""
    server.reply({"kind": "WidgetList", "items": []})

    await client.delete_all_of(Widget, namespace="default", labels="app=x")
    with pytest.raises(ValueError, match="say in which namespace"):
        await client.delete_all_of(Widget)

    assert (server.asked[0].method, server.asked[0].path) == ("DELETE", PATH)
    assert server.asked[0].query == {"labelSelector": "app=x"}


async def test_a_name_is_needed(client: Client) -> None:
    """Deleting an object without a name is refused: it would have been the whole collection."""
    with pytest.raises(ValueError, match="must have a name"):
        await client.delete(Widget, Key("default", ""))


async def test_dry_run(client: Client, server: FakeServer) -> None:
    """A dry-run client asks for a dry run of every write, and no observer hears of one."""
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
    """A client's owner is used unless a request names its own."""
    owned = with_field_owner(client, "mine")
    server.reply(wire())
    server.reply(wire())

    await owned.update(widget())
    await owned.update(widget(), field_owner="yours")

    assert [a.query["fieldManager"] for a in server.asked] == ["mine", "yours"]


async def test_field_validation(client: Client, server: FakeServer) -> None:
    """A client's validation is asked for unless a request names its own; an apply, which is strict anyway, has none."""
    strict = with_field_validation(client, "Strict")
    for _ in range(3):
        server.reply(wire())

    await strict.update(widget())
    await strict.update(widget(), field_validation="Ignore")
    await strict.apply(widget())

    assert [a.query.get("fieldValidation") for a in server.asked] == ["Strict", "Ignore", None]


async def test_impersonate(client: Client, server: FakeServer) -> None:
    """Each group is a header of its own, and the client it was derived from stays who it was."""
    server.reply(wire())
    server.reply(wire())

    await impersonate(client, "jane", ["devs", "ops"]).get(Widget, KEY)
    await client.get(Widget, KEY)

    assert server.asked[0].headers["Impersonate-User"] == "jane"
    assert server.asked[0].headers.get_all("Impersonate-Group") == ["devs", "ops"]
    assert "Impersonate-User" not in server.asked[1].headers


async def test_wrappers_add_up(client: Client, server: FakeServer) -> None:
    """Clients derived from derived clients keep what was decided before."""
    server.reply(wire())

    await in_namespace(with_field_owner(dry_run(client), "me"), "default").create(widget())

    assert server.asked[0].query == {"dryRun": "All", "fieldManager": "me"}


async def test_refusals(client: Client, server: FakeServer) -> None:
    """A refusal is the class of its reason, and an invalid object says which field."""
    server.refuse(409, "AlreadyExists")
    status = {"causes": [{"reason": "FieldValueInvalid", "message": "too big", "field": "spec.size"}]}
    server.reply({"kind": "Status", "code": 422, "reason": "Invalid", "details": status}, status=422)

    with pytest.raises(AlreadyExists):
        await client.create(widget())
    with pytest.raises(Invalid) as caught:
        await client.create(widget())
    assert caught.value.causes[0].field == "spec.size"


async def test_write_to_a_kind_that_is_not_installed(client: Client, server: FakeServer) -> None:
    """Writing an object whose definition is not installed is UnknownKind."""
    server.not_served()
    server.reply({"kind": "APIGroupDiscoveryList"})
    server.reply({"kind": "APIGroupDiscoveryList"})

    with pytest.raises(UnknownKind, match=r"is its definition installed\?"):
        await client.create(widget())


async def test_observers(client: Client, server: FakeServer) -> None:
    """An observer hears before and after each write, with the answer's bytes and the name the server gave."""
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
    """When no answer comes the observer is told so: the object may have changed."""
    recorder = Recorder()
    client.observe_writes(recorder)
    server.line.append(RuntimeError("gone"))

    with pytest.raises(StreamBroken):
        await client.update(widget())

    assert recorder.told[1][4:] == (None, "StreamBroken")


async def test_writes_time_out(client: Client, server: FakeServer) -> None:
    """A server that never answers a write is given up on."""

    async def silent(_: object) -> Any:
        await asyncio.Event().wait()

    server.handler = silent
    started = asyncio.get_running_loop().time()

    with pytest.raises(RequestTimeout, match=r"PUT .* timed out"):
        await client.update(widget())
    assert asyncio.get_running_loop().time() - started == 30
