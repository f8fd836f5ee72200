"""The documented metrics compared with a manager's metrics: series, types and labels."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from pyctrl._metrics import MetricFamily, WebhookMetrics
from pyctrl.api import ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.manager import Group, InMemoryProvider, LeaderElection, Manager, Sharding
from pyctrl.testing import Answered, FaultyTransport, Rule

DOCS = Path(__file__).resolve().parents[4] / "docs"

Row = tuple[str, str, frozenset[str]]


class Certificate:
    """Stands in for the certificate of a server."""

    reads = 3
    failed_reads = 1


class Server:
    """Stands in for a webhook server."""

    name = "webhook server"
    why_not_ready = "it has no certificate"

    def __init__(self) -> None:
        self.meter = WebhookMetrics()
        self.meter.register("/mutate")
        self.collect_metrics = self.meter.collect_metrics
        self.certificate = Certificate()

    async def run(self) -> None:
        await asyncio.Event().wait()


class Quick(Reconciler[ConfigMap]):
    """Does nothing, and may read Secrets."""

    reads = (Secret,)

    async def reconcile(self, request: Request) -> None:
        pass


async def told(*, with_a_fleet: bool = False) -> list[MetricFamily]:
    """All metrics of a manager with every feature on and one retried request."""
    busy = Rule(Answered.too_many_requests(retry_after=1), method="POST", path="*/configmaps")
    config = replace(Config.in_process(ApiServer()), wrap_transport=lambda inner: FaultyTransport(inner, [busy]))
    async with Manager(config, leader_election=LeaderElection(name="op"), sharding=Sharding(name="op")) as manager:
        Builder(manager).reconciles(ConfigMap).build(Quick())
        manager.add(Server(), group=Group.WEBHOOKS)
        if with_a_fleet:
            fleet = manager.add_fleet("edge", InMemoryProvider({"one": Config.in_process(ApiServer())}))
            Builder(fleet).reconciles(ConfigMap).build_each(Quick)
        async with manager.running():
            await manager.client.create(ConfigMap(metadata=ObjectMeta(name="a", namespace="default")))
            await asyncio.sleep(1)
            return list(manager.collect_metrics())


def table() -> set[Row]:
    """The rows of docs/metrics.md."""
    row = re.compile(r"^\| `([a-z_]+)` \| (counter|gauge|histogram) \| ([a-z_, ]*) \|", re.MULTILINE)
    found = row.findall((DOCS / "metrics.md").read_text())
    return {(name, kind, frozenset(filter(None, labels.strip().split(", ")))) for name, kind, labels in found}


async def test_the_table_of_series_is_what_a_manager_tells() -> None:
    """The docs and the manager have the same metrics, with types and labels."""
    documented = {name: (kind, labels) for name, kind, labels in table()}
    families = await told(with_a_fleet=True)
    for family in families:
        kind, labels = documented[family.name]
        assert kind == family.kind, family.name
        known = (labels, labels | {"member_cluster"})  # of the home cluster, and of other clusters
        assert all(sample[0].keys() in known for sample in family.samples), family.name

    assert documented.keys() == {family.name for family in families}


async def test_each_series_has_a_name_that_prometheus_takes() -> None:
    """Counters end with _total, other metrics do not, and each has a help text of one line."""
    for family in await told():
        assert family.name.endswith("_total") == (family.kind == "counter"), family.name
        assert family.meaning, family.name
        assert "\n" not in family.meaning, family.name


def expressions() -> dict[str, str]:
    """The PromQL expressions of the dashboard and the alerts, by title."""
    rules = yaml.safe_load((DOCS / "metrics" / "alerts.yaml").read_text())
    found = {rule["alert"]: rule["expr"] for group in rules["groups"] for rule in group["rules"]}
    for panel in json.loads((DOCS / "metrics" / "dashboard.json").read_text())["panels"]:
        for target in panel.get("targets", ()):
            found[f"{panel['title']} {target['refId']} {panel['id']}"] = target["expr"]
    return found


def known_series() -> set[str]:
    """The names of all series: three for a histogram."""
    parts = {"histogram": ("_bucket", "_sum", "_count")}
    return {name + part for name, kind, _ in table() for part in parts.get(kind, ("",))}


@pytest.mark.parametrize("title", expressions())
def test_dashboard_and_alerts_ask_for_what_there_is(title: str) -> None:
    """Dashboard and alerts use only existing series and labels, and their brackets match."""
    expression = expressions()[title]
    asked = set(re.findall(r"\b(?:pyctrl|controller_runtime|workqueue|rest_client|leader_election)_\w+", expression))
    assert asked
    assert asked <= known_series()
    assert all(expression.count(left) == expression.count(right) for left, right in ("()", "{}", "[]"))
    labels = {name: labels | {"job", "instance", "le"} for name, _, labels in table()}
    grouped = {label for group in re.findall(r"by \(([^)]*)\)", expression) for label in group.split(", ")}
    for series in asked:
        family = series if series in labels else re.sub(r"_(?:bucket|sum|count)$", "", series)
        assert grouped <= labels[family], (series, grouped)
