"""Other clusters of a manager: added by name, watched by a controller of the home cluster, or reconciled there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from pyctrl.api import Key, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config, MergePatch, Transport
from pyctrl.controller import Builder, ObjectChange, Reconciler, Request, for_object, for_owner, mapped, reading, where
from pyctrl.errors import BuilderError, Conflict, ManagerError, NotFound, UnknownCluster
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.manager import ConnectedCluster, Manager
from pyctrl.testing import ConnectionRefused, FaultyTransport, Rule


def config_map(name: str, data: str = "", **labels: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default", labels=labels), data={"text": data})


class Noter(Reconciler[Any]):
    """Records each request, and the object that it reads in its own cluster."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str | None]] = []

    async def reconcile(self, request: Request) -> None:
        found = await self.client.find(ConfigMap, request.key)
        self.seen.append((str(request), found.data["text"] if found is not None else None))


class World:
    """Two servers, a manager of the first with the second as "remote", and the network to the second."""

    def __init__(self, home: Client, away: Client, manager: Manager, remote: ConnectedCluster) -> None:
        self.home, self.away, self.manager, self.remote = home, away, manager, remote
        self.network: FaultyTransport


@asynccontextmanager
async def world(*, is_down: bool = False) -> AsyncIterator[World]:
    """Two connected clusters; `World.network` can take the second one down at the start."""
    networks: list[FaultyTransport] = []

    def wrap(inner: Transport) -> Transport:
        networks.append(FaultyTransport(inner))
        if is_down:
            networks[0].add(Rule(ConnectionRefused(), times=None))
        return networks[0]

    async with AsyncExitStack() as stack:
        here, there = Config.in_process(ApiServer()), Config.in_process(ApiServer())
        home = await stack.enter_async_context(Client.connect(here))
        away = await stack.enter_async_context(Client.connect(there))
        manager = await stack.enter_async_context(Manager(here))
        made = World(home, away, manager, manager.add_cluster("remote", replace(there, wrap_transport=wrap)))
        made.network = networks[0]
        yield made


def owner_by_label(secret: Secret) -> list[Request]:
    return [Request("default", secret.metadata.labels["of"])]


def of_the_same_name(found: ConfigMap) -> list[Request]:
    return [Request("default", found.metadata.name)]


def on_mars(secret: Secret) -> list[Request]:
    return [Request("default", secret.metadata.name, "mars")]


async def settle(seconds: float = 5) -> None:
    await asyncio.sleep(seconds)


async def test_a_controller_of_home_watches_a_kind_elsewhere() -> None:
    """A handler maps events of another cluster to requests of the home cluster."""
    async with world() as two:
        noter = Noter()
        Builder(two.manager).reconciles(ConfigMap).watches(Secret, mapped(owner_by_label), cluster=two.remote).build(
            noter
        )
        async with two.manager.running():
            secret = Secret(metadata=ObjectMeta(name="s", namespace="default", labels={"of": "a"}))
            await two.away.create(secret)
            await settle()
            await two.home.create(config_map("a", "here"))
            await two.away.create(config_map("a", "there"))
            await settle()

    assert noter.seen == [("default/a", None), ("default/a", "here")]


async def test_an_object_elsewhere_is_asked_for_by_the_name_of_its_cluster() -> None:
    """The same key in two clusters makes two requests; the handler receives the cluster of the object."""
    seen: list[Request] = []
    told: list[str] = []

    class Both(Reconciler[ConfigMap]):
        async def reconcile(self, request: Request) -> None:
            seen.append(request)

    def noted(observed: ObjectChange[Any]) -> list[Request]:
        told.append(observed.cluster)
        return for_object(observed)

    async with world() as two:
        await two.home.create(config_map("a"))
        await two.away.create(config_map("a"))
        builder = Builder(two.manager).options(name="both").filter(where(lambda found: found.metadata.name == "a"))
        builder.watches(ConfigMap, noted).watches(ConfigMap, noted, cluster=two.remote).build(Both())
        async with two.manager.running():
            await settle()

    assert sorted(seen) == [Request("default", "a"), Request("default", "a", "remote")]
    assert set(told) == {"", "remote"}


