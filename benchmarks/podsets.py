"""CPU time until PodSets have converged on the embedded cluster, with its controllers and nodes, in virtual time.

python benchmarks/podsets.py --podsets 1000 --nodes 40
python benchmarks/podsets.py --podsets 1000 --nodes 0    # pods stay Pending
"""

from __future__ import annotations

import argparse
import asyncio
import gc
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from random import Random
from time import process_time
from typing import Any

from examples.podset.podset import PodSet, PodSetSpec, add_podset
from pyctrl.api import ObjectMeta, Unstructured
from pyctrl.apiserver import ApiServer
from pyctrl.cluster import Cluster
from pyctrl.manager import Manager
from pyctrl.manifests import definition
from pyctrl.testing import run_virtual

SIZE = 3  # pods of each PodSet
WARM_UP = 20  # PodSets before the measurement


def new(number: int) -> PodSet:
    """Return a PodSet."""
    return PodSet(metadata=ObjectMeta(name=f"set-{number:06}", namespace="default"), spec=PodSetSpec(size=SIZE))


async def reached(server: ApiServer, group: str, plural: str, is_ready: Callable[[Any], bool]) -> None:
    """Wait until all objects of a resource are ready."""
    collection = server.storage.collection(group, plural)
    while not all(is_ready(each.decode().get("status") or {}) for each in collection.current("")):  # noqa: ASYNC110
        await asyncio.sleep(1)


async def converged(server: ApiServer, nodes: int) -> None:
    """Wait until every PodSet has its pods, and every Deployment is available if there are nodes."""
    await asyncio.sleep(1)
    await reached(server, "apps.jicki.cn", "podsets", lambda status: len(status.get("nodes", ())) == SIZE)
    if nodes:
        await reached(server, "apps", "deployments", lambda status: status.get("availableReplicas") == SIZE)


async def measure(count: int, nodes: int) -> None:
    """Print the CPU time and the writes of each PodSet."""
    async with (
        Cluster(nodes=nodes, kubelet=nodes > 0, random=Random(1)) as cluster,
        Manager(cluster.config, random=Random(2)) as manager,
    ):
        await manager.live_client.create(Unstructured(definition(PodSet)))
        add_podset(manager)
        server, writes = cluster.server, Counter[str]()
        async with manager.running():
            for number in range(WARM_UP):
                await manager.live_client.create(new(number))
            await converged(server, nodes)
            gc.collect()
            server.storage.listen(lambda _, plural, event: writes.update([f"{event.type.lower()} {plural}"]))
            began = process_time()
            for number in range(WARM_UP, WARM_UP + count):
                await manager.live_client.create(new(number))
            await converged(server, nodes)
            seconds = process_time() - began
    print(f"{count} PodSets: {seconds * 1000 / count:.1f} ms of CPU and {writes.total() / count:.1f} writes each")
    for what, times in writes.most_common():
        print(f"  {times / count:5.2f} {what}")


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--podsets", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=40, help="pretend nodes, each for 110 pods; 0: pods stay Pending")
    options = parser.parse_args()
    run_virtual(measure(options.podsets, options.nodes), limit=timedelta(days=2))


if __name__ == "__main__":
    main()
