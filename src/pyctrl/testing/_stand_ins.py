"""What a cluster under test lacks for pods to run, and who plays its part."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pyctrl.cluster import add_controllers, add_kubelet
from pyctrl.kinds.core.v1 import Node
from pyctrl.manager import Manager
from pyctrl.testing._cluster_under_test import ClusterUnderTest

__all__ = ["stand_ins"]


@asynccontextmanager
async def stand_ins(cluster: ClusterUnderTest) -> AsyncIterator[None]:
    """Run what the cluster lacks for pods to run: a pretend kubelet, and the controllers where there are none.

    A cluster with nodes, and the embedded one, lack nothing. Pretend nodes that an earlier test left do not count:
    their kubelet is gone.
    """
    async with cluster.client() as client:
        has_nodes = cluster.is_embedded or any(not _is_pretend(node) for node in await client.list(Node))
    if has_nodes:
        yield
        return
    async with Manager(cluster.config) as manager:
        if not cluster.has_controllers:
            add_controllers(manager)
        add_kubelet(manager)
        async with manager.running():
            yield


def _is_pretend(node: Node) -> bool:
    return node.status.node_info.kernel_version.endswith("-pretend")
