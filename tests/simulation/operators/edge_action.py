"""The reconcile acts because it is called, not because something differs: a restart sends the message again."""

from __future__ import annotations

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client, MergePatch
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler, generation_changed, reconcile_id
from pyctrl.simulation import External, World
from tests.simulation.operators._case import GROUP, Case, meta


class NoticeSpec(Model):
    text: str


class Notice(CustomResource[NoticeSpec], group=GROUP, version="v1"):
    """A text that is sent when it changes."""


class Pager(External):
    """Sends texts; a text with the key of an earlier one is not sent again."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[str] = []
        self._keys: set[str] = set()

    async def send(self, key: str, text: str) -> None:
        if key not in self._keys:
            self._keys.add(key)
            self.sent.append(text)


class Buggy(ObjectReconciler[Notice]):
    def __init__(self, pager: Pager) -> None:
        self.pager = pager

    async def reconcile_object(self, notice: Notice) -> None:
        await self.pager.send(self.idempotency_key(notice), notice.spec.text)

    def idempotency_key(self, notice: Notice) -> str:
        return reconcile_id() or ""  # each change is a message: only changes of the spec pass the predicate


class Fixed(Buggy):
    def idempotency_key(self, notice: Notice) -> str:
        return f"{notice.metadata.name}: {notice.spec.text}"


async def scenario(client: Client, world: World) -> None:
    notice = await client.create(Notice(metadata=meta("status"), spec=NoticeSpec(text="down")))
    await world.settle()
    await client.patch(Notice, notice.key, MergePatch({"spec": {"text": "up"}}))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).filter(generation_changed).build(Buggy(world.external(Pager)))


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).filter(generation_changed).build(Fixed(world.external(Pager)))


CASE = Case(
    name="edge-action",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Notice,),
    story="Pager.send",
    family="crash",
)