async def test_a_controller_may_live_in_another_cluster() -> None:
    """A controller of another cluster reads and writes there, with its own writes; its requests name the cluster."""
    seen: list[Any] = []

    class Marker(Reconciler[ConfigMap]):
        async def reconcile(self, request: Request) -> None:
            found = await self.client.get(ConfigMap, request.key)
            if "marked" not in found.data:
                await self.client.patch(found, MergePatch({"data": {"marked": self.client.cluster}}))
                seen.append((request, (await self.client.get(ConfigMap, request.key)).data["marked"]))

    async with world() as two:
        await two.home.create(config_map("a"))
        await two.away.create(config_map("a"))
        Builder(two.remote).reconciles(ConfigMap).build(Marker())
        Builder(two.manager).reconciles(ConfigMap).build(Noter())  # of the same name, in the other cluster
        async with two.manager.running():
            await settle()
        assert seen == [(Request("default", "a", "remote"), "remote")]
        assert "marked" not in (await two.home.get(ConfigMap, Key("default", "a"))).data


async def test_handlers_that_know_nothing_of_clusters_work_in_each() -> None:
    """Requests of a handler in another cluster's controller are for that cluster; naming another one is reported."""
    async with world() as two:
        noter = Noter()
        builder = Builder(two.remote).options(name="n").reads(reading(ConfigMap, triggers=False))
        builder.watches(Secret, mapped(owner_by_label)).watches(Secret, mapped(on_mars)).build(noter)
        async with two.manager.running():
            await two.away.create(Secret(metadata=ObjectMeta(name="s", namespace="default", labels={"of": "a"})))
            await settle()

    assert noter.seen == [("remote:default/a", None)]


async def test_owners_of_another_cluster_are_refused() -> None:
    """An owner in another cluster is refused: garbage collection would delete the object. The error names a way."""
    async with world() as two:
        builder = Builder(two.manager).reconciles(ConfigMap).owns(Secret, cluster=two.remote)
        with pytest.raises(BuilderError, match="hold within one cluster.*label or annotation"):
            builder.build(Noter())
        builder = Builder(two.manager).reconciles(ConfigMap)
        with pytest.raises(BuilderError, match="of cluster 'remote' cannot be owned"):
            builder.watches(Secret, for_owner(ConfigMap), cluster=two.remote).build(Noter())
        Builder(two.remote).reconciles(ConfigMap).owns(Secret, cluster=two.remote).build(Noter())


async def test_a_cluster_that_is_down_holds_nobody_up() -> None:
    """With another cluster down, the manager starts, reconciles and is ready; readiness shows the cluster."""
    async with world(is_down=True) as two:
        here, there, both = Noter(), Noter(), Noter()
        Builder(two.manager).reconciles(ConfigMap).build(here)
        Builder(two.remote).reconciles(ConfigMap).build(there)
        two.manager.cache.informer(ConfigMap)
        waiting = (
            Builder(two.manager)
            .options(name="both")
            .watches(ConfigMap, mapped(of_the_same_name), cluster=two.remote)
            .build(both)
        )
        await two.home.create(config_map("a", "here"))
        await two.away.create(config_map("a", "there"))
        async with two.manager.running():
            await settle(600)
            assert (here.seen, there.seen, both.seen) == ([("default/a", "here")], [], [])
            assert "waits for its sources" in waiting.why_not_ready
            assert "no connection" in two.remote.trouble
            assert two.manager.not_ready.keys() == {"both"}  # which needs the cluster
            two.network.clear()
            await settle(60)
            assert (there.seen, both.seen) == ([("remote:default/a", "there")], [("default/a", "here")])
            assert two.manager.not_ready == {}
            assert two.remote.trouble == ""


async def test_readiness_names_a_cluster_that_is_in_trouble_and_does_not_fail() -> None:
    """An unreachable cluster fails its own probe; the probe of all checks shows the failure, and passes."""
    async with world(is_down=True) as two:
        Builder(two.remote).reconciles(ConfigMap).build(Noter())
        async with two.manager.running():
            await settle()
            answer = await two.manager.health.answer("/readyz", [("verbose", "")])
            assert answer.status == 200
            assert "[-]cluster-remote not ready: only informs\n" in answer.text
            assert (await two.manager.health.answer("/readyz")).text == "ok"
            alone = await two.manager.health.answer("/readyz/cluster-remote")
            assert alone.status == 500
            assert "no connection" in alone.text


