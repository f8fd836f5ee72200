"""Runs of small operators in a whole world: what the history has, and faults of webhooks."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pyctrl.api import CustomResource, Key, KubernetesObject, Model, ObjectMeta, set_controller_reference
from pyctrl.client import Client
from pyctrl.controller import Builder, ManagedCluster, ObjectReconciler
from pyctrl.errors import ServiceUnavailable
from pyctrl.extension_apiserver import APIResource, ExtensionAPIServer, StorageRequest
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Manager
from pyctrl.rbac import allow
from pyctrl.simulation import ExploreOptions, explore_program
from pyctrl.simulation._history import FaultApplied, ProcessChanged, Reconciled, WebhookCalled
from pyctrl.simulation._run import Run
from pyctrl.simulation._scenarios import scenario_of
from pyctrl.simulation._schedule import Occasion, Schedule
from pyctrl.simulation._simulation import Simulation
from pyctrl.simulation._world import World
from pyctrl.webhook import Defaulter, WebhookBuilder, Webhooks, WebhookServer


class SheetSpec(Model):
    """What is on a sheet."""

    text: str = ""


class Sheet(CustomResource[SheetSpec, Model], group="runs.example.com", version="v1"):
    """Something with a ConfigMap."""


class SheetReconciler(ObjectReconciler[Sheet]):
    """Creates the ConfigMap of a sheet."""

    rbac = (allow(ConfigMap, "create"),)

    async def reconcile_object(self, sheet: Sheet) -> None:
        """Create what is missing."""
        child = ConfigMap(metadata=ObjectMeta(name=sheet.metadata.name, namespace="default"))
        child.data = {"text": sheet.spec.text}
        set_controller_reference(sheet, child)
        if await self.client.find(ConfigMap, child.key) is None:
            await self.client.create(child)


class SheetDefaulter(Defaulter[Sheet]):
    """Gives a sheet a text."""

    async def default(self, obj: Sheet, *_: Any) -> None:
        """Set the text."""
        obj.spec.text = obj.spec.text or "empty"


def add_sheets(manager: ManagedCluster) -> None:
    """Add the operator."""
    Builder(manager).reconciles(Sheet).owns(ConfigMap).build(SheetReconciler())


def add_sheets_with_webhook(manager: Manager) -> None:
    """Add the operator with its webhook."""
    add_sheets(manager)
    webhooks = Webhooks()
    WebhookBuilder(webhooks).admits(Sheet).build(SheetDefaulter())
    manager.add(WebhookServer(webhooks))


async def scenario(client: Client) -> None:
    """Create a sheet."""
    await client.create(Sheet(metadata=ObjectMeta(name="a", namespace="default"), spec=SheetSpec()))


def run_of(program: Any, schedule: str = "") -> Run:
    """Run a program with a schedule."""
    simulation = Simulation(name="sheets", program=program, scenario=scenario_of(scenario).run)
    return simulation.run(Schedule.parse(schedule))


def test_a_reconcile_has_what_it_read() -> None:
    """The history names the objects that a reconcile read, with versions, and names that were not found."""
    first, *_ = run_of(add_sheets).history.of(Reconciled)

    sheet, child = first.reads
    assert sheet.startswith("Sheet default/a v")
    assert child == "ConfigMap default/a missing"


def test_webhooks_of_the_operator_are_called() -> None:
    """The API server calls the operator's webhooks; each call is a point."""
    run = run_of(add_sheets_with_webhook)

    (called,) = run.history.of(WebhookCalled)
    assert (called.status, called.point.occasion) == (200, Occasion.WEBHOOK)
    (child,) = [obj for target, obj in run.end.objects.items() if str(target) == "configmaps default/a"]
    assert child["data"] == {"text": "empty"}


@pytest.mark.parametrize("fault", ["webhook-fails", "webhook-slow"])
def test_a_webhook_that_fails_is_called_again(fault: str) -> None:
    """A user whose request a webhook failed tries again, so that the end is the same."""
    path = run_of(add_sheets_with_webhook).history.of(WebhookCalled)[0].path
    run = run_of(add_sheets_with_webhook, f"{fault} webhook {path}#1" + " by 5" * (fault == "webhook-slow"))

    assert run.history.of(FaultApplied)
    assert [str(target) for target in run.end.objects if target.resource.startswith("sheets")]
    assert not run.unused


