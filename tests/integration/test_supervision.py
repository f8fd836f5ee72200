"""One of twenty controllers cannot start on a real API: the others run, it is reported, and it starts later."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pyctrl.api import GroupVersionKind, KindLike, ObjectMeta, Unstructured
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, ControllerState, Reconciler, Request, mapped
from pyctrl.kinds.core.v1 import ConfigMap, Secret, ServiceAccount
from pyctrl.manager import Manager
from pyctrl.rbac import manifests
from pyctrl.testing import ClusterUnderTest
from tests.integration._definitions import installed, widget_kind
from tests.integration._objects import config_map

pytestmark = [pytest.mark.virtual_time, pytest.mark.rbac]  # where the cluster is embedded

PATIENCE = 60.0  # seconds; missing permissions are reviewed again after 2 to 30


class Reader(Reconciler[Any]):
    """Reads the requested objects."""

    def __init__(self, kind: KindLike = ConfigMap) -> None:
        self.kind: Any = kind
        self.asked: set[str] = set()
        self.seen: set[str] = set()

    async def reconcile(self, request: Request) -> None:
        self.asked.add(request.name)
        if await self.client.find(self.kind, request.key) is not None:
            self.seen.add(request.name)


def build_many(manager: Manager) -> list[Reader]:
    """Build nineteen controllers."""
    readers = [Reader() for _ in range(19)]
    for number, reader in enumerate(readers):
        Builder(manager).reconciles(ConfigMap).options(name=f"number-{number}").build(reader)
    return readers


async def until(holds: Callable[[], bool]) -> None:
    """Poll for a condition that has no event to wait for."""
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.02)


async def others_work(manager: Manager, readers: list[Reader], odd: Controller) -> None:
    """Wait until nineteen have reconciled while only the one that has not started is reported."""
    await until(lambda: all("a" in reader.seen for reader in readers))
    assert not odd.state.is_at_work
    assert set(manager.not_ready) == {odd.name}
    unready = {dict(labels).get("controller"): value for labels, value in ready_samples(manager)}
    assert [name for name, value in unready.items() if value == 0] == [odd.name]
    assert (await manager.health.answer(f"/readyz/controller-{odd.name}")).status == 500


def ready_samples(manager: Manager) -> list[tuple[Any, Any]]:
    return [
        s for family in manager.collect_metrics() if family.name == "pyctrl_controller_ready" for s in family.samples
    ]


@pytest.mark.slow("what is missing is reviewed again after some seconds")
@pytest.mark.timeout(120)
async def test_of_twenty_controllers_one_may_not_list(
    cluster: ClusterUnderTest, client: Client, namespace: str
) -> None:
    """A controller that may not list is named in readiness and metrics, blocks no other, and starts once granted."""
    account = await client.create(ServiceAccount(metadata=ObjectMeta(name="robot", namespace=namespace)))
    await client.create(config_map(namespace, "a"))
    await client.create(Secret(metadata=ObjectMeta(name="s", namespace=namespace)))
    async with Manager(await cluster.config_for_account(account.key), namespaces=[namespace]) as manager:
        readers = build_many(manager)
        for document in manifests(manager.grants(), name="some", account=account.key):
            await client.create(Unstructured(document))
        reader = Reader(Secret)
        odd = Builder(manager).reconciles(Secret).build(reader)
        async with manager.running():
            await others_work(manager, readers, odd)
            assert odd.state is ControllerState.WAITING_FOR_RIGHTS
            for document in manifests(manager.grants(), name="all", account=account.key):
                await client.create(Unstructured(document))
            await until(lambda: "s" in reader.seen)
            await until(lambda: manager.not_ready == {})


@pytest.mark.slow("a real API server needs some time until a definition is served")
@pytest.mark.timeout(120)
async def test_of_twenty_controllers_one_lacks_its_definition(
    cluster: ClusterUnderTest, client: Client, namespace: str
) -> None:
    """A controller without its definition blocks no other, and starts once the definition is installed."""
    kind = widget_kind(namespace)
    await client.create(config_map(namespace, "a"))
    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        readers, reader = build_many(manager), Reader(kind)
        odd = Builder(manager).reconciles(kind).build(reader)
        async with manager.running():
            await others_work(manager, readers, odd)
            assert odd.state is ControllerState.WAITING_FOR_DEFINITION
            async with installed(client, kind):
                await client.create(Unstructured.new(kind, name="w", namespace=namespace, spec={"size": 1}))
                await until(lambda: "w" in reader.seen)
                assert manager.not_ready == {}
            await until(lambda: odd.state is ControllerState.LACKING_SOURCES)


@pytest.mark.slow("a real API server needs some time until a definition is served")
@pytest.mark.timeout(120)
async def test_an_optional_kind_is_followed_once_it_is_served(
    cluster: ClusterUnderTest, client: Client, namespace: str
) -> None:
    """A controller is ready without an optional kind, and receives its changes once it is served."""
    kind: GroupVersionKind = widget_kind(namespace)
    await client.create(config_map(namespace, "a"))

    def visit(widget: Unstructured) -> list[Request]:
        return [Request(namespace, widget.metadata.name)]

    async with Manager(cluster.config, namespaces=[namespace]) as manager:
        reader = Reader()
        Builder(manager).reconciles(ConfigMap).watches(kind, mapped(visit), optional=True).build(reader)
        async with manager.running():
            await until(lambda: "a" in reader.seen)
            assert manager.not_ready == {}
            async with installed(client, kind):
                await client.create(Unstructured.new(kind, name="w", namespace=namespace, spec={"size": 1}))
                await until(lambda: "w" in reader.asked)
                assert manager.not_ready == {}
