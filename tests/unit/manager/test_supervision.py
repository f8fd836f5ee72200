"""A controller that cannot start is reported, does not delay others, and starts later."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest

from pyctrl.api import GroupVersionKind, Key, ObjectMeta, Unstructured
from pyctrl.client import Client, InProcessTransport
from pyctrl.cluster import Cluster
from pyctrl.controller import (
    Builder,
    Controller,
    ControllerState,
    Reconciler,
    Request,
    RequestSink,
    Source,
    mapped,
)
from pyctrl.errors import NotSynced
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.kinds.core.v1 import ServiceAccount
from pyctrl.manager import Manager
from pyctrl.rbac import Grants, manifests
from pyctrl.testing import Answered, ConnectionRefused, FaultyTransport, Rule, Silent

GROUP = "zoo.test"
KINDS = tuple(GroupVersionKind(GROUP, "v1", f"Animal{number}") for number in range(20))
BOT = Key("default", "bot")
ODD = KINDS[7]
NAME = "animal7"


def now() -> float:
    return asyncio.get_running_loop().time()


def definition(kind: GroupVersionKind) -> Unstructured:
    """Return the definition of a kind."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    singular = kind.kind.lower()
    return Unstructured.new(
        CustomResourceDefinition.gvk,
        name=f"{singular}s.{GROUP}",
        spec={
            "group": GROUP,
            "scope": "Namespaced",
            "names": {"kind": kind.kind, "plural": f"{singular}s", "singular": singular},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
        },
    )


@dataclass
class Zoo:
    """A cluster with twenty kinds and an object of each, and the time of each first reconcile."""

    cluster: Cluster
    admin: Client
    firsts: dict[str, float] = field(default_factory=dict)

    @property
    def reconciled(self) -> set[str]:
        """The kinds that have been reconciled."""
        return set(self.firsts)

    async def install(self, kind: GroupVersionKind) -> None:
        """Define a kind, and create an object of it."""
        await self.admin.create(definition(kind))
        await self.admin.create(Unstructured.new(kind, name="a", namespace="default"))

    async def grant(self, granted: Grants) -> None:
        """Grant the account these permissions."""
        for document in manifests(granted, name="bot", account=BOT):
            await self.admin.create(Unstructured(document))


class Keeper(Reconciler[Any]):
    """Reads each requested object, and records the time of the first request."""

    def __init__(self, zoo: Zoo, kind: GroupVersionKind) -> None:
        self.zoo, self.kind = zoo, kind

    async def reconcile(self, request: Request) -> None:
        if await self.client.find(self.kind, request.key) is not None:
            self.zoo.firsts.setdefault(self.kind.kind, now())


@asynccontextmanager
async def zoo(*missing: GroupVersionKind, rbac: bool = False) -> AsyncIterator[Zoo]:
    async with Cluster(rbac=rbac, kubelet=False, random=Random(1)) as cluster, cluster.client() as admin:
        await admin.create(ServiceAccount(metadata=ObjectMeta(name=BOT.name, namespace=BOT.namespace)))
        world = Zoo(cluster, admin)
        for kind in KINDS:
            if kind not in missing:
                await world.install(kind)
        yield world


def build(manager: Manager, zoo: Zoo, kinds: Sequence[GroupVersionKind] = KINDS) -> dict[str, Controller]:
    """Build a controller for each kind."""
    return {kind.kind: Builder(manager).reconciles(kind).build(Keeper(zoo, kind)) for kind in kinds}


def others() -> set[str]:
    return {kind.kind for kind in KINDS if kind != ODD}


async def others_work(zoo: Zoo, begun: float, *, within: float = 1) -> None:
    """Wait for a second since the start, and assert that nineteen kinds have been reconciled."""
    await asyncio.sleep(max(0.0, begun + within - now()))
    assert zoo.reconciled == others()
    assert max(zoo.firsts.values()) < begun + within


async def named(manager: Manager, why: str) -> None:
    """Assert that readiness and metrics name only the failing controller."""
    assert set(manager.not_ready) == {NAME}
    assert manager.not_ready[NAME].startswith(why)
    assert (await manager.health.answer(f"/readyz/controller-{NAME}")).status == 500
    page = (await manager.health.answer("/readyz")).text
    assert [line for line in page.splitlines() if line.startswith("[-]")] == [
        f"[-]controller-{NAME} failed: reason withheld"
    ]
    samples = {
        (family.name, *sorted(labels.items())): value
        for family in manager.collect_metrics()
        for labels, value in family.samples
    }
    unready = [key for key, value in samples.items() if key[0] == "pyctrl_controller_ready" and value == 0]
    assert unready == [("pyctrl_controller_ready", ("controller", NAME))]
    assert samples["pyctrl_ready_check", ("check", f"controller-{NAME}")] == 0


