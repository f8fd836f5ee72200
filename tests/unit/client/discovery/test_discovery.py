"""Discovery: lookups, refreshes and errors."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pyctrl.api import GroupVersionKind, Unstructured
from pyctrl.client import Client
from pyctrl.errors import ConnectionFailed, ServiceUnavailable, StreamBroken, UnknownKind
from tests.unit.client._fake_server import FakeServer

WIDGET = GroupVersionKind("demo.test", "v1", "Widget")
POD = GroupVersionKind("", "v1", "Pod")


def resource(plural: str, kind: str, scope: str = "Namespaced") -> dict[str, Any]:
    return {
        "resource": plural,
        "responseKind": {"group": "", "version": "v1", "kind": kind},
        "scope": scope,
        "singularResource": kind.lower(),
        "verbs": ["get"],
        "shortNames": ["sn"],
        "subresources": [{"subresource": "status", "responseKind": {"kind": kind}, "verbs": ["get"]}],
    }


def aggregated(group: str, *resources: dict[str, Any], freshness: str = "Current") -> dict[str, Any]:
    version = {"version": "v1", "freshness": freshness, "resources": list(resources)}
    return {"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": group}, "versions": [version]}]}


EMPTY = {"kind": "APIGroupDiscoveryList", "items": []}


async def test_legacy_group_that_is_down(client: Client, server: FakeServer) -> None:
    """A group that does not respond does not affect other groups; the error for its kinds names the group."""
    server.reply({"kind": "APIVersions", "versions": ["v1"]})
    server.reply({"kind": "APIGroupList", "groups": [{"versions": [{"groupVersion": "demo.test/v1"}]}]})
    server.reply({"kind": "APIResourceList", "resources": [{"name": "pods", "kind": "Pod"}]})
    server.refuse(503, "ServiceUnavailable")

    assert (await client.discovery.mapping(POD)).plural == "pods"

    server.reply(EMPTY)
    server.reply(aggregated("demo.test", freshness="Stale"))
    with pytest.raises(UnknownKind, match="demo.test/v1 by a server that does not answer now"):
        await client.discovery.mapping(WIDGET)


async def test_stale_group_keeps_what_was_known(client: Client, server: FakeServer) -> None:
    """A group whose server disappears keeps its last known resources."""
    server.reply(EMPTY)
    server.reply(aggregated("demo.test", resource("widgets", "Widget")))
    await client.discovery.refresh()
    server.reply(EMPTY)
    server.reply(aggregated("demo.test", freshness="Stale"))

    await client.discovery.refresh()

    assert (await client.discovery.mapping(WIDGET)).plural == "widgets"


async def test_the_first_resource_of_a_kind(client: Client, server: FakeServer) -> None:
    """Of two resources with the same kind the first one is the kind's, and each is found by its own name."""
    server.reply(EMPTY)
    server.reply(aggregated("demo.test", resource("widgets", "Widget"), resource("widgetreviews", "Widget")))

    assert (await client.discovery.mapping(WIDGET)).plural == "widgets"
    assert (await client.discovery.mapping_for_resource("demo.test", "v1", "widgetreviews")).gvk == WIDGET


async def test_unknown_then_installed(client: Client, server: FakeServer) -> None:
    """A kind that is installed after a failed lookup is found by a lookup at most a second later."""
    for _ in range(3):
        server.reply(EMPTY)
    server.reply(aggregated("demo.test", resource("widgets", "Widget")))
    loop = asyncio.get_running_loop()
    started = loop.time()

    with pytest.raises(UnknownKind, match="is its definition installed"):
        await client.discovery.mapping(WIDGET)
    assert loop.time() == started
    assert (await client.discovery.mapping(WIDGET)).plural == "widgets"
    assert loop.time() - started == 1


async def test_what_has_not_changed_is_not_sent_again(client: Client, server: FakeServer) -> None:
    """A document with an ETag is requested with it; 304 keeps the previous document."""
    for root in (EMPTY, aggregated("demo.test", resource("widgets", "Widget"))):
        server.reply(root, headers=[("ETag", '"one"')])
    assert (await client.discovery.mapping(WIDGET)).plural == "widgets"
    assert "If-None-Match" not in server.asked[0].headers
    server.reply(b"", status=304)
    server.reply(b"", status=304)

    await client.discovery.refresh()

    assert [asked.headers["If-None-Match"] for asked in server.asked[2:]] == ['"one"', '"one"']
    assert (await client.discovery.mapping(WIDGET)).plural == "widgets"


