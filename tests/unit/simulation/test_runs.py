"""Runs of small operators in a whole world: what the history has, and faults of webhooks."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.api import CustomResource, Model, ObjectMeta, set_controller_reference
from pyctrl.client import Client
from pyctrl.controller import Builder, ManagedCluster, ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Manager
from pyctrl.rbac import allow
from pyctrl.simulation import ExploreOptions, explore_program
from pyctrl.simulation._history import FaultApplied, Reconciled, WebhookCalled
from pyctrl.simulation._run import Run
from pyctrl.simulation._scenarios import scenario_of
from pyctrl.simulation._schedule import Occasion, Schedule
from pyctrl.simulation._simulation import Simulation
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