async def test_of_twenty_controllers_one_may_not_list() -> None:
    """The other 19 reconcile within a second; readiness and metrics name the one, which works after the grant."""
    async with zoo(rbac=True) as it, Manager(it.cluster.config_for_account(BOT)) as manager:
        build(manager, it, [kind for kind in KINDS if kind != ODD])
        await it.grant(manager.grants())
        [odd] = build(manager, it, [ODD]).values()
        begun = now()
        async with manager.running():
            await others_work(it, begun)
            await asyncio.sleep(100)
            assert odd.state is ControllerState.WAITING_FOR_RIGHTS
            await named(manager, f"waits for rights: it may not list animal7s.{GROUP} at the cluster scope")

            for document in manifests(manager.grants(), name="all", account=BOT):
                await it.admin.create(Unstructured(document))
            await asyncio.sleep(32)
            assert (odd.is_ready, manager.not_ready) == (True, {})
            assert it.reconciled == others() | {ODD.kind}


async def test_of_twenty_controllers_one_lacks_its_definition(caplog: pytest.LogCaptureFixture) -> None:
    """The other 19 reconcile within a second; the missing kind is logged once, and reconciled once it is installed."""
    caplog.set_level(logging.INFO)
    async with zoo(ODD) as it, Manager(it.cluster.config) as manager:
        odd = build(manager, it)[ODD.kind]
        begun = now()
        async with manager.running():
            await others_work(it, begun)
            await asyncio.sleep(290)
            assert odd.state is ControllerState.WAITING_FOR_DEFINITION
            await named(
                manager, f"waits for a definition: kind source: {ODD}: the cluster at http://in-process does not serve"
            )
            with pytest.raises(NotSynced, match=r"Animal7 cannot be read from the cache yet: .*definition installed"):
                await manager.client.list(ODD)

            await it.install(ODD)
            await asyncio.sleep(1.1)
            assert (odd.is_ready, manager.not_ready) == (True, {})
            assert it.reconciled == others() | {ODD.kind}
    told = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(told) == 2
    assert f"Failed to find the resource of {ODD}: " in told[0]
    assert told[1] == "Controller is not ready to start"
    assert f"The server now serves {ODD}" in caplog.messages


