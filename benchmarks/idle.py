"""CPU time of a virtual day of an idle cluster: heartbeats of nodes, watches and resyncs.

python benchmarks/idle.py --nodes 1 --hours 24
"""

from __future__ import annotations

import argparse
import asyncio
from datetime import timedelta
from random import Random
from time import process_time

from pyctrl.cluster import Cluster
from pyctrl.testing import run_virtual

SETTLING = 60.0  # virtual seconds until a new cluster is idle


async def measure(nodes: int, hours: float) -> None:
    """Print the cost of some virtual hours in which the cluster is not used."""
    async with Cluster(nodes=nodes, random=Random(1)) as cluster:
        await asyncio.sleep(SETTLING)
        began, version = process_time(), cluster.server.storage.version
        await asyncio.sleep(hours * 3600)
        seconds, writes = process_time() - began, cluster.server.storage.version - version
    print(f"{hours:g} h with {nodes} nodes: {seconds:.2f} s of CPU, {writes} writes")


def main() -> None:
    """Read the options and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--hours", type=float, default=24)
    options = parser.parse_args()
    run_virtual(measure(options.nodes, options.hours), limit=timedelta(hours=options.hours + 1))


if __name__ == "__main__":
    main()
