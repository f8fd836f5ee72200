"""Runs of the simulation in a second of CPU: the matrix of plans of operators of several sizes.

Each row is one operator and scenario. The runs are those of `explore`: children that are forked at the point of their
first fault, judged and collected. CPU seconds are those of this process and all children. Forked and whole runs of the
same plans are compared in turns.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

from examples.podset.podset import PodSet, PodSetSpec, add_podset
from pyctrl.api import CustomResource, Key, Model, ObjectMeta, set_controller_reference
from pyctrl.client import Client, MergePatch
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import ExploreOptions, Report, explore_program


class FleetSpec(Model):
    """How many ConfigMaps there are."""

    size: int


class Fleet(CustomResource[FleetSpec, Model], group="bench.example.com", version="v1"):
    """A number of ConfigMaps."""


class FleetReconciler(ObjectReconciler[Fleet]):
    """Creates the ConfigMaps that are missing."""

    rbac = (allow(ConfigMap, "create"),)

    async def reconcile_object(self, fleet: Fleet) -> None:
        """Create what is missing."""
        for number in range(fleet.spec.size):
            key = Key(fleet.metadata.namespace, f"{fleet.metadata.name}-{number}")
            if await self.client.find(ConfigMap, key) is None:
                child = ConfigMap(metadata=ObjectMeta(name=key.name, namespace=key.namespace))
                set_controller_reference(fleet, child)
                await self.client.create(child)


def add_fleet(manager: ManagedCluster) -> Controller:
    """Add the operator of ConfigMaps."""
    return Builder(manager).reconciles(Fleet).owns(ConfigMap).build(FleetReconciler())


def podset_scenario(size: int) -> Callable[[Client], Awaitable[None]]:
    """Return a scenario: a PodSet is created, scaled and deleted."""

    async def scenario(client: Client) -> None:
        metadata = ObjectMeta(name="web", namespace="default")
        podset = await client.create(PodSet(metadata=metadata, spec=PodSetSpec(size=size)))
        await client.patch(PodSet, podset.key, MergePatch({"spec": {"size": size + 1}}))
        await client.delete(podset)

    return scenario


def fleet_scenario(size: int) -> Callable[[Client], Awaitable[None]]:
    """Return a scenario: a Fleet is created, and grows."""

    async def scenario(client: Client) -> None:
        fleet = await client.create(
            Fleet(metadata=ObjectMeta(name="f", namespace="default"), spec=FleetSpec(size=size))
        )
        await client.patch(Fleet, fleet.key, MergePatch({"spec": {"size": size + 1}}))

    return scenario


@dataclass(frozen=True)
class Row:
    """An operator and a scenario."""

    name: str
    program: Callable[..., object]
    scenario: Any


ROWS = (
    Row("PodSet, 2 pods", add_podset, podset_scenario(2)),
    Row("PodSet, 10 pods", add_podset, podset_scenario(10)),
    Row("2 ConfigMaps", add_fleet, fleet_scenario(2)),
    Row("20 ConfigMaps", add_fleet, fleet_scenario(20)),
)


def explored(row: Row, families: tuple[str, ...], runs: int) -> Report:
    """Explore, and check that nothing failed."""
    options = ExploreOptions(only=families, runs=runs)
    report = explore_program(row.program, row.scenario, name=row.name, options=options)
    assert not report.stories, report.stories[0]
    return report


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="plans of each row")
    parser.add_argument("--turns", type=int, default=3, help="explorations of each row; the table has the median")
    parser.add_argument("--only", nargs="*", default=[], help="families of plans; all by default")
    options = parser.parse_args()
    print(
        "| operator | plans | tried | CPU s | runs / CPU s | ms of the run itself, median |\n|---|--:|--:|--:|--:|--:|"
    )
    for row in ROWS:
        reports = [explored(row, tuple(options.only), options.runs) for _ in range(options.turns)]
        report = sorted(reports, key=lambda each: each.seconds)[len(reports) // 2]
        tried = len(report.attempts)
        milliseconds = median(each.seconds for each in report.attempts) * 1000
        rate = tried / report.seconds
        print(f"| {row.name} | {report.planned} | {tried} | {report.seconds:.1f} | {rate:.0f} | {milliseconds:.0f} |")
    print(f"\nload of the machine: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