@pytest.mark.slow(reason="an exploration of some runs, with three without faults")
def test_an_operator_with_webhooks_survives() -> None:
    """An exploration of an operator with webhooks tries the faults of webhooks, and finds nothing in a correct one."""
    options = ExploreOptions(only=("webhook", "server"), runs=8)
    report = explore_program(add_sheets_with_webhook, scenario, options=options, stops_at_first=True)

    assert not report.stories
    assert {attempt.plan.family for attempt in report.attempts} == {"webhook", "server"}


class Count(KubernetesObject, group="counts.example.com", version="v1"):
    """The number of ConfigMaps of a sheet, computed when it is read."""

    configmaps: int = 0


class Counts:
    """The storage of Counts: `get` counts, and nothing is stored."""

    rbac = (allow(ConfigMap, "list"),)

    def __init__(self, client: Client) -> None:
        self._client = client

    async def get(self, request: StorageRequest, name: str) -> Count | None:
        """Count the ConfigMaps with the name of a sheet; it takes a minute for `slow`."""
        await asyncio.sleep(60 if name == "slow" else 0)
        found = await self._client.list(ConfigMap, namespace=request.namespace)
        count = sum(each.metadata.name == name for each in found)
        return Count(metadata=ObjectMeta(name=name, namespace=request.namespace), configmaps=count)


def add_sheets_with_counts(manager: Manager) -> None:
    """Add the operator, which serves Counts itself."""
    add_sheets(manager)
    counts = APIResource(Count, Counts(manager.live_client))
    manager.add(ExtensionAPIServer(counts, client=manager.live_client))


async def counting_scenario(client: Client, world: World) -> None:
    """Create a sheet, and read its count through the API server, again after the process was killed."""
    await client.create(Sheet(metadata=ObjectMeta(name="a", namespace="default"), spec=SheetSpec()))
    await world.settle("a sheet")
    assert (await client.get(Count, Key("default", "a"))).configmaps == 1
    world.processes[0].kill()
    with pytest.raises(ServiceUnavailable):
        await client.get(Count, Key("default", "a"))
    await world.settle("the process runs again")
    assert (await client.get(Count, Key("default", "a"))).configmaps == 1


def test_kinds_that_the_operator_serves_itself_are_in_the_world() -> None:
    """The API server proxies to a process that runs; while none does, the kind is unavailable, and then it is back."""
    simulation = Simulation(name="counts", program=add_sheets_with_counts, scenario=counting_scenario)
    run = simulation.run()
    assert run.error == ""
    assert [entry.state for entry in run.history.of(ProcessChanged)] == ["started", "killed", "started"]
    assert not any(target.resource.startswith("counts") for target in run.end.objects)


async def killing_scenario(client: Client, world: World) -> None:
    """Kill the process that answers a request, and read again from the other replica."""
    reading = asyncio.create_task(client.get(Count, Key("default", "slow")))
    await asyncio.sleep(1)
    before = world.now
    world.processes[0].kill(restart_after=None)
    with pytest.raises(ServiceUnavailable):
        await reading
    assert world.now - before < 1
    assert (await client.get(Count, Key("default", "a"))).configmaps == 0


def test_a_request_ends_with_the_process_that_answers_it() -> None:
    """A request fails at once if its process is killed, and another replica answers the next one."""
    simulation = Simulation(name="counts", program=add_sheets_with_counts, scenario=killing_scenario, replicas=2)
    assert simulation.run().error == ""


@pytest.mark.slow(reason="an exploration of some runs, with three without faults")
def test_an_operator_with_kinds_of_its_own_survives() -> None:
    """Crashes, also before its APIService exists, do not change what such an operator comes to."""
    options = ExploreOptions(only=("crash",), runs=16)
    report = explore_program(add_sheets_with_counts, scenario, options=options, stops_at_first=True)
    assert not report.stories
    assert {attempt.plan.family for attempt in report.attempts} == {"crash"}