async def test_lines_of_another_cluster_say_so(caplog: pytest.LogCaptureFixture) -> None:
    """Log lines about another cluster's caches have the cluster in their context, and errors name the cluster."""
    async with world() as two:
        Builder(two.remote).reconciles(ConfigMap).build(Noter())
        with pytest.raises(NotFound, match=r"in cluster 'remote'\)") as caught:
            await two.remote.live_client.get(ConfigMap, Key("default", "none"))
        assert caught.value.cluster == "remote"
        with caplog.at_level(logging.INFO):
            async with two.manager.running():
                await settle()
    starting = [record for record in caplog.records if record.getMessage() == "Starting Controller"]
    assert [getattr(record, "cluster", None) for record in starting] == ["remote"]


async def test_an_update_elsewhere_conflicts_with_versions_of_there_only() -> None:
    """Resource versions of two clusters are independent: one cache does not affect the other."""
    async with world() as two:
        Builder(two.manager).reconciles(ConfigMap).build(Noter())
        Builder(two.remote).reconciles(ConfigMap).build(Noter())
        await two.home.create(config_map("a", "here"))
        async with two.manager.running():
            made = await two.remote.client.create(config_map("a", "there"))
            found = await two.manager.client.get(ConfigMap, Key("default", "a"))
            assert (found.data["text"], found.metadata.uid == made.metadata.uid) == ("here", False)
            await two.remote.client.delete(made)
            assert await two.remote.client.find(ConfigMap, Key("default", "a")) is None
            assert await two.manager.client.find(ConfigMap, Key("default", "a")) is not None
            with pytest.raises((Conflict, NotFound)):
                await two.remote.client.update(made)


async def test_an_own_write_is_one_of_its_cluster_only() -> None:
    """A write by another process in another cluster, with the same key and version, is not self-caused."""

    class Nothing(Reconciler[ConfigMap]):
        async def reconcile(self, request: Request) -> None: ...

    async with world() as two:
        builder = Builder(two.manager).options(name="both").filter(where(lambda found: found.metadata.name == "a"))
        builder.watches(ConfigMap, for_object).watches(ConfigMap, for_object, cluster=two.remote)
        controller = builder.build(Nothing())
        async with two.manager.running():
            await settle()
            ours = await two.manager.client.create(config_map("a"))
            theirs = await two.away.create(config_map("a"))
            assert ours.metadata.resource_version == theirs.metadata.resource_version
            await settle()
            assert (controller.statistics().reconciles.success, controller.statistics().reconciles.self_caused) == (
                2,
                1,
            )


async def test_clusters_are_found_by_the_names_that_requests_carry() -> None:
    """The home cluster has the empty name; an unknown name is an error that lists the known names."""
    async with world() as two:
        clusters = two.manager.clusters
        assert clusters["remote"] is two.remote
        assert clusters[""].client is two.manager.client
        assert "mars" not in clusters
        assert clusters.get("mars") is None
        with pytest.raises(UnknownCluster, match=r"no cluster 'mars' \(connected: 'remote'\)"):
            _ = clusters["mars"]
        with pytest.raises(ManagerError, match="needs a name that is not empty and not in use"):
            two.manager.add_cluster("remote", Config.in_process(ApiServer()))
        with pytest.raises(ManagerError, match="needs a name that is not empty and not in use"):
            two.manager.add_cluster("", Config.in_process(ApiServer()))


async def test_series_of_several_clusters_are_told_apart() -> None:
    """Series of other clusters have a cluster label; series of the home cluster do not."""
    async with world() as two:
        Builder(two.manager).reconciles(ConfigMap).build(Noter())
        Builder(two.remote).reconciles(ConfigMap).build(Noter())
        async with two.manager.running():
            await settle()
            families = list(two.manager.collect_metrics())
            samples = {(each.name, tuple(sorted(labels.items()))) for each in families for labels, _ in each.samples}
            names = [name for name, _ in samples]
    kind = (("group", ""), ("kind", "ConfigMap"))
    version = ("version", "v1")
    assert ("pyctrl_cache_objects", (*kind, version)) in samples
    assert ("pyctrl_cache_objects", (*kind, ("member_cluster", "remote"), version)) in samples
    assert ("controller_runtime_active_workers", (("controller", "configmap"),)) in samples
    labels = (("controller", "configmap"), ("member_cluster", "remote"))
    assert ("controller_runtime_active_workers", labels) in samples
    assert ("pyctrl_cluster_ready", (("member_cluster", "remote"),)) in samples
    assert names.count("pyctrl_cache_objects") == 2
