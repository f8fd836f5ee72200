"""The write gate: writes of elected runnables after the lease are rejected before they are sent, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any, cast

import pytest

from pyctrl import _clock
from pyctrl.api import Key
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, InProcessTransport
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.errors import NotLeading
from pyctrl.kinds.coordination.v1 import Lease
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Group, OnLoss
from tests.unit.manager._replicas import KEY, Replica, config_map, forever, now, stand_still


@pytest.fixture
def server() -> ApiServer:
    return ApiServer(random=Random(1))


@pytest.fixture
def admin(server: ApiServer) -> Client:
    return Client(InProcessTransport(server))


async def test_work_that_wakes_up_too_late_cannot_write(server: ApiServer, admin: Client) -> None:
    """After a process was suspended for twenty seconds, writes of elected work are refused before they are sent."""
    refused: list[str] = []
    one = Replica(server, "one", on_loss=OnLoss.CONTEND)

    async def elected() -> None:
        await one.manager.client.create(config_map("before"))
        stand_still(20)
        for client in (one.manager.client, one.manager.live_client, admin):
            with pytest.raises(NotLeading) as caught:
                await client.create(config_map("after"))
            refused.append(str(caught.value))
        with pytest.raises(NotLeading):
            await admin.delete(ConfigMap, Key("default", "before"))
        assert (await admin.get(ConfigMap, Key("default", "before"))).metadata.name == "before"
        await asyncio.create_task(child())
        await forever()

    async def child() -> None:
        with pytest.raises(NotLeading):
            await admin.create(config_map("child"))

    async with one.running(elected):
        await one.manager.elected.wait()
        await asyncio.sleep(1)
        assert refused[0] == (
            "POST /api/v1/namespaces/default/configmaps was not sent: this replica (one) has not renewed the lease "
            "default/op within 14 s, and another one may lead"
        )
        assert len(refused) == 3
        names = {found.metadata.name for found in await admin.list(ConfigMap)}
        assert names == {"before"}


async def test_what_every_replica_does_is_not_refused(server: ApiServer, admin: Client) -> None:
    """Runnables of every replica may write, whether leader or not, also if elected work started them."""
    one = Replica(server, "one", on_loss=OnLoss.CONTEND)

    def writes(name: str) -> Callable[[], Any]:
        async def write() -> None:
            await asyncio.sleep(1)
            await one.manager.live_client.create(config_map(name))

        return write

    async def elected() -> None:
        one.manager.add(writes("begun-by-elected"), group=Group.OTHERS)
        await asyncio.sleep(0.5)
        stand_still(20)
        await forever()

    async with one.running(elected):
        one.manager.add(writes("other"), group=Group.OTHERS)
        await asyncio.sleep(3)
        names = {found.metadata.name for found in await admin.list(ConfigMap)}
        assert names == {"other", "begun-by-elected"}


async def test_a_laptop_that_was_closed(server: ApiServer, admin: Client) -> None:
    """After a suspend that only the wall clock shows, writes are refused until the lease is renewed."""
    journal: list[str] = []
    one = Replica(server, "one")
    asleep = timedelta(0)

    async def elected() -> None:
        for name in ("a", "b", "c"):
            try:
                await one.manager.live_client.create(config_map(name))
                journal.append(name)
            except NotLeading:
                journal.append("refused")
            await asyncio.sleep(3)

    began = _clock.now()
    with _clock.use(lambda: began + timedelta(seconds=now()) + asleep):
        async with one.running(elected):
            await one.manager.elected.wait()
            await asyncio.sleep(2.5)
            asleep = timedelta(hours=8)
            await asyncio.sleep(0.6)
            assert journal == ["a", "refused"]
            await asyncio.sleep(4)
            assert journal == ["a", "refused", "c"]
            assert not one.ran.done()


async def test_a_refused_reconcile_is_done_in_the_next_term(server: ApiServer, admin: Client) -> None:
    """A reconciler gets the refusal as an ordinary error, and the request is reconciled in the next term."""

    class Copier(Reconciler[ConfigMap]):
        tries = 0

        async def reconcile(self, request: Request) -> None:
            if request.name == "a":
                self.tries += 1
                if self.tries == 1:
                    stand_still(14.5)  # the reconciler has blocked the loop
                await self.client.create(config_map("copy"))

    one, copier = Replica(server, "one", on_loss=OnLoss.CONTEND), Copier()
    async with one.running():
        Builder(one.manager).reconciles(ConfigMap).options(name="copier").build(copier)
        await one.manager.elected.wait()
        await admin.create(config_map("a"))
        await asyncio.sleep(1)
        await asyncio.sleep(10)
        assert copier.tries == 2
        assert (await admin.get(ConfigMap, Key("default", "copy"))).metadata.uid
        assert one.manager.elector is not None
        assert one.manager.elector.statistics().losses == 1


async def test_who_had_no_time_to_stop_is_named(server: ApiServer, caplog: pytest.LogCaptureFixture) -> None:
    """Work that is cancelled at the end of a term is logged, and does not count as a failure of a later stop."""

    class Stubborn:
        async def run(self) -> None:
            await asyncio.Event().wait()

        def ask_to_stop(self) -> None:
            """Take time."""

    one = Replica(server, "one", on_loss=OnLoss.CONTEND)
    async with one.running(cast(Any, Stubborn())):
        await one.manager.elected.wait()
        one.cut()
        await asyncio.sleep(30)
        one.manager.ask_to_stop()
        await one.ran
    assert "Cancelled leader election runnables that did not stop in time" in caplog.messages


async def test_another_holder_closes_the_gate_at_once(server: ApiServer, admin: Client) -> None:
    """Once another holder is seen in the Lease, not even cleanup may write, although the own lease has not expired."""
    one = Replica(server, "one", on_loss=OnLoss.CONTEND)
    refused: list[float] = []

    async def elected() -> None:
        try:
            await forever()
        finally:
            for name in ("first", "second"):
                with pytest.raises(NotLeading):
                    await admin.create(config_map(name))
                refused.append(now())
                await asyncio.sleep(1)

    async with one.running(elected):
        await one.manager.elected.wait()
        await asyncio.sleep(1)
        lease = await admin.get(Lease, KEY)
        lease.spec.holder_identity = "two"
        taken_at = now()
        await admin.update(lease)
        await asyncio.sleep(5)
        names = {found.metadata.name for found in await admin.list(ConfigMap)}
    assert names == set()
    assert [at - taken_at < 3 for at in refused] == [True, True]  # the own lease lasts for 14 s
