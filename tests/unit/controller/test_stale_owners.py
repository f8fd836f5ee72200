"""Create loops: children of an owner that only the cache still has are not created again and again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from pyctrl._log import LogContextFilter
from pyctrl.api import Key, KindLike, ObjectMeta, set_controller_reference
from pyctrl.client import Client, HttpRequest
from pyctrl.cluster import Cluster
from pyctrl.controller import Builder, Controller, Reconciler, Request
from pyctrl.controller._stale_owners import REMINDER, WINDOW
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.kinds.scheduling.v1 import PriorityClass
from pyctrl.manager import Manager
from pyctrl.testing import Answered, Delayed, FaultyTransport, Rule

WARNING = "Create loop: the garbage collector deletes what each reconcile creates"
LAG = 5.0  # seconds by which the watch of the owners is late
KEY = Key("default", "a")
Owner = Secret | PriorityClass


class Keeper(Reconciler[Any]):
    """Creates a ConfigMap for each owner, as the owner's child."""

    owns: Sequence[KindLike] = (ConfigMap,)

    def __init__(self, kind: type[Owner]) -> None:
        self.kind = kind
        self.created: list[tuple[float, str]] = []  # the time and the uid of the owner

    async def reconcile(self, request: Request) -> None:
        owner = await self.client.find(self.kind, request.key)
        if owner is None or owner.metadata.deletion_timestamp or not request.name.startswith("a"):
            return
        if await self.client.find(ConfigMap, Key("default", request.name)) is None:
            child = ConfigMap(metadata=ObjectMeta(name=request.name, namespace="default"))
            set_controller_reference(owner, child)
            self.created.append((asyncio.get_running_loop().time(), owner.metadata.uid))
            await self.client.create(child)


class World:
    """A cluster, a user, and an operator whose watch of the owners lags."""

    def __init__(self, cluster: Cluster, user: Client, kind: type[Owner], *, lag: float) -> None:
        self.user, self.kind = user, kind
        self.keeper = Keeper(kind)
        seconds, latency = timedelta(seconds=lag), timedelta(milliseconds=10)
        rules = [Rule(Delayed(seconds), path=f"*/{kind.resource.plural}", query={"watch": "true"}, times=None)]
        rules.append(Rule(Delayed(latency), method="POST", times=None))  # a loop that takes no time would be an error
        self.rules = rules
        self.config = replace(cluster.config, wrap_transport=self._wrap)
        self.controller: Controller

    def _wrap(self, inner: Any) -> FaultyTransport:
        self.network = FaultyTransport(inner, self.rules)
        return self.network

    @property
    def asked(self) -> list[HttpRequest]:
        """The requests for one owner."""
        return [each for each in self.network.requests if "fieldSelector" in dict(each.query)]

    def owner(self, name: str = "a") -> Owner:
        metadata = ObjectMeta(name=name, namespace="default" if self.kind is Secret else "")
        return Secret(metadata=metadata) if self.kind is Secret else PriorityClass(metadata=metadata, value=1)

    async def has_child(self) -> bool:
        return await self.user.find(ConfigMap, KEY) is not None


@asynccontextmanager
async def world(kind: type[Owner] = Secret, *, lag: float = LAG, owns: bool = True) -> AsyncIterator[World]:
    """Run the operator, with an owner that has its child."""
    async with Cluster(kubelet=False, random=Random(1)) as cluster, cluster.client() as user:
        it = World(cluster, user, kind, lag=lag)
        async with Manager(it.config, random=Random(1)) as manager:
            it.keeper.owns, it.keeper.reads = ((ConfigMap,), ()) if owns else ((), (ConfigMap,))
            it.controller = Builder(manager).reconciles(kind).build(it.keeper)
            async with manager.running():
                await user.create(it.owner())
                await asyncio.sleep(2 * lag + 1)
                assert await it.has_child()
                it.keeper.created.clear()
                yield it


