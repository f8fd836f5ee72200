"""Each run writes the time into the status, which causes the next run: the operator never rests."""

from __future__ import annotations

from pyctrl import now
from pyctrl.api import CustomResource, Model
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, Case, ensure, meta, owned, report


class MonitorSpec(Model):
    url: str


class MonitorStatus(Model):
    checked: str = ""


class Monitor(CustomResource[MonitorSpec, MonitorStatus], group=GROUP, version="v1"):
    """The monitor of a URL."""


class Buggy(ObjectReconciler[Monitor]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch"), allow(Monitor, "patch", subresource="status"))

    async def reconcile_object(self, monitor: Monitor) -> None:
        await ensure(
            self.client, monitor, owned(monitor, f"{monitor.metadata.name}-monitor", {"url": monitor.spec.url})
        )
        await report(self.client, monitor, checked=self.checked(monitor))

    def checked(self, monitor: Monitor) -> str:
        return now().isoformat()


class Fixed(Buggy):
    def checked(self, monitor: Monitor) -> str:
        return monitor.spec.url  # what was checked; when it was belongs into a log, or into a condition that changes


async def scenario(client: Client, world: World) -> None:
    await client.create(Monitor(metadata=meta("home"), spec=MonitorSpec(url="https://example.com")))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="status-time",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Monitor,),
    story="a time in an object makes a loop",
)
