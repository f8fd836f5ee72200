"""Watching through the client, on any cluster."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from pyctrl.api import GroupVersionKind, Key, Metadata, ObjectMeta
from pyctrl.client import Client, EventType, MergePatch, WatchEvent
from pyctrl.errors import UnknownKind
from pyctrl.kinds.core.v1 import Namespace, Secret

pytestmark = pytest.mark.virtual_time  # where the cluster is embedded

SECRET = GroupVersionKind("", "v1", "Secret")
PATIENCE = 10.0  # seconds for pending events; each takes some hundredths


def secret(namespace: str, name: str, **labels: str) -> Secret:
    return Secret(metadata=ObjectMeta(name=name, namespace=namespace, labels=labels))


async def take(events: AsyncGenerator[WatchEvent[Secret], None], count: int) -> list[tuple[EventType, str]]:
    """Read this many events other than bookmarks; return their types and object names."""
    taken: list[tuple[EventType, str]] = []
    async with asyncio.timeout(PATIENCE):
        while len(taken) < count:
            event = await anext(events)
            if event.type != "BOOKMARK":
                taken.append((event.type, event.object.metadata.name))
    return taken


async def test_from_a_version(client: Client, namespace: str) -> None:
    """A watch yields all events after a version in order, each with the object of that time."""
    before = await client.create(secret(namespace, "before"))
    version = (await client.list(Secret, namespace=namespace)).resource_version
    made = await client.create(secret(namespace, "a"))
    changed = await client.patch(made, MergePatch({"metadata": {"labels": {"tier": "web"}}}))
    await client.delete(made)
    await client.delete(before)

    async with aclosing(client.watch(Secret, namespace=namespace, resource_version=version)) as events:
        async with asyncio.timeout(PATIENCE):
            seen = [await anext(events) for _ in range(4)]

    assert [(event.type, event.object.key.name) for event in seen] == [
        ("ADDED", "a"),
        ("MODIFIED", "a"),
        ("DELETED", "a"),
        ("DELETED", "before"),
    ]
    assert seen[0].object == made
    assert seen[1].object == changed
    assert seen[2].object.metadata.labels == {"tier": "web"}
    versions = [int(event.resource_version) for event in seen]
    assert versions == sorted(set(versions))
    assert versions[0] > int(version)


async def test_from_any_state(client: Client, namespace: str) -> None:
    """Without a version a watch starts with the existing objects, then yields changes."""
    for name in ("a", "b"):
        await client.create(secret(namespace, name))

    async with aclosing(client.watch(Secret, namespace=namespace)) as events:
        there = await take(events, 2)
        await client.create(secret(namespace, "c"))
        then = await take(events, 1)

    assert sorted(there) == [("ADDED", "a"), ("ADDED", "b")]
    assert then == [("ADDED", "c")]


async def test_a_list_as_a_stream(client: Client, namespace: str) -> None:
    """With send_initial_events the list comes first, ends with a bookmark and its version, and the watch continues."""
    made = [await client.create(secret(namespace, name)) for name in ("a", "b")]

    async with aclosing(client.watch(Secret, namespace=namespace, send_initial_events=True)) as events:
        async with asyncio.timeout(PATIENCE):
            initial = [await anext(events) for _ in range(3)]
        await client.create(secret(namespace, "c"))
        then = await take(events, 1)

    assert [event.type for event in initial] == ["ADDED", "ADDED", "BOOKMARK"]
    assert [event.is_initial_events_end for event in initial] == [False, False, True]
    assert [event.object for event in initial[:2]] == made
    assert int(initial[2].resource_version) >= int(made[1].metadata.resource_version)
    assert then == [("ADDED", "c")]


async def test_objects_enter_and_leave_a_label_selector(client: Client, namespace: str) -> None:
    """An object that starts to match is ADDED, one that stops is DELETED, others yield no events."""
    await client.create(secret(namespace, "outside", tier="db"))
    made = await client.create(secret(namespace, "a", tier="db"))
    version = (await client.list(Secret, namespace=namespace)).resource_version
    for labels in ({"tier": "web"}, {"tier": "web", "track": "beta"}, {"tier": None}, {"tier": "web"}):
        await client.patch(made, MergePatch({"metadata": {"labels": labels}}))
    await client.delete(Secret, Key(namespace, "outside"))
    await client.delete(made)

    watch = client.watch(Secret, namespace=namespace, resource_version=version, labels="tier=web")
    async with aclosing(watch) as events:
        seen = await take(events, 5)

    assert [name for _, name in seen] == ["a"] * 5
    assert [what for what, _ in seen] == ["ADDED", "MODIFIED", "DELETED", "ADDED", "DELETED"]


async def test_one_object_by_its_name(client: Client, namespace: str) -> None:
    """A field selector on the name yields events of one object only."""
    version = (await client.list(Secret, namespace=namespace)).resource_version
    for name in ("a", "b"):
        await client.create(secret(namespace, name))
    await client.delete(Secret, Key(namespace, "b"))

    watch = client.watch(
        Secret, namespace=namespace, resource_version=version, fields={"metadata.name": "b"}, bookmarks=False
    )
    async with aclosing(watch) as events:
        assert await take(events, 2) == [("ADDED", "b"), ("DELETED", "b")]


async def test_all_namespaces(client: Client, namespace: str) -> None:
    """A watch without a namespace yields the events of all namespaces."""
    version = (await client.list(Secret, labels={"test": namespace})).resource_version
    other = await client.create(Namespace(metadata=ObjectMeta(generate_name="test-")))
    for where in (namespace, other.metadata.name):
        await client.create(secret(where, "a", test=namespace))

    watch = client.watch(Secret, resource_version=version, labels={"test": namespace})
    async with aclosing(watch) as events, asyncio.timeout(PATIENCE):
        seen = [(await anext(events)).object.metadata.namespace for _ in range(2)]
    await client.delete(other)

    assert seen == [namespace, other.metadata.name]


async def test_untyped_and_metadata_watches(client: Client, namespace: str) -> None:
    """A GroupVersionKind yields untyped objects, Metadata only the metadata, with the same events."""
    version = (await client.list(Secret, namespace=namespace)).resource_version
    made = await client.create(Secret(metadata=ObjectMeta(name="a", namespace=namespace), string_data={"k": "v"}))

    async with (
        aclosing(client.watch(SECRET, namespace=namespace, resource_version=version)) as untyped,
        aclosing(client.watch(Metadata[Secret], namespace=namespace, resource_version=version)) as metadata,
        asyncio.timeout(PATIENCE),
    ):
        whole, part = (await anext(untyped)).object, (await anext(metadata)).object

    assert (whole["data"], whole.metadata) == ({"k": "dg=="}, made.metadata)
    assert (part.metadata, part.gvk) == (made.metadata, SECRET)
    assert "data" not in part.to_wire()


@pytest.mark.slow("a watch lasts at least one second")
async def test_the_server_ends_a_watch(client: Client, namespace: str) -> None:
    """After its timeout the watch loop ends without an error."""
    await client.create(secret(namespace, "a"))

    async with asyncio.timeout(PATIENCE):
        seen = [event.type async for event in client.watch(Secret, namespace=namespace, timeout_seconds=1)]

    assert [what for what in seen if what != "BOOKMARK"] == ["ADDED"]


async def test_a_kind_that_is_not_served(client: Client) -> None:
    """Watching an unserved kind raises UnknownKind at once instead of waiting."""
    with pytest.raises(UnknownKind):
        await anext(client.watch(GroupVersionKind("apps", "v1", "Deploymnt")))


async def test_events_after_an_early_leave(client: Client, namespace: str) -> None:
    """A watch that is left early is closed; the next one resumes at its position without losing events."""
    async with aclosing(client.watch(Secret, namespace=namespace)) as events:
        await client.create(secret(namespace, "a"))
        async with asyncio.timeout(PATIENCE):
            version = (await anext(events)).resource_version
    await client.create(secret(namespace, "b"))

    async with aclosing(client.watch(Secret, namespace=namespace, resource_version=version)) as events:
        assert await take(events, 1) == [("ADDED", "b")]
