"""What a ring of many replicas costs the API server, in virtual time: requests, bytes, and the time of moves.

    PYTHONPATH=. python benchmarks/ring.py --members 2 10 50

Each replica is a `ShardMember` without controllers; the server stores Leases only. Bytes are those of bodies.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import time
from datetime import timedelta
from random import Random

from pyctrl.client import Client, HttpRequest, HttpResponse
from pyctrl.manager import Sharding, ShardMember
from pyctrl.testing import VirtualTimeLoop
from tests.simulation._lease_server import LeaseServer

QUIET_SECONDS = 60.0


class CountingServer(LeaseServer):
    """Counts requests and the bytes of bodies."""

    def __init__(self) -> None:
        super().__init__()
        self.requests = self.bytes = 0

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Answer after two milliseconds, and count."""
        await asyncio.sleep(0.002)
        response = await super().request(request)
        self.requests += 1
        self.bytes += len(request.body or b"") + len(response.body)
        return response


class Ring:
    """Members that come and go."""

    def __init__(self, period: float) -> None:
        self._period, self._count = period, 0
        self.server = CountingServer()
        self.members: dict[ShardMember, asyncio.Task[None]] = {}

    def start(self) -> None:
        """Start a member."""
        self._count += 1
        random = Random(self._count)
        options = Sharding(
            name="ring",
            namespace="default",
            retry_period=timedelta(seconds=self._period),
            renew_deadline=timedelta(seconds=max(10.0, self._period * 4)),
            lease_duration=timedelta(seconds=max(15, round(self._period * 6))),
        )
        client = Client(self.server, random=random)
        member = ShardMember(client, options, namespace="default", identity=f"pod-{random.random()}", random=random)
        self.members[member] = asyncio.get_running_loop().create_task(member.run())

    async def divided(self) -> float:
        """Wait until the slots are divided among all members, and return how long it took."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while True:
            found = [member.statistics() for member in self.members]
            known = all(each.has_joined and each.members == len(found) for each in found)
            if known and sum(each.slots for each in found) == found[0].all_slots:
                return loop.time() - began
            await asyncio.sleep(0.05)

    async def stop_one(self) -> float:
        """Stop a member, and return how long the others take to have its slots."""
        member, _task = self.members.popitem()
        member.ask_to_stop()
        return await self.divided()


async def measure(count: int, period: float) -> str:
    """Return a row of the table."""
    ring, loop = Ring(period), asyncio.get_running_loop()
    for _ in range(count):
        ring.start()
    together = await ring.divided()
    ring.server.requests = ring.server.bytes = 0
    before, cpu_before = loop.time(), time.process_time()
    await asyncio.sleep(QUIET_SECONDS)
    seconds = loop.time() - before
    quiet_cpu = (time.process_time() - cpu_before) / seconds / count * 1000
    rates = f"{ring.server.requests / seconds:.0f} | {ring.server.bytes / seconds / 1e3:.0f}"
    slots = [member.statistics().slots for member in ring.members]
    fair = sum(slots) / count
    ring.start()
    joins = await ring.divided()
    leaves = await ring.stop_one()
    for task in ring.members.values():
        task.cancel()
    await asyncio.wait(ring.members.values())
    return (
        f"| {count} | {period:g} | {rates} | {quiet_cpu:.1f} | {min(slots) / fair:.2f} to {max(slots) / fair:.2f} "
        f"| {together:.1f} | {joins:.1f} | {leaves:.1f} |"
    )


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--members", type=int, nargs="*", default=[2, 10, 50], help="default: 2 10 50")
    parser.add_argument("--period", type=float, nargs="*", default=[2.0, 5.0], help="retry period; default: 2 5")
    args = parser.parse_args()
    logging.disable(logging.CRITICAL)
    print(
        "| replicas | period, s | requests/s | KB/s | CPU of each, ms/s | slots / fair | start, s | join, s | stop, s |"
    )
    print("|--:|--:|--:|--:|--:|--|--:|--:|--:|")
    for count in args.members:
        for period in args.period:
            with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
                print(runner.run(measure(count, period)), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
