"""Fleets: clusters that join, leave, change their server or login, and fail, in one virtual loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from datetime import timedelta

import pytest

from pyctrl.api import ObjectMeta, set_controller_reference
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config
from pyctrl.cluster import Cluster
from pyctrl.controller import (
    Builder,
    ChannelSource,
    ControllerState,
    Reconciler,
    Request,
)
from pyctrl.errors import BuilderError, ClusterGone, DuplicateName, NotLeading, UnknownCluster
from pyctrl.kinds.core.v1 import ConfigMap, Pod, Secret
from pyctrl.kinds.events.v1 import Event
from pyctrl.manager import Fleet, InMemoryProvider, LeaderElection, Manager
from pyctrl.testing import Delayed, Rule
from tests.unit.manager._fleets import A, Away, Log, config_map, logged, settle, texts, world
from tests.unit.manager._replicas import stand_still


async def test_one_that_comes_back_under_its_name_is_read_anew() -> None:
    """A cluster that rejoins with another server is listed again: the cache has no object of the first server."""
    first, second = Away("one"), Away("one")
    for number in range(20):
        await first.create(config_map(f"old-{number}", "first"))
    await second.create(config_map("a", "second"))
    async with world() as there:
        there.add(first)
        Builder(there.fleet).reconciles(ConfigMap).build_each(there.log.noter)
        async with there.manager.running():
            await settle()
            there.log.lines.clear()
            there.provider.add("one", second.config)  # rejoin at once, without a pause
            await settle()
            assert there.log.lines == [("one:default/a", "second")]
            found = await there.fleet["one"].client.list(ConfigMap)
            assert [each.metadata.name for each in found] == ["a"]


async def test_another_login_lists_nothing_anew() -> None:
    """After a change of credentials, watches resume without a list, and requests use the new credentials."""
    one = Away("one")
    await one.create(config_map("a", "before"))
    async with world() as there:
        there.add(one)
        Builder(there.fleet).reconciles(ConfigMap).build_each(there.log.noter)
        async with there.manager.running():
            await settle()
            client = there.fleet["one"].client
            there.provider.add("one", one.login())
            await settle()
            old, new = one.networks
            sent = len(old.requests)
            await client.create(config_map("b", "after"))
            await settle(600)  # longer than a watch lasts
            assert there.fleet["one"].client is client
            assert there.log.lines == [("one:default/a", "before"), ("one:default/b", "after")]
            assert len(old.requests) == sent
            lists = [each for each in new.requests if each.method == "GET" and "sendInitialEvents" in dict(each.query)]
            assert lists == []


async def test_one_that_is_down_keeps_nobody_from_anything() -> None:
    """A cluster that is down does not affect other clusters or readiness, and is reconciled once it answers."""
    one, two = Away("one"), Away("two")
    await one.create(config_map("a", "of one"))
    await two.create(config_map("a", "of two"))
    async with world() as there:
        there.add(one, two)
        Builder(there.fleet).reconciles(ConfigMap).build_each(there.log.noter)
        async with there.manager.running():
            await there.fleet.wait_for("one", "two")
            one.cut()
            await settle(600)
            assert there.log.lines == [("two:default/a", "of two")]
            assert there.manager.not_ready == {}
            assert "no connection" in there.fleet["one"].trouble
            assert there.fleet["two"].trouble == ""
            one.network.clear()
            await settle(120)
            assert there.log.lines[1:] == [("one:default/a", "of one")]
            assert there.fleet["one"].trouble == ""


async def test_one_that_goes_down_in_the_middle_loses_nothing() -> None:
    """Changes during an outage are seen afterwards; a failing cluster affects no other cluster."""
    one, two = Away("one"), Away("two")
    async with world() as there:
        there.add(one, two)
        Builder(there.fleet).reconciles(ConfigMap).build_each(there.log.noter)
        async with there.manager.running():
            await settle()
            one.cut()
            await one.create(config_map("a", "meanwhile"))
            await two.create(config_map("a", "of two"))
            await settle(900)
            assert ("two:default/a", "of two") in there.log.lines
            one.network.clear()
            await settle(120)
            assert ("one:default/a", "meanwhile") in there.log.lines


async def test_events_that_were_recorded_last_are_written_when_a_cluster_leaves() -> None:
    """An Event that is recorded just before a cluster leaves is written to it."""
    one = Away("one")
    async with world() as there:
        there.add(one)
        async with there.manager.running():
            await there.fleet.wait_for("one")
            made = await one.create(config_map("a"))
            one.network.add(Rule(Delayed(timedelta(seconds=1)), method="POST", times=None))
            there.fleet["one"].event_recorder("last").normal(made, "Left", "The cluster leaves")
            there.provider.remove("one")
            await there.fleet.wait_until_gone("one")
    async with Client.connect(Config.in_process(one.server)) as client:
        assert [each.reason for each in await client.list(Event)] == ["Left"]


async def test_what_belonged_to_a_cluster_that_has_left_says_so() -> None:
    """Requests of a removed cluster's client raise one clear error; a lookup by its name raises another one."""
    one = Away("one")
    async with world() as there:
        there.add(one)
        async with there.manager.running():
            await there.fleet.wait_for("one")
            client = there.fleet["one"].client
            there.provider.remove("one")
            await there.fleet.wait_until_gone("one")
            with pytest.raises(ClusterGone, match="the cluster 'one' has left"):
                await client.create(config_map("a"))
            with pytest.raises(ClusterGone, match="can no longer be used"):
                await client.live.list(ConfigMap)
            with pytest.raises(UnknownCluster, match="there is no cluster 'one'"):
                _ = there.manager.clusters["one"]


