"""Cost of an idle cluster for a manager: memory, tasks and CPU, with one controller of two kinds in each cluster.

The clusters are logins to one idle API server in another process, over TLS:

    pyctrl apiserver --write-kubeconfig kubeconfig &
    python benchmarks/clusters.py kubeconfig --clusters 50
"""

from __future__ import annotations

import argparse
import asyncio
import gc
from pathlib import Path

from _meter import cpu_seconds

from pyctrl.client import Config
from pyctrl.controller import Builder, FleetController, Reconciler, Request
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.manager import InMemoryProvider, Manager

SETTLING = 5.0  # seconds until the work for a new cluster is done


class Quiet(Reconciler[ConfigMap]):
    """Reads the object and does nothing else."""

    async def reconcile(self, request: Request) -> None:
        """Reconcile one."""
        await self.client.find(ConfigMap, request.key)


def resident() -> float:
    """Return the memory of this process, in MB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


async def all_ready(controller: FleetController, count: int) -> None:
    """Wait until controllers run for all clusters."""
    while sum(each.is_ready for each in controller.controllers.values()) < count:  # noqa: ASYNC110 (a benchmark)
        await asyncio.sleep(0.1)
    await asyncio.sleep(SETTLING)


async def measure(config: Config, count: int, seconds: float) -> None:
    """Engage clusters and measure them while idle."""
    provider = InMemoryProvider()
    async with Manager(config) as manager:
        fleet = manager.add_fleet("idle", provider)
        controller = Builder(fleet).reconciles(ConfigMap).owns(Secret).build_each(Quiet)
        async with manager.running():
            await asyncio.sleep(SETTLING)
            memory, tasks, began = resident(), len(asyncio.all_tasks()), cpu_seconds()
            for number in range(count):
                provider.add(f"cluster-{number}", config)
            await all_ready(controller, count)
            came = cpu_seconds() - began
            memory, tasks = resident() - memory, len(asyncio.all_tasks()) - tasks
            began = cpu_seconds()
            await asyncio.sleep(seconds)
            idle = (cpu_seconds() - began) / seconds
    print(f"each of {count} clusters: {memory * 1000 / count:.0f} KB, {tasks / count:.0f} tasks")
    print(f"  to come: {came * 1000 / count:.1f} ms of CPU; idle: {idle * 1e6 / count:.0f} µs of CPU a second")


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kubeconfig", type=Path)
    parser.add_argument("--clusters", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    asyncio.run(measure(Config.from_kubeconfig(given.kubeconfig), given.clusters, given.seconds))


if __name__ == "__main__":
    main()
