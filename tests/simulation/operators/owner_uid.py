"""The owner reference is remembered by name: children of a recreated parent get the uid of the old one."""

from __future__ import annotations

from pyctrl.api import CustomResource, Key, Model
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, Case, ensure, meta, owned


class TopicSpec(Model):
    partitions: str


class Topic(CustomResource[TopicSpec], group=GROUP, version="v1"):
    """A topic of a message broker."""


class Buggy(ObjectReconciler[Topic]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch"),)

    def __init__(self) -> None:
        self.uids: dict[Key, str] = {}

    async def reconcile_object(self, topic: Topic) -> None:
        topic.metadata.uid = self.uid_of(topic)
        wanted = owned(topic, f"{topic.metadata.name}-topic", {"partitions": topic.spec.partitions})
        await ensure(self.client, topic, wanted)

    def uid_of(self, topic: Topic) -> str:
        return self.uids.setdefault(topic.key, topic.metadata.uid)


class Fixed(Buggy):
    def uid_of(self, topic: Topic) -> str:
        return topic.metadata.uid


async def scenario(client: Client, world: World) -> None:
    await client.create(Topic(metadata=meta("orders"), spec=TopicSpec(partitions="3")))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="owner-uid",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Topic,),
    story="uid",
    family="meddling",
)
