"""Controllers that run in each cluster of a fleet."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from pyctrl.client import MergePatch
from pyctrl.controller import (
    Builder,
    Reconciler,
    Request,
)
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.manager._fleets import A, Away, config_map, logged, settle, texts, world


async def test_a_reconciler_of_one_cluster_works_in_each_of_a_fleet() -> None:
    """In each cluster of a fleet a reconciler has its own client and requests, even for equal keys."""
    one, two = Away("one"), Away("two")
    await one.create(config_map("a", "of one"))
    await two.create(config_map("a", "of two"))
    async with world() as there:
        there.add(one, two)
        controller = Builder(there.fleet).reconciles(ConfigMap).build_each(there.log.noter)
        async with there.manager.running():
            await settle()
            assert sorted(there.log.lines) == [("one:default/a", "of one"), ("two:default/a", "of two")]
            assert sorted(controller.controllers) == sorted(there.fleet) == ["one", "two"]
            clients = {noter.client.cluster for noter in there.log.reconcilers}
            assert clients == {"edge", "one", "two"}  # the first one was read for its declarations


async def test_clusters_come_and_go_while_the_manager_runs() -> None:
    """Controllers start in a cluster that joins and stop in one that leaves, with one log line each."""
    one, two = Away("one"), Away("two")
    await two.create(config_map("a", "of two"))
    async with world() as there:
        there.add(one)
        Builder(there.fleet).reconciles(ConfigMap).build_each(there.log.noter)
        with logged() as records:
            async with there.manager.running():
                await settle()
                there.add(two)
                await there.fleet.wait_for("two")
                await settle()
                assert there.log.lines == [("two:default/a", "of two")]
                there.provider.remove("two")
                await there.fleet.wait_until_gone("two")
                await two.create(config_map("b", "unseen"))
                await one.create(config_map("b", "seen"))
                await settle()
                assert there.log.lines[1:] == [("one:default/b", "seen")]
                assert list(there.fleet) == ["one"]
    assert [line["cluster"] for line in texts(records, "Cluster joined")] == ["one", "two"]
    assert [line["cluster"] for line in texts(records, "Cluster left")] == ["two", "one"]


class Slow(Reconciler[ConfigMap]):
    """Waits, then writes."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.ends: list[str] = []

    async def reconcile(self, request: Request) -> None:
        try:
            await asyncio.sleep(self.seconds)
            await self.client.patch(ConfigMap, request.key, MergePatch({"data": {"text": "written"}}))
            self.ends.append(f"{request.name} written")
        except asyncio.CancelledError:
            self.ends.append(f"{request.name} cancelled")
            raise


@pytest.mark.parametrize(("seconds", "end"), [(20, "a written"), (40, "a cancelled")])
async def test_work_in_a_cluster_that_goes_gets_the_grace_period(seconds: float, end: str) -> None:
    """When a cluster leaves, reconciles get the grace period, then are cancelled; the queue is dropped and logged."""
    one, slow = Away("one"), Slow(seconds)
    for name in ("a", "b", "c"):
        await one.create(config_map(name, "new"))
    async with world(grace_period=timedelta(seconds=30)) as there:
        there.add(one)
        Builder(there.fleet).reconciles(ConfigMap).build_each(lambda: slow)
        with logged() as records:
            async with there.manager.running():
                await settle(1)
                there.provider.remove("one")
                await there.fleet.wait_until_gone("one")
                assert slow.ends == [end]
                (farewell,) = texts(records, "All workers finished")
                assert (farewell["cluster"], farewell["dropped"]) == ("one", 2 if "written" in end else 3)
    assert (await one.get(A)).data["text"] == ("written" if "written" in end else "new")