async def test_the_leader_works_in_the_fleet_and_a_standby_is_warm() -> None:
    """The home cluster's Lease elects for the fleet; a standby has all caches filled and takes over without lists."""
    election = LeaderElection(name="op", namespace="default")
    home, one = Config.in_process(ApiServer()), Away("one")
    await one.create(config_map("a", "first"))
    logs: list[Log] = []
    fleets: list[Fleet] = []
    async with AsyncExitStack() as stack:
        managers = [await stack.enter_async_context(Manager(home, leader_election=election)) for _ in range(2)]
        for manager in managers:
            log = Log()
            fleet = manager.add_fleet("edge", InMemoryProvider({"one": one.login()}))
            Builder(fleet).reconciles(ConfigMap).build_each(log.noter)
            logs.append(log)
            fleets.append(fleet)
        async with asyncio.TaskGroup() as group:
            group.create_task(managers[0].run(handle_signals=False))
            await managers[0].elected.wait()
            group.create_task(managers[1].run(handle_signals=False))
            await settle()
            assert (len(logs[0].lines), len(logs[1].lines)) == (1, 0)
            assert (await fleets[1]["one"].client.get(ConfigMap, A)).data["text"] == "first"
            lists = len(one.networks[1].requests)
            managers[0].ask_to_stop()
            await managers[1].elected.wait()
            await settle()
            assert logs[1].lines == [("one:default/a", "first")]
            assert len(one.networks[1].requests) == lists
            managers[1].ask_to_stop()


async def test_writes_in_the_fleet_pass_the_gate_of_the_leader() -> None:
    """Writes to a cluster that joins while this replica leads are permitted as those of a leader."""
    refused: list[str] = []

    class Writer(Reconciler[ConfigMap]):
        async def reconcile(self, request: Request) -> None:
            await asyncio.sleep(1)
            stand_still(60)  # longer than the lease lasts
            try:
                await self.client.create(config_map("late"))
            except NotLeading:
                refused.append(request.cluster)
                raise

    one = Away("one")
    await one.create(config_map("a"))
    async with world(leader_election=LeaderElection(name="op", namespace="default")) as there:
        Builder(there.fleet).reconciles(ConfigMap).build_each(Writer)
        async with there.manager.running():
            there.add(one)
            await there.fleet.wait_for("one")
            await settle(1.5)
    assert refused == ["one"]


async def test_a_provider_that_fails_is_asked_again_and_the_clusters_stay() -> None:
    """An error of a provider is logged with the time of the next try; no cluster leaves because of the error."""
    one = Away("one")
    asked: list[float] = []

    class Shaky:
        async def follow(self) -> AsyncIterator[Mapping[str, Config]]:
            asked.append(asyncio.get_running_loop().time())
            yield {"one": one.config}
            await asyncio.sleep(10)
            raise OSError("the disk is away")

    config = Config.in_process(ApiServer())
    async with Manager(config) as manager:
        fleet = manager.add_fleet("edge", Shaky())
        with logged() as records:
            async with manager.running():
                await fleet.wait_for("one")
                cluster = fleet["one"]
                await settle(30)
                assert fleet["one"] is cluster
    assert asked == [0, 11, 22]
    assert len(texts(records, "Cluster provider failed, keeping its clusters: the disk is away")) == 2