def warnings(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    return [vars(record) for record in caplog.records if record.message == WARNING]


@pytest.mark.parametrize("kind", [Secret, PriorityClass])
async def test_an_owner_that_was_recreated_loses_few_children(
    kind: type[Owner], caplog: pytest.LogCaptureFixture
) -> None:
    """While the watch of a recreated owner lags, its child is created twice in vain, and then for the new owner."""
    caplog.handler.addFilter(LogContextFilter())
    async with world(kind) as it:
        old = await it.user.get(kind, it.owner().key)
        await it.user.delete(old)
        new = await it.user.create(it.owner())
        await asyncio.sleep(4 * LAG)

        assert [uid for _, uid in it.keeper.created] == [old.metadata.uid] * 2 + [new.metadata.uid]
        assert await it.has_child()
    [warning] = warnings(caplog)
    assert (warning["context"]["controller"], warning["children"]) == (it.controller.name, "ConfigMap")
    assert (warning["owner"], warning["runs"]) == (f"{kind.__name__} {old.key}", 2)
    assert f"its uid {old.metadata.uid} is no longer on the server" in warning["reason"]
    assert new.metadata.uid in warning["reason"]
    assert kind.__name__ in warning["fix"]


async def test_an_owner_that_was_deleted_loses_few_children(caplog: pytest.LogCaptureFixture) -> None:
    """While the watch has not brought the deletion of an owner, its child is created twice in vain."""
    async with world() as it:
        await it.user.delete(Secret, KEY)
        await asyncio.sleep(4 * LAG)

        assert len(it.keeper.created) == 2
        assert not await it.has_child()
    assert warnings(caplog)[0]["reason"].endswith("is no longer on the server")


async def test_children_that_are_read_and_not_owned_count_as_well() -> None:
    """A controller that finds its children by `reads` alone creates them twice in vain, too."""
    async with world(owns=False) as it:
        await it.user.delete(Secret, KEY)
        await asyncio.sleep(4 * LAG)

        assert len(it.keeper.created) == 2


async def test_an_owner_that_is_being_deleted_loses_few_children(caplog: pytest.LogCaptureFixture) -> None:
    """While an owner waits for another child, in foreground deletion, its child is created twice in vain."""
    async with world() as it:
        other = ConfigMap(metadata=ObjectMeta(name="other", namespace="default", finalizers=["example.com/wait"]))
        set_controller_reference(await it.user.get(Secret, KEY), other)
        await it.user.create(other)
        await it.user.delete(Secret, KEY, propagation="Foreground")
        await asyncio.sleep(4 * LAG)

        assert len(it.keeper.created) == 2
        assert not await it.has_child()
    assert warnings(caplog)[0]["reason"].endswith("is being deleted on the server")


async def test_a_held_request_is_retried_seldom() -> None:
    """While it waits for the cache, a request asks the server less and less often, and no error is counted."""
    async with world() as it:
        await it.user.delete(Secret, KEY)
        await asyncio.sleep(4 * LAG)

        reconciles = it.controller.statistics().reconciles
        assert 5 < len(it.asked) < 20
        assert (reconciles.error, reconciles.requeue) == (0, len(it.asked))
        assert {(each.method, dict(each.query)["fieldSelector"]) for each in it.asked} == {("GET", "metadata.name=a")}
        assert {each.path for each in it.asked} == {"/api/v1/namespaces/default/secrets"}  # `list` is granted


async def test_a_user_who_deletes_a_child_is_answered_at_once(caplog: pytest.LogCaptureFixture) -> None:
    """A child that is deleted again and again is recreated at once, for few requests, if its owner is there."""
    async with world(lag=0.0) as it:
        deleted: list[float] = []
        for _ in range(100):
            deleted.append(asyncio.get_running_loop().time())
            await it.user.delete(ConfigMap, KEY)
            await asyncio.sleep(1)

        assert [at for at, _ in it.keeper.created] == deleted
        assert it.controller.statistics().reconciles.requeue == 0
        assert len(it.asked) == 8  # after 2, 4, 8, 16, 32, 52, 72 and 92
    assert warnings(caplog) == []


async def test_deletions_that_are_rare_ask_nothing() -> None:
    """Deletions of children with more than a minute between them cause no request for the owner."""
    async with world(lag=0.0) as it:
        for _ in range(5):
            await it.user.delete(ConfigMap, KEY)
            await asyncio.sleep(WINDOW + 1)

        assert len(it.keeper.created) == 5
        assert it.asked == []


async def test_without_an_answer_the_reconcile_goes_on() -> None:
    """An error of the request for the owner does not keep a reconcile from running."""
    refused = Answered(status=503, reason="ServiceUnavailable")
    async with world(lag=0.0) as it:
        it.network.add(Rule(refused, query={"fieldSelector": "metadata.name=a"}, times=None))
        for _ in range(5):
            await it.user.delete(ConfigMap, KEY)
            await asyncio.sleep(1)

        assert len(it.keeper.created) == 5
        assert it.asked


async def test_one_warning_for_many_owners(caplog: pytest.LogCaptureFixture) -> None:
    """Many stale owners of a controller are one warning, and another one while it lasts for five minutes."""
    async with world() as it:
        keys = [Key("default", f"a{number}") for number in range(5)]
        for key in keys:
            await it.user.create(it.owner(key.name))
        await asyncio.sleep(10 * LAG)
        for key in keys:
            await it.user.delete(Secret, key)
        await asyncio.sleep(REMINDER)

        assert len(warnings(caplog)) == 1
        await it.user.delete(Secret, KEY)
        await asyncio.sleep(LAG)
        assert len(warnings(caplog)) == 2
