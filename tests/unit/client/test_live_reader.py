"""Reads: requests, decoded answers and errors."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from pyctrl.api import CustomResource, GroupVersionKind, Key, Metadata, Model, Unstructured
from pyctrl.client import Client, in_namespace
from pyctrl.errors import Expired, Forbidden, NotFound, UnknownKind
from tests.unit.client._fake_server import FakeServer


class WidgetSpec(Model):
    size: int


class Widget(CustomResource[WidgetSpec], group="demo.test", version="v1"):
    """A namespaced kind with a required field."""


class Zone(CustomResource[Model], group="demo.test", version="v1", scope="Cluster"):
    """A cluster-scoped kind."""


GVK = GroupVersionKind("demo.test", "v1", "Widget")
KEY = Key("default", "a")


def widget(name: str = "a", size: int = 1, **metadata: object) -> dict[str, object]:
    return {
        "apiVersion": "demo.test/v1",
        "kind": "Widget",
        "metadata": {"name": name, "namespace": "default", "resourceVersion": "5", **metadata},
        "spec": {"size": size},
    }


def discovery() -> dict[str, object]:
    version = {
        "version": "v1",
        "freshness": "Current",
        "resources": [
            {
                "resource": "widgets",
                "responseKind": {"group": "demo.test", "version": "v1", "kind": "Widget"},
                "scope": "Namespaced",
                "singularResource": "widget",
                "verbs": ["get", "list"],
            }
        ],
    }
    return {"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": "demo.test"}, "versions": [version]}]}


def empty_discovery() -> dict[str, object]:
    return {"kind": "APIGroupDiscoveryList", "items": []}


async def test_get_typed(client: Client, server: FakeServer) -> None:
    """A class returns an object of that class, requested at the declared resource, without discovery."""
    server.reply(widget(size=3))

    found = await client.get(Widget, KEY)

    assert isinstance(found, Widget)
    assert found.spec.size == 3
    assert [(a.method, a.path) for a in server.asked] == [("GET", "/apis/demo.test/v1/namespaces/default/widgets/a")]


async def test_get_untyped(client: Client, server: FakeServer) -> None:
    """A GroupVersionKind returns Unstructured; discovery runs once."""
    server.reply(empty_discovery())
    server.reply(discovery())
    server.reply(widget())
    server.reply(widget())

    found = await client.get(GVK, KEY)
    await client.get(GVK, KEY)

    assert isinstance(found, Unstructured)
    assert found["spec"] == {"size": 1}
    assert [a.path for a in server.asked][:2] == ["/api", "/apis"]
    assert [a.path for a in server.asked][2:] == ["/apis/demo.test/v1/namespaces/default/widgets/a"] * 2


async def test_get_metadata(client: Client, server: FakeServer) -> None:
    """Metadata[...] requests only the metadata."""
    server.reply(
        {
            "apiVersion": "meta.k8s.io/v1",
            "kind": "PartialObjectMetadata",
            "metadata": {"name": "a", "labels": {"x": "y"}},
        }
    )

    found = await client.get(Metadata[Widget], KEY)

    assert found.metadata.labels == {"x": "y"}
    assert found.gvk == GVK
    assert server.asked[0].headers["accept"].startswith("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1")


async def test_get_cluster_scoped(client: Client, server: FakeServer) -> None:
    """The namespace of a key is ignored for a cluster-scoped kind."""
    server.reply({"apiVersion": "demo.test/v1", "kind": "Zone", "metadata": {"name": "z"}})

    await client.get(Zone, Key("default", "z"))

    assert server.asked[0].path == "/apis/demo.test/v1/zones/z"


async def test_get_needs_a_namespace(client: Client) -> None:
    """A key without namespace for a namespaced kind is refused before anything is sent."""
    with pytest.raises(ValueError, match="Widget 'a' needs a namespace"):
        await client.get(Widget, Key("", "a"))


async def test_names_cannot_leave_their_place(client: Client) -> None:
    """A name with a slash cannot reach another path."""
    with pytest.raises(ValueError, match="cannot be a name"):
        await client.get(Widget, Key("default", "a/status"))


async def test_missing(client: Client, server: FakeServer) -> None:
    """get raises NotFound where find returns None."""
    server.refuse(404, "NotFound", 'widgets.demo.test "a" not found')
    server.refuse(404, "NotFound")

    with pytest.raises(NotFound, match='"a" not found'):
        await client.get(Widget, KEY)
    assert await client.find(Widget, KEY) is None


async def test_kind_not_installed(client: Client, server: FakeServer) -> None:
    """A kind whose definition is not installed raises UnknownKind, also from find, with suggestions."""
    server.not_served()
    server.reply(empty_discovery())
    server.reply(json.loads(json.dumps(discovery()).replace('"kind": "Widget"', '"kind": "Gadget"')))

    with pytest.raises(UnknownKind, match=r"does not serve demo.test/v1, Kind=Widget .*Gadget.*definition installed\?"):
        await client.find(Widget, KEY)


async def test_kind_that_a_served_group_has_not(client: Client, server: FakeServer) -> None:
    """A 404 without details, from a group that is served, means that the kind is missing, not the object."""
    server.refuse(404, "NotFound", "the server could not find the requested resource")
    server.reply(empty_discovery())
    server.reply(empty_discovery())

    with pytest.raises(UnknownKind, match="definition installed"):
        await client.find(Widget, KEY)


async def test_other_refusals_are_not_hidden(client: Client, server: FakeServer) -> None:
    """find returns None only for a missing object: a missing permission is an error."""
    server.refuse(403, "Forbidden")

    with pytest.raises(Forbidden):
        await client.find(Widget, KEY)


async def test_pages(client: Client, server: FakeServer) -> None:
    """pages follows the continue tokens to the end; each yields the objects of all pages."""
    for _ in range(2):
        server.reply({"metadata": {"continue": "2"}, "items": [widget("a"), widget("b")]})
        server.reply({"metadata": {}, "items": [widget("c")]})

    pages = [[w.metadata.name for w in page] async for page in client.pages(Widget, page_size=2)]
    names = [w.metadata.name async for w in client.each(Widget, page_size=2)]

    assert pages == [["a", "b"], ["c"]]
    assert names == ["a", "b", "c"]
    assert [a.query.get("continue") for a in server.asked] == [None, "2", None, "2"]


async def test_expired_token(client: Client, server: FakeServer) -> None:
    """A token that is too old raises Expired between pages."""
    server.reply({"metadata": {"continue": "2"}, "items": [widget()]})
    server.refuse(410, "Expired")

    with pytest.raises(Expired):
        _ = [w async for w in client.each(Widget)]


async def lines(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def test_watch(client: Client, server: FakeServer) -> None:
    """Events are split from the chunks and decoded; a bookmark has a resource version."""
    added = json.dumps({"type": "ADDED", "object": widget(size=2)}).encode()
    mark = {"kind": "Widget", "apiVersion": "demo.test/v1", "metadata": {"resourceVersion": "9"}}
    bookmark = json.dumps({"type": "BOOKMARK", "object": mark}).encode()
    server.reply(lines(added[:10], added[10:] + b"\n" + bookmark + b"\n"))

    events = [event async for event in client.watch(Widget, namespace="default", resource_version="5")]

    assert [(e.type, e.resource_version) for e in events] == [("ADDED", "5"), ("BOOKMARK", "9")]
    assert events[0].object.spec.size == 2
    assert server.asked[0].query == {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": "5",
        "timeoutSeconds": "290",
    }


async def test_watch_of_a_streamed_list(client: Client, server: FakeServer) -> None:
    """A streamed list is requested with the version match that the server requires, and its end is marked."""
    mark = {"metadata": {"resourceVersion": "9", "annotations": {"k8s.io/initial-events-end": "true"}}}
    server.reply(lines(json.dumps({"type": "BOOKMARK", "object": mark}).encode()))

    (event,) = [e async for e in client.watch(Widget, send_initial_events=True)]

    assert event.is_initial_events_end
    assert server.asked[0].query["sendInitialEvents"] == "true"
    assert server.asked[0].query["resourceVersionMatch"] == "NotOlderThan"


async def test_leaving_a_watch_closes_it(client: Client, server: FakeServer) -> None:
    """Leaving the loop inside aclosing closes the stream at once."""
    closed = []

    async def endless() -> AsyncIterator[bytes]:
        try:
            while True:
                yield json.dumps({"type": "ADDED", "object": widget()}).encode() + b"\n"
        finally:
            closed.append(True)

    server.reply(endless())
    async with aclosing(client.watch(Widget)) as events:
        async for _ in events:
            break

    assert closed == [True]


async def test_in_namespace(client: Client, server: FakeServer) -> None:
    """A client for one namespace sets the namespace, except for cluster-scoped kinds, and refuses other namespaces."""
    server.reply({"items": []})
    server.reply({"items": []})
    inner = in_namespace(client, "team")

    await inner.list(Widget)
    await inner.list(Zone)
    with pytest.raises(ValueError, match="of namespace 'default' was requested from a client for namespace 'team'"):
        await inner.get(Widget, KEY)

    assert [a.path for a in server.asked] == ["/apis/demo.test/v1/namespaces/team/widgets", "/apis/demo.test/v1/zones"]
