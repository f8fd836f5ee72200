"""The shipped alerts, evaluated over a manager's metrics."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from pathlib import Path

import promql_parser as promql
import pytest
import yaml

from pyctrl.api import ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Manager
from pyctrl.manager._servers.bind_address import BindAddress
from pyctrl.manager._servers.metrics import Metrics
from tests.unit.manager.servers._promql import Sample, Scrapes

ALERTS = Path(__file__).resolve().parents[4] / "docs" / "metrics" / "alerts.yaml"
WINDOW = 600  # seconds: the range of the rates in these rules
CONTROLLER = frozenset({("controller", "configmap")})


def rules() -> dict[str, str]:
    """The expressions of the alerts, by name."""
    groups = yaml.safe_load(ALERTS.read_text())["groups"]
    return {rule["alert"]: rule["expr"] for group in groups for rule in group["rules"]}


def scraped(manager: Manager) -> Iterable[Sample]:
    """The metrics that Prometheus reads from a manager."""
    for family in Metrics(manager.collect_metrics, BindAddress(None, 0)).registry.collect():
        for sample in family.samples:
            yield sample.name, sample.labels, sample.value


class Counting(Reconciler[ConfigMap]):
    """Writes an incremented count in each run: a hot loop, here with a delay."""

    async def reconcile(self, request: Request) -> None:
        await asyncio.sleep(0.8)
        found = await self.client.get(ConfigMap, request.key)
        found.data = {"runs": str(int(found.data.get("runs", "0")) + 1)}
        await self.client.update(found)


class Checking(Reconciler[ConfigMap]):
    """Writes the desired state once."""

    async def reconcile(self, request: Request) -> None:
        found = await self.client.get(ConfigMap, request.key)
        if found.data != {"is": "right"}:
            found.data = {"is": "right"}
            await self.client.update(found)


class Failing(Reconciler[ConfigMap]):
    """Always fails."""

    async def reconcile(self, request: Request) -> None:
        raise ValueError(request.name)


@pytest.mark.parametrize(
    ("reconciler", "firing"),
    [
        (Counting, ["PyctrlCausesItself"]),
        (Failing, ["PyctrlReconcilesFail"]),
        (Checking, []),
    ],
)
async def test_an_alert_fires_for_what_it_is_named_after(
    reconciler: type[Reconciler[ConfigMap]], firing: list[str]
) -> None:
    """The alerts fire for a controller that its own writes trigger and for a failing one, not for a healthy one."""
    scrapes, chosen = Scrapes(), ("PyctrlCausesItself", "PyctrlReconcilesFail")
    async with Manager(Config.in_process(ApiServer())) as manager:
        Builder(manager).reconciles(ConfigMap).build(reconciler())
        async with manager.running():
            await asyncio.sleep(1)
            scrapes.add(0, scraped(manager))
            await manager.client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace="default")))
            await asyncio.sleep(WINDOW)
            scrapes.add(WINDOW, scraped(manager))

    fires = [name for name in chosen if CONTROLLER in scrapes.evaluate(rules()[name], WINDOW)]
    assert fires == firing


@pytest.mark.parametrize("alert", rules())
def test_each_alert_is_an_expression_that_prometheus_takes(alert: str) -> None:
    """Each expression parses with Prometheus' grammar."""
    promql.parse(rules()[alert])  # raises if parsing fails
