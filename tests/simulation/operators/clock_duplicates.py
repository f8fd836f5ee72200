"""Duplicates are recognised by the time since the last message: when the clock jumps, the message is sent twice."""

from __future__ import annotations

from datetime import timedelta

from pyctrl import now
from pyctrl.api import CustomResource, Model, Time
from pyctrl.client import Client, MergePatch
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.rbac import allow
from pyctrl.simulation import External, World
from tests.simulation.operators._case import GROUP, Case, meta, report


class AlertSpec(Model):
    text: str


class AlertStatus(Model):
    sent_at: Time | None = None


class Alert(CustomResource[AlertSpec, AlertStatus], group=GROUP, version="v1"):
    """A text that is sent once."""


class Messenger(External):
    """Sends texts; a text with the key of an earlier one is not sent again."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []
        self._keys: set[str] = set()

    async def send(self, key: str, text: str) -> None:
        if key not in self._keys:
            self._keys.add(key)
            self.sent.append(text)


class Buggy(ObjectReconciler[Alert]):
    rbac = (allow(Alert, "patch", subresource="status"),)

    def __init__(self, messenger: Messenger) -> None:
        self.messenger = messenger

    async def reconcile_object(self, alert: Alert) -> None:
        if self.is_due(alert):
            key = f"{alert.metadata.name}: {alert.spec.text} after {alert.status.sent_at}"
            await self.messenger.send(key, alert.spec.text)
            await report(self.client, alert, sent_at=now().replace(microsecond=0))

    def is_due(self, alert: Alert) -> bool:
        sent_at = alert.status.sent_at
        return sent_at is None or now() - sent_at > timedelta(minutes=30)


class Fixed(Buggy):
    def is_due(self, alert: Alert) -> bool:
        return alert.status.sent_at is None


async def scenario(client: Client, world: World) -> None:
    alert = await client.create(Alert(metadata=meta("disk"), spec=AlertSpec(text="disk full")))
    for person in ("ann", "bob"):
        await world.settle()
        await client.patch(Alert, alert.key, MergePatch({"metadata": {"labels": {"seen-by": person}}}))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy(world.external(Messenger)))


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed(world.external(Messenger)))


CASE = Case(
    name="clock-duplicates",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Alert,),
    story="clock",
    family="clock",
)
