"""Event recorders of a manager: their names, and when recorded Events are written."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Sequence
from datetime import timedelta

import pytest

from pyctrl.api import ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config, InProcessTransport
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.kinds.events.v1 import Event
from pyctrl.manager import Group, LeaderElection, Manager
from pyctrl.testing import ConnectionRefused, FaultyTransport, Rule


class Teller(Reconciler[ConfigMap]):
    """Records an event when it starts with an object, and another five seconds later."""

    async def reconcile(self, request: Request) -> None:
        config = await self.client.find(ConfigMap, request.key)
        if config is not None:
            self.recorder.normal(config, "Begun", "Begun with it")
            await asyncio.sleep(5)
            self.recorder.normal(config, "Done", "Done with it")


class Silent(Reconciler[Secret]):
    """Records no events."""

    async def reconcile(self, request: Request) -> None: ...


def config_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))


async def told(client: Client) -> Sequence[tuple[str | None, str | None]]:
    """Return the events with their reporters, sorted."""
    return sorted((event.reporting_controller, event.reason) for event in await client.list(Event))


async def test_each_reconciler_has_a_recorder_in_its_controllers_name() -> None:
    """The builder gives each reconciler a recorder with the controller's name."""
    async with Manager(Config.in_process(ApiServer())) as manager:
        Builder(manager).reconciles(ConfigMap).build(Teller())
        Builder(manager).reconciles(ConfigMap).options(name="another").build(Teller())
        async with manager.running():
            await manager.client.create(config_map("a"))
            await asyncio.sleep(1)
            assert await told(manager.live_client) == [("another", "Begun"), ("configmap", "Begun")]


async def test_a_replica_is_known_by_the_name_of_its_host() -> None:
    """The host name, which is the pod's name in a cluster, identifies the replica in Events and in the Lease."""
    election = LeaderElection(name="op", namespace="default")
    async with Manager(Config.in_process(ApiServer()), leader_election=election) as manager, manager.running():
        manager.event_recorder("teller").normal(config_map("a"), "Seen", "Seen it")
        await asyncio.sleep(1)
        (lease,) = await manager.live_client.list(Lease, namespace="default")
        assert (lease.spec.holder_identity or "").startswith(f"{socket.gethostname()}_")
        instances = {event.reporting_instance for event in await manager.live_client.list(Event)}
        assert instances == {f"teller-{socket.gethostname()}", f"op-{socket.gethostname()}"}


async def test_what_is_told_to_the_very_end_is_written() -> None:
    """Events that controllers and other runnables record during shutdown are written."""

    async def everywhere() -> None:
        recorder = manager.event_recorder("everywhere")
        try:
            await asyncio.Event().wait()
        finally:
            recorder.warning(config_map("a"), "Ended", "The end")

    groups = [group for group in Group if group is not Group.SERVERS]  # SERVERS has the event writer
    async with Manager(Config.in_process(ApiServer())) as manager:
        Builder(manager).reconciles(ConfigMap).build(Teller())
        for group in groups:
            manager.add(everywhere, group=group)
        async with manager.running():
            await manager.client.create(config_map("a"))
            await asyncio.sleep(1)
        assert await told(manager.live_client) == [
            ("configmap", "Begun"),
            ("configmap", "Done"),
            ("everywhere", "Ended"),
        ]
        (ended,) = [event for event in await manager.live_client.list(Event) if event.reason == "Ended"]
        assert ended.series is not None
        assert ended.series.count == len(groups)


async def test_a_server_that_is_gone_does_not_use_up_the_grace_period(caplog: pytest.LogCaptureFixture) -> None:
    """After five seconds without a server, stopping continues without the events and raises no error."""
    network = FaultyTransport(InProcessTransport(ApiServer()))
    async with Client(network) as client, Manager(client=client, grace_period=timedelta(seconds=30)) as manager:
        Builder(manager).reconciles(ConfigMap).build(Teller())
        async with manager.running():
            await manager.client.create(config_map("a"))
            await asyncio.sleep(10)
            network.add(Rule(ConnectionRefused(), times=None))
            manager.event_recorder("last").normal(config_map("a"), "Last", "Words")
            begun = asyncio.get_running_loop().time()
        assert asyncio.get_running_loop().time() - begun <= 5
    assert "Stopped before all events were written" in [record.message for record in caplog.records]


async def test_a_program_that_tells_nothing_sends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """Without events, no request is sent and nothing is logged: the role needs no permission for events."""
    caplog.set_level(logging.DEBUG, "pyctrl.events")
    network = FaultyTransport(InProcessTransport(ApiServer()))
    async with Client(network) as client, Manager(client=client) as manager:
        Builder(manager).reconciles(Secret).build(Silent())
        async with manager.running():
            await manager.client.create(Secret(metadata=ObjectMeta(name="a", namespace="default")))
            await asyncio.sleep(3600)
        assert manager.events.statistics().waiting == 0
    assert not [request for request in network.requests if "events" in request.path]
    assert not [record for record in caplog.records if record.name == "pyctrl.events"]
