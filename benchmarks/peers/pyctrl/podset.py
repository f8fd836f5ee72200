"""The measured peer: the operator of examples/podset, as `pyctrl run` runs it. KUBECONFIG selects the cluster."""

from __future__ import annotations

import argparse
import asyncio
import time

from peers._commands import Facts, packages, serve

from examples.podset.podset import PodSet, PodSetReconciler
from pyctrl import Builder, Config, Manager
from pyctrl._log import configure_logging
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.core.v1 import Pod

STAMP = "benchmarks/written"


class Stamped(PodSetReconciler):
    """The example's reconciler, which also records the age of the object's last write."""

    def __init__(self) -> None:
        self._last: dict[str, str] = {}
        self._latencies: list[int] = []

    async def scale(self, podset: PodSet) -> None:
        """Record the age of a write when it is first seen, and do the work."""
        name, written = podset.metadata.name, podset.metadata.annotations.get(STAMP)
        if written and self._last.get(name) != written:
            self._latencies.append(time.monotonic_ns() - int(written))
            self._last[name] = written
        await super().scale(podset)

    async def latencies(self) -> Facts:
        """Return the ages since the last call, in nanoseconds."""
        taken, self._latencies = self._latencies, []
        return {"nanoseconds": taken}


async def operate(workers: int) -> None:
    """Execute commands until the input ends."""
    async with Manager(Config.load()) as manager, asyncio.TaskGroup() as group:
        reconciler = Stamped()
        builder = Builder(manager).reconciles(PodSet).owns(Deployment).reads(Pod)
        builder.options(workers=workers).build(reconciler)

        async def start() -> Facts:
            group.create_task(manager.run())
            await manager.elected.wait()
            for kind in (PodSet, Deployment, Pod):
                await manager.cache.informer(kind).wait_for_sync()
            return {}

        await serve({"start": start, "latencies": reconciler.latencies}, packages("aiohttp", "msgspec", "pydantic"))
        manager.ask_to_stop()


def main() -> None:
    """Run the peer with its arguments."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=1)
    configure_logging()
    asyncio.run(operate(parser.parse_args().workers))


if __name__ == "__main__":
    main()
