"""The example of computed objects, in a cluster in the process."""

from __future__ import annotations

from random import Random

import pytest

from examples.flavors.flavors import Flavor, add_flavors
from pyctrl.api import Key, ObjectMeta, Quantity
from pyctrl.client import Client, Config
from pyctrl.cluster import Cluster
from pyctrl.errors import MethodNotAllowed
from pyctrl.extension_apiserver import ExtensionAPIServer
from pyctrl.kinds.core.v1 import Node
from pyctrl.manager import Manager
from tests.unit.extension_apiserver._flavors import ADMIN, Aggregator


async def test_nodes_are_counted_by_size() -> None:
    """`kubectl get flavors` has each size with the number of its nodes at this moment."""
    async with (
        Cluster(nodes=3, random=Random(1), rbac=True) as cluster,
        Manager(cluster.config) as manager,
        cluster.client() as admin,
    ):
        add_flavors(manager)
        (server,) = [each.runnable for each in manager.members if isinstance(each.runnable, ExtensionAPIServer)]
        async with Client.connect(Config.in_process(Aggregator(server, ADMIN))) as client:
            (flavor,) = await client.list(Flavor)
            assert flavor.nodes == 3
            assert (await client.get(Flavor, flavor.key)).cpu == flavor.cpu
            small = Node(metadata=ObjectMeta(name="small"))
            await admin.create(small)
            small = await admin.get(Node, Key("", "small"))
            small.status.capacity = {"cpu": Quantity("2"), "memory": Quantity("4Gi")}
            await admin.status.update(small)
            assert {each.metadata.name: each.nodes for each in await client.list(Flavor)} == {
                flavor.metadata.name: 3,
                "2cpu-4gi": 1,
            }
            with pytest.raises(MethodNotAllowed):
                await client.create(Flavor(metadata=ObjectMeta(name="mine")))