class Torn(Source):
    """A source that raises until the test repairs it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_mended = False

    async def run(self, queue: RequestSink) -> None:
        if not self.is_mended:
            raise ConnectionError("no such host")
        self.synced.set()
        await asyncio.Event().wait()


async def test_of_twenty_controllers_one_has_a_source_that_raises() -> None:
    """The other 19 reconcile within a second; the source is restarted, and then its controller starts."""
    async with zoo() as it, Manager(it.cluster.config) as manager:
        build(manager, it, [kind for kind in KINDS if kind != ODD])
        torn = Torn()
        odd = Builder(manager).reconciles(ODD).watches_source(torn).build(Keeper(it, ODD))
        begun = now()
        async with manager.running():
            await others_work(it, begun)
            await asyncio.sleep(45)
            assert odd.state is ControllerState.FAILING
            await named(manager, "cannot start: Torn: ConnectionError: no such host")
            torn.is_mended = True
            await asyncio.sleep(31)
            assert it.reconciled == others() | {ODD.kind}
            assert manager.not_ready == {}


FAULTS = [
    pytest.param(Answered(status=500, reason="InternalError", message="conversion webhook failed"), 1, id="500"),
    pytest.param(Answered.unavailable(), 1, id="503"),
    pytest.param(ConnectionRefused(), 1, id="no connection"),
    pytest.param(Silent(), 31, id="no answer"),
]


@pytest.mark.parametrize(("fault", "seconds"), FAULTS)
async def test_of_twenty_controllers_one_has_a_kind_whose_list_fails(fault: Any, seconds: float) -> None:
    """The other 19 reconcile within a second, or within 30 when the server does not answer the list."""
    async with zoo() as it:
        path = f"/apis/{GROUP}/v1/animal7s"
        wire = FaultyTransport(InProcessTransport(it.cluster.server), [Rule(fault, path=path, times=None)])
        async with Manager(client=Client(wire, random=Random(2)), random=Random(3)) as manager:
            odd = build(manager, it)[ODD.kind]
            begun = now()
            async with manager.running():
                await others_work(it, begun, within=seconds)
                await asyncio.sleep(45)
                assert odd.state is ControllerState.FAILING
                await named(manager, f"cannot start: kind source: {ODD}: ")
                wire.clear()
                await asyncio.sleep(61)
                assert it.reconciled == others() | {ODD.kind}
                assert manager.not_ready == {}


async def test_a_controller_works_without_an_optional_kind(caplog: pytest.LogCaptureFixture) -> None:
    """A controller is ready without the optional kind and logs no warning; once the CRD exists, the kind is watched."""
    caplog.set_level(logging.INFO)
    seen: list[str] = []

    class Visitor(Reconciler[Any]):
        async def reconcile(self, request: Request) -> None:
            seen.append(request.name)
            with suppress(NotSynced):
                seen.extend(f"read {found.metadata.name}" for found in await self.client.list(ODD))

    def visit(found: Unstructured) -> list[Request]:
        return [Request("default", f"from-{found.metadata.name}")]

    async with zoo(ODD) as it, Manager(it.cluster.config) as manager:
        builder = Builder(manager).reconciles(KINDS[0]).owns(ODD, optional=True)
        builder.watches(ODD, mapped(visit), optional=True)
        controller = builder.build(Visitor())
        async with manager.running():
            await asyncio.sleep(60)
            assert (controller.is_ready, manager.not_ready, seen) == (True, {}, ["a"])
            assert (await manager.health.answer("/readyz")).status == 200
            samples = {family.name: family.samples for family in manager.collect_metrics()}
            assert [value for _, value in samples["pyctrl_cache_failing"]] == [0, 0]
            assert [value for _, value in samples["pyctrl_cache_served"]] == [1, 0]
            await it.install(ODD)
            await asyncio.sleep(1.1)
            assert seen == ["a", "from-a", "read a"]
            await it.admin.delete(CustomResourceDefinition, Key("", f"animal7s.{GROUP}"))
            await asyncio.sleep(60)
            assert (controller.is_ready, manager.not_ready) == (True, {})
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_controller_of_an_optional_kind_rests() -> None:
    """A controller of a missing optional kind is ready, and starts within seconds once the kind is defined."""
    async with zoo(ODD) as it, Manager(it.cluster.config) as manager:
        builder = Builder(manager).reconciles(ODD, optional=True).owns(KINDS[0])
        controller = builder.build(Keeper(it, ODD))
        async with manager.running():
            await asyncio.sleep(100)
            assert (controller.state, controller.why_not_ready) == (ControllerState.DORMANT, "")
            assert manager.not_ready == {}
            await it.install(ODD)
            await asyncio.sleep(2.2)
            assert (controller.state, it.reconciled) == (ControllerState.RUNNING, {ODD.kind})


async def test_a_kind_that_one_may_miss_and_another_may_not() -> None:
    """A controller that requires a missing kind is not ready; one for which the kind is optional is ready."""
    async with zoo(ODD) as it, Manager(it.cluster.config) as manager:
        free = Builder(manager).reconciles(KINDS[0]).owns(ODD, optional=True).build(Keeper(it, KINDS[0]))
        build(manager, it, [ODD])
        async with manager.running():
            await asyncio.sleep(60)
            assert (free.is_ready, set(manager.not_ready)) == (True, {NAME})


async def test_an_optional_kind_that_may_not_be_listed_is_gone_without(caplog: pytest.LogCaptureFixture) -> None:
    """The missing permission for an optional kind is logged as dispensable."""
    async with zoo(rbac=True) as it, Manager(it.cluster.config_for_account(BOT)) as manager:
        Builder(manager).reconciles(KINDS[0]).build(Keeper(it, KINDS[0]))
        await it.grant(manager.grants())
        builder = Builder(manager).reconciles(KINDS[1]).owns(ODD, optional=True)
        free = builder.options(name="free").build(Keeper(it, KINDS[1]))
        for document in manifests(manager.grants(), name="less", account=BOT):
            for rule in document.get("rules", ()):
                rule["resources"] = [name for name in rule["resources"] if not name.startswith("animal7")] or ["none"]
            await it.admin.create(Unstructured(document))
        async with manager.running():
            await asyncio.sleep(60)
            assert (free.is_ready, manager.not_ready) == (True, {})
    assert any(f"free may not list and watch animal7s.{GROUP}" in text for text in caplog.messages)
    assert any("continues without" in text for text in caplog.messages)


async def test_a_definition_that_goes_while_the_controller_runs() -> None:
    """While a watched kind's CRD is deleted, the controller runs and is reported; it recovers in seconds afterwards."""
    async with zoo() as it, Manager(it.cluster.config) as manager:
        odd = build(manager, it)[ODD.kind]
        async with manager.running():
            await asyncio.sleep(10)
            await it.admin.delete(CustomResourceDefinition, Key("", f"animal7s.{GROUP}"))
            await asyncio.sleep(5)
            assert odd.state is ControllerState.LACKING_SOURCES
            await named(manager, f"lacks a source: kind source: {ODD}: ")
            await it.install(ODD)
            await asyncio.sleep(2)
            assert (odd.is_ready, manager.not_ready) == (True, {})


async def test_a_cluster_that_is_not_there_ends_the_manager() -> None:
    """If no list succeeds within two minutes, `run` raises one error with all kinds."""
    async with zoo() as it:
        wire = FaultyTransport(InProcessTransport(it.cluster.server), [Rule(ConnectionRefused(), times=None)])
        async with Manager(client=Client(wire, random=Random(2)), random=Random(3)) as manager:
            build(manager, it)
            begun = now()
            with pytest.raises(NotSynced, match=r"Animal0 and .*Animal19: "):
                await manager.run(handle_signals=False)
            assert now() == begun + 120
