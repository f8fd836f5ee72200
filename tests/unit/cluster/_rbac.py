"""Helpers of the tests of clusters with RBAC."""

from __future__ import annotations

from random import Random

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import ServiceAccount

BOT = Key("default", "bot")


def cluster(*, rbac: bool = True) -> Cluster:
    return Cluster(random=Random(1), rbac=rbac, kubelet=False)


async def make_bot(client: Client) -> None:
    await client.create(ServiceAccount(metadata=ObjectMeta(name=BOT.name, namespace=BOT.namespace)))