async def test_mistakes_of_wiring_are_told_when_it_is_built() -> None:
    """Each configuration mistake raises an error at build time, before any cluster joins."""
    async with world() as there:
        with pytest.raises(BuilderError, match=r"call build_each\(\) with its class"):
            Builder(there.fleet).reconciles(ConfigMap).build(there.log.noter())
        with pytest.raises(BuilderError, match=r"build_each\(\) is for Builder\(fleet\)"):
            Builder(there.manager).reconciles(ConfigMap).build_each(there.log.noter)
        with pytest.raises(BuilderError, match="channel cannot add requests to the controllers of several"):
            Builder(there.fleet).reconciles(ConfigMap).watches_source(ChannelSource()).build_each(there.log.noter)
        with pytest.raises(BuilderError, match="watches nothing"):
            Builder(there.fleet).options(name="idle").build_each(Idle)
        with pytest.raises(BuilderError, match="hold within one cluster"):
            Builder(there.manager).reconciles(ConfigMap).owns(Pod, cluster=there.fleet).build(there.log.noter())
        Builder(there.fleet).reconciles(ConfigMap).build_each(there.log.noter)
        with pytest.raises(DuplicateName):
            Builder(there.fleet).reconciles(ConfigMap).build_each(there.log.noter)


class Idle(Reconciler):
    async def reconcile(self, request: Request) -> None: ...


async def test_embedded_clusters_collect_what_is_owned_in_each() -> None:
    """Owners and dependents work in each of three clusters with controllers, without effects on the others."""

    class Owner(Reconciler[ConfigMap]):
        """Creates a Secret for each ConfigMap of the fleet, in its cluster."""

        async def reconcile(self, request: Request) -> None:
            found = await self.client.find(ConfigMap, request.key)
            if found is None or "fleet" not in found.metadata.labels:
                return
            if await self.client.find(Secret, request.key) is None:
                labels = {"cluster": self.client.cluster}
                wanted = Secret(metadata=ObjectMeta(name=request.name, namespace=request.namespace, labels=labels))
                set_controller_reference(found, wanted)
                await self.client.create(wanted)

    names = ("one", "two", "three")
    async with AsyncExitStack() as stack:
        clusters = {name: await stack.enter_async_context(Cluster(kubelet=False)) for name in names}
        admins = {name: await stack.enter_async_context(cluster.client()) for name, cluster in clusters.items()}
        manager = await stack.enter_async_context(Manager(clusters["one"].config))  # home is in its own fleet
        fleet = manager.add_fleet("all", InMemoryProvider({name: each.config for name, each in clusters.items()}))
        Builder(fleet).reconciles(ConfigMap).owns(Secret).build_each(Owner)
        async with manager.running():
            for admin in admins.values():
                await admin.create(config_map("a", fleet="yes"))
            await settle()
            for name, admin in admins.items():
                assert (await admin.get(Secret, A)).metadata.labels["cluster"] == name
            await admins["two"].delete(ConfigMap, A)
            await settle()
            there = {name: await admin.find(Secret, A) is not None for name, admin in admins.items()}
            assert there == {"one": True, "two": False, "three": True}


async def test_twenty_clusters_with_a_controller_each() -> None:
    """Twenty clusters with a controller each are reconciled, and stopping leaves no task running."""
    clusters = [Away(f"c{number}") for number in range(20)]
    async with world() as there:
        there.add(*clusters)
        controller = Builder(there.fleet).reconciles(ConfigMap).build_each(there.log.noter)
        async with there.manager.running():
            await there.fleet.wait_for(*(each.name for each in clusters))
            await settle()
            for each in clusters:
                await each.create(config_map("a", each.name))
            await settle()
            states = {each.state for each in controller.controllers.values()}
            assert states == {ControllerState.RUNNING}
    assert sorted(there.log.lines) == sorted((f"{each.name}:default/a", each.name) for each in clusters)
    assert asyncio.all_tasks() == {asyncio.current_task()}
