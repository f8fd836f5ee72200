"""Random histories of fleets: after any sequence of joins and leaves, each present cluster is reconciled."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from random import Random

import pytest

from pyctrl.client import Client, Config, MergePatch
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.kinds.core.v1 import ConfigMap, Event
from pyctrl.manager import InMemoryProvider, LeaderElection, OnLoss
from pyctrl.rbac import EVENTS
from tests.unit.manager._fleets import Away, config_map, settle, world
from tests.unit.manager._replicas import stand_still

NAMES = ("red", "green", "blue")


class Stamper(Reconciler[ConfigMap]):
    """Stamps each ConfigMap with its cluster once; also reports a reconcile in the wrong cluster."""

    rbac = (EVENTS,)

    def __init__(self) -> None:
        self.clusters: set[str] = set()

    async def reconcile(self, request: Request) -> None:
        self.clusters.add(request.cluster)
        assert self.clusters == {self.client.cluster}
        found = await self.client.find(ConfigMap, request.key)
        if found is None or "stamp" in found.data or not request.name.startswith("m"):
            return
        await asyncio.sleep(len(request.name))
        await self.client.patch(found, MergePatch({"data": {"stamp": request.cluster}}))


@dataclass
class Place:
    """A cluster name, and the servers that have had the name; a present cluster has the last one."""

    name: str
    servers: list[Away] = field(default_factory=list)
    is_in: bool = False
    maps: int = 0

    @property
    def now(self) -> Away:
        return self.servers[-1]


async def live(places: dict[str, Place], provider: InMemoryProvider, random: Random) -> None:
    """Apply a random change to one of the clusters."""
    place = random.choice(list(places.values()))
    act = random.choice(("come", "go", "replace", "log in", "cut", "mend", "create", "create", "create"))
    if act in ("come", "replace") or not place.servers:
        if act == "replace" or not place.servers:
            place.servers.append(Away(place.name))
        place.is_in = True
        provider.add(place.name, place.now.config)
    elif act == "go":
        place.is_in = False
        provider.remove(place.name)
    elif act == "log in" and place.is_in:
        place.now.config = place.now.login()
        provider.add(place.name, place.now.config)
    elif act == "cut" and place.now.networks:
        place.now.cut()
    elif act == "mend":
        for network in place.now.networks:
            network.clear()
    elif act == "create":
        place.maps += 1
        await place.now.create(config_map(f"m{place.maps}"))
    await asyncio.sleep(random.choice((0, 0.1, 1, 10, 100)))


async def stamps(server: Away) -> set[str]:
    async with Client.connect(Config.in_process(server.server)) as client:
        found = await client.list(ConfigMap)
    return {each.data.get("stamp", "") for each in found if each.metadata.name.startswith("m")}


@pytest.mark.parametrize("seed", range(5))
async def test_each_cluster_is_worked_in_as_it_is_at_the_end(seed: int) -> None:
    """Every ConfigMap of a present cluster has its own cluster's stamp, and no task is left."""
    random = Random(seed)
    places = {name: Place(name) for name in NAMES}
    before = asyncio.all_tasks()
    async with world(random=Random(seed)) as there:
        controller = Builder(there.fleet).reconciles(ConfigMap).options(workers=3).build_each(Stamper)
        async with there.manager.running():
            for _ in range(40):
                await live(places, there.provider, random)
            for server in (server for place in places.values() for server in place.servers):
                for network in server.networks:
                    network.clear()
            await settle(300)
            assert sorted(there.fleet) == sorted(controller.controllers) == sorted(n for n in NAMES if places[n].is_in)
            assert all(each.trouble == "" for each in there.fleet.values())
            for place in places.values():
                for server in place.servers:
                    assert await stamps(server) <= {"", place.name}
                if place.is_in:
                    assert await stamps(place.now) <= {place.name}
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


async def test_a_leader_that_loses_its_lease_and_gets_it_back_works_in_the_fleet_again() -> None:
    """After a lost and regained Lease in one process, the controllers of all clusters run again."""
    seen: list[str] = []

    class Once(Reconciler[ConfigMap]):
        async def reconcile(self, request: Request) -> None:
            seen.append(request.cluster)

    one = Away("one")
    await one.create(config_map("a"))
    election = LeaderElection(name="op", namespace="default", on_loss=OnLoss.CONTEND)
    async with world(leader_election=election) as there:
        there.add(one)
        Builder(there.fleet).reconciles(ConfigMap).build_each(Once)
        async with there.manager.running():
            await settle()
            stand_still(60)
            await settle(60)
            assert there.manager.elected.is_set()
            assert seen in (["one", "one"], ["one"])
            await one.create(config_map("b"))
            await settle()
    assert seen[-1] == "one"
    assert len(seen) >= 2


async def test_events_are_told_in_the_cluster_of_the_object() -> None:
    """The recorder of each reconciler writes to the object's cluster, also when the cluster leaves right afterwards."""

    class Teller(Reconciler[ConfigMap]):
        rbac = (EVENTS,)

        async def reconcile(self, request: Request) -> None:
            found = await self.client.get(ConfigMap, request.key)
            self.recorder.normal(found, "Seen", f"Seen in {request.cluster}")

    one, two = Away("one"), Away("two")
    for each in (one, two):
        await each.create(config_map("a"))
    async with world() as there:
        there.add(one, two)
        Builder(there.fleet).reconciles(ConfigMap).build_each(Teller)
        async with there.manager.running():
            await settle(1)
            there.provider.remove("one")
            await there.fleet.wait_until_gone("one")
    for each in (one, two):
        async with Client.connect(Config.in_process(each.server)) as client:
            assert [event.message for event in await client.list(Event)] == [f"Seen in {each.name}"]


async def test_an_index_is_in_every_cluster() -> None:
    """An index exists in clusters that are present when the index is added, and in clusters that join later."""
    one, two = Away("one"), Away("two")
    for each in (one, two):
        await each.create(config_map("a", each.name))
        await each.create(config_map("b", "other"))
    async with world() as there:
        there.add(one)
        there.fleet.add_index(ConfigMap, "text", lambda found: [found.data["text"]])
        assert [str(each) for each in there.manager.grants(cluster="edge").accesses()] == [
            "list configmaps at the cluster scope",
            "watch configmaps at the cluster scope",
        ]
        async with there.manager.running():
            there.add(two)
            await there.fleet.wait_for("one", "two")
            await settle()
            for name, cluster in there.fleet.items():
                found = await cluster.client.list(ConfigMap, index=("text", name))
                assert [each.metadata.name for each in found] == ["a"]
