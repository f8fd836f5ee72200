"""Events of a recorder on a real API: the objects they can be about, and the server's handling."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from uuid import uuid4

import pytest

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, EventWriter, wait_for_list
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.kinds.core.v1 import ConfigMap, Namespace
from pyctrl.kinds.core.v1 import Event as CoreEvent
from pyctrl.kinds.events.v1 import Event
from pyctrl.kinds.rbac.v1 import ClusterRole
from pyctrl.manager import Manager
from pyctrl.testing import ClusterUnderTest
from tests.integration._objects import config_map

pytestmark = pytest.mark.virtual_time  # where the cluster is embedded


class Teller(Reconciler[ConfigMap]):
    """Records an event with the number of keys for each ConfigMap with the key `told`."""

    async def reconcile(self, request: Request) -> None:
        config = await self.client.find(ConfigMap, request.key)
        if config is not None and "told" in config.data:
            self.recorder.warning(config, "Incomplete", f"It has {len(config.data)} keys", action="Count")


@asynccontextmanager
async def writing(client: Client) -> AsyncIterator[EventWriter]:
    """Write events during a block; all are written when it ends."""
    writer = EventWriter(client)
    async with asyncio.TaskGroup() as group:
        group.create_task(writer.run())
        yield writer
        writer.ask_to_stop()


async def test_an_operator_tells_and_a_series_goes_on(
    cluster: ClusterUnderTest, client: Client, namespace: str
) -> None:
    """Repeated events of an object become one Event with a series count."""

    def is_counted(events: Sequence[Event]) -> bool:
        return any(event.series is not None and event.series.count >= 2 for event in events)

    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        Builder(manager).reconciles(ConfigMap).options(name="example.com/teller").build(Teller())
        async with manager.running():
            config = await client.create(config_map(namespace, "a", told="1"))
            await wait_for_list(client, Event, lambda events: len(events) == 1, namespace=namespace)
            for value in "23":
                config.data["told"] = value
                config = await client.update(config)
            await wait_for_list(client, Event, is_counted, namespace=namespace)
    (event,) = await client.list(Event, namespace=namespace)
    assert (event.type, event.reason, event.action) == ("Warning", "Incomplete", "Count")
    assert event.note == "It has 1 keys"
    assert event.reporting_controller == "example.com/teller"
    assert (event.regarding.kind, event.regarding.name, event.regarding.uid) == ("ConfigMap", "a", config.metadata.uid)
    assert event.series is not None
    assert event.event_time is not None
    assert event.series.last_observed_time is not None
    assert event.event_time <= event.series.last_observed_time  # virtual time has hardly moved
    (seen,) = await client.list(CoreEvent, fields="involvedObject.name=a", namespace=namespace)
    assert seen.message == event.note


async def test_objects_of_the_whole_cluster_are_told_of_in_the_default_namespace(client: Client) -> None:
    """An Event of a cluster-scoped object is in `default`, even if its name is invalid for Events."""
    role = await client.create(ClusterRole(metadata=ObjectMeta(name=f"pyctrl:test:{uuid4().hex}")))
    try:
        async with writing(client) as writer:
            writer.recorder("teller").normal(role, "Seen", "Seen it")
        assert writer.statistics().written == 1
        (event,) = await client.list(Event, namespace="default", fields=f"regarding.name={role.metadata.name}")
        assert event.regarding.uid == role.metadata.uid
        await client.delete(Event, event.key)
    finally:
        await client.delete(ClusterRole, role.key)


async def test_whatever_is_told_the_server_takes_it(client: Client, namespace: str) -> None:
    """The server accepts events with overlong or empty texts, invalid controller names or missing objects."""
    shop = config_map(namespace, "shop")
    async with writing(client) as writer:
        for number, name in enumerate(["Ein Controller (ü)", "x" * 100, "a/b/c", "a..b/c", "", "example.com/evc"]):
            writer.recorder(name).warning(shop, f"{number}" + "R" * 200, "ü" * 1000, action="ä" * 100, related=shop)
            writer.recorder(name).normal(shop, "", "", action="")
    assert writer.statistics().refused == 0
    assert len(await client.list(Event, namespace=namespace)) == 12


async def test_events_of_a_namespace_that_ends_are_let_be(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    """Events that a terminating namespace refuses are dropped without a log message."""
    caplog.set_level(logging.INFO, "pyctrl.events")
    made = await client.create(Namespace(metadata=ObjectMeta(generate_name="test-")))
    name = made.metadata.name
    held = config_map(name, "held")
    held.metadata.finalizers = ["pyctrl.test/held"]
    held = await client.create(held)
    await client.delete(Namespace, Key("", name))
    async with writing(client) as writer:
        writer.recorder("teller").normal(held, "Deleted", "It goes")
    assert writer.statistics().refused == 1
    assert not [record for record in caplog.records if record.name == "pyctrl.events"]
    held = await client.get(ConfigMap, held.key)
    held.metadata.finalizers = []
    await client.update(held)