async def test_single_flight(client: Client, server: FakeServer) -> None:
    """A hundred concurrent lookups of unknown kinds share one refresh."""
    server.reply(EMPTY)
    server.reply(aggregated("demo.test", resource("widgets", "Widget")))

    found = await asyncio.gather(*(client.discovery.mapping(WIDGET) for _ in range(100)))

    assert {mapping.plural for mapping in found} == {"widgets"}
    assert len(server.asked) == 2


async def test_who_asks_at_the_same_time_learns_at_the_same_time_what_is_missing(
    client: Client, server: FakeServer
) -> None:
    """The first of many concurrent lookups does not make the others wait for a second refresh."""
    server.reply(EMPTY)
    server.reply(aggregated("demo.test", resource("widgets", "Widget")))
    loop = asyncio.get_running_loop()
    started = loop.time()

    kinds = [WIDGET, GroupVersionKind("demo.test", "v1", "Nothing")]
    found, missing = await asyncio.gather(*map(client.discovery.mapping, kinds), return_exceptions=True)

    assert isinstance(missing, UnknownKind)
    assert not isinstance(found, BaseException)
    assert loop.time() == started


async def test_many_askers_for_nothing(client: Client, server: FakeServer) -> None:
    """Any number of lookups of unknown kinds sends one refresh a second."""
    for _ in range(200):
        server.reply(EMPTY)
    loop = asyncio.get_running_loop()
    started = loop.time()

    async def ask(n: int) -> None:
        for _ in range(5):
            with pytest.raises(UnknownKind):
                await client.discovery.mapping(GroupVersionKind("demo.test", "v1", f"Nothing{n}"))

    async with asyncio.TaskGroup() as group:
        for n in range(20):
            group.create_task(ask(n))

    refreshes = len(server.asked) / 2
    assert refreshes <= loop.time() - started + 1
    assert refreshes <= 6


async def test_a_failed_refresh_is_everybodys(client: Client, server: FakeServer) -> None:
    """A failed refresh fails all lookups that waited for it; the next lookup refreshes again."""
    server.refuse(503, "ServiceUnavailable")

    outcomes = await asyncio.gather(*(client.discovery.mapping(WIDGET) for _ in range(5)), return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [ServiceUnavailable] * 5
    assert len(server.asked) == 1

    server.reply(EMPTY)
    server.reply(aggregated("demo.test", resource("widgets", "Widget")))
    assert (await client.discovery.mapping(WIDGET)).plural == "widgets"


async def test_cancelling_one_asker(client: Client, server: FakeServer) -> None:
    """When the task that refreshes is cancelled, the next waiting task refreshes."""
    blocked = asyncio.Event()

    async def handler(asked: Any) -> Any:
        if not blocked.is_set():
            blocked.set()
            await asyncio.Event().wait()
        return server.line.pop(0)

    server.handler = handler
    server.reply(EMPTY)
    server.reply(aggregated("demo.test", resource("widgets", "Widget")))
    first = asyncio.create_task(client.discovery.mapping(WIDGET))
    second = asyncio.create_task(client.discovery.mapping(WIDGET))
    await blocked.wait()
    first.cancel()

    assert (await second).plural == "widgets"
    with pytest.raises(asyncio.CancelledError):
        await first


async def test_removed_definition(client: Client, server: FakeServer) -> None:
    """A kind whose definition was removed raises UnknownKind, and is found again once it is installed."""
    obj = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": "a", "namespace": "d"}}
    server.reply(EMPTY)
    server.reply(aggregated("demo.test", resource("widgets", "Widget")))
    server.not_served()

    with pytest.raises(UnknownKind):
        await client.update(Unstructured.from_wire(obj))

    server.reply(EMPTY)
    server.reply(aggregated("demo.test", resource("things", "Widget")))
    server.reply(obj)
    await client.update(Unstructured.from_wire(obj))
    assert server.asked[-1].path == "/apis/demo.test/v1/namespaces/d/things/a"


async def test_nearby(client: Client, server: FakeServer) -> None:
    """The error suggests the same kind in other groups before other kinds of the group."""
    server.reply(aggregated("", resource("gadgets", "Gadget")))
    server.reply(aggregated("demo.test", resource("gizmos", "Gizmo")))

    with pytest.raises(UnknownKind, match=r"demo.test/v1, Kind=Gadget \(it serves v1 Gadget, demo.test/v1 Gizmo\)"):
        await client.discovery.mapping(GroupVersionKind("demo.test", "v1", "Gadget"))


async def test_no_cluster(client: Client, server: FakeServer) -> None:
    """A connection error is raised as such, not as UnknownKind."""
    server.line += [KeyError("x")] * 9

    with pytest.raises((ConnectionFailed, StreamBroken)):
        await client.discovery.mapping(WIDGET)
