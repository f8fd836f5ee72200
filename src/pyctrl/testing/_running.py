"""Run a manager beside a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from pyctrl._tasks import unwrapped
from pyctrl.cluster import add_controllers, add_kubelet
from pyctrl.kinds.core.v1 import Node
from pyctrl.manager import Manager
from pyctrl.testing._cluster_under_test import ClusterUnderTest

__all__ = ["running", "stand_ins"]


@asynccontextmanager
async def running(manager: Manager) -> AsyncIterator[Manager]:
    """Run a connected manager until the block ends, which begins when its controllers have started.

        async with Manager(cluster.config) as manager:
            Builder(manager).reconciles(PodSet).build(PodSetReconciler())
            async with running(manager):
                ...

    A manager that fails ends the block with its error, as soon as it fails.
    """
    with unwrapped():
        async with asyncio.TaskGroup() as group:
            group.create_task(manager.run(handle_signals=False), name="manager under test")
            try:
                await manager.elected.wait()
                yield manager
            finally:
                manager.ask_to_stop()


@asynccontextmanager
async def stand_ins(cluster: ClusterUnderTest) -> AsyncIterator[None]:
    """Run what the cluster lacks for pods to run: a pretend kubelet, and the controllers where there are none.

    A cluster with nodes, and the embedded one, lack nothing.
    """
    async with cluster.client() as client:
        has_nodes = cluster.is_embedded or bool(len(await client.list(Node, limit=1)))
    if has_nodes:
        yield
        return
    async with Manager(cluster.config) as manager:
        if not cluster.has_controllers:
            add_controllers(manager)
        add_kubelet(manager)
        async with running(manager):
            yield
