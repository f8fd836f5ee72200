"""Cost of 10,000 failing objects, and their time to recovery: with a retry bucket and without.

A controller with its queue and limiter runs in virtual time, so that the counts do not depend on the machine. Every
object fails until an outage ends, each attempt takes two milliseconds, and there are four workers. "server" is an error
that ends for all objects at once (`is_outage`: connection refused), retried within a minute; "object" is any other.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from random import Random

from _meter import cpu_seconds

from pyctrl.controller import (
    Controller,
    ControllerOptions,
    ExponentialBackoff,
    MaxOfRateLimiter,
    RateLimiter,
    Reconciler,
    Request,
    RequestSink,
    Source,
    TokenBucket,
)
from pyctrl.errors import ConnectionFailed
from pyctrl.testing import run_virtual

ATTEMPT = 0.002  # seconds
WORKERS = 4
LIMITERS: dict[str, Callable[[], RateLimiter]] = {
    "no bucket": lambda: ExponentialBackoff(random=Random(1)),
    "bucket, 10/s and 100": lambda: MaxOfRateLimiter(
        ExponentialBackoff(random=Random(1)), TokenBucket(per_second=10, burst=100)
    ),
}


class Objects(Source):
    """This many requests, all present from the start."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self._count = count

    async def run(self, queue: RequestSink) -> None:
        """Add them, and wait until cancelled."""
        for number in range(self._count):
            queue.add(Request("default", str(number)))
        self.synced.set()
        await asyncio.get_running_loop().create_future()


class Failing(Reconciler[object]):
    """Fails until the outage is over."""

    def __init__(self, error: Callable[[], Exception], outage: float, count: int) -> None:
        self._error, self._outage, self._count = error, outage, count
        self.all_well = asyncio.Event()
        self.attempts: Counter[int] = Counter()  # failed attempts by second
        self.well: list[float] = []

    async def reconcile(self, request: Request) -> None:
        """Fail during the outage."""
        await asyncio.sleep(ATTEMPT)
        now = asyncio.get_running_loop().time()
        if now < self._outage:
            self.attempts[int(now)] += 1
            raise self._error()
        self.well.append(now - self._outage)
        if len(self.well) == self._count:
            self.all_well.set()


async def measure(limiter: RateLimiter, error: Callable[[], Exception], outage: float, count: int) -> str:
    """Run one controller until all objects have recovered; return a line of the table."""
    failing = Failing(error, outage, count)
    options = ControllerOptions(limiter=limiter, workers=WORKERS)
    controller = Controller("retries", failing, [Objects(count)], options=options, random=Random(1))
    begun = cpu_seconds()
    async with asyncio.TaskGroup() as group:
        group.create_task(controller.run())
        await failing.all_well.wait()
        controller.ask_to_stop()
    spent = cpu_seconds() - begun
    total, late = failing.attempts.total(), [at for second, at in failing.attempts.items() if second >= outage - 60]
    half, most = failing.well[count // 2], failing.well[count * 95 // 100]
    cells = [
        f"{total / count:5.1f}",
        f"{max(failing.attempts.values()):5,}",
        f"{sum(late) / 60:6,.0f}",
        f"{half:6,.0f} s",
        f"{most:6,.0f} s",
        f"{failing.well[-1]:6,.0f} s",
        f"{spent:5.1f} s",
    ]
    return " | ".join(cells)


def main() -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--objects", type=int, default=10_000, help="default: %(default)s")
    parser.add_argument("--minutes", type=float, nargs="*", default=[1, 10], help="of outage; default: 1 10")
    args = parser.parse_args()
    errors: dict[str, Callable[[], Exception]] = {
        "server": lambda: ConnectionFailed("connection refused"),
        "object": lambda: ValueError("no"),
    }
    print(
        "| outage | error | limiter | attempts of each | most in a second | a second in its last minute | "
        "half are well after | 95 % | all | CPU |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    logging.disable(logging.CRITICAL)  # the cost of log lines is not measured here
    for minutes in args.minutes:
        for error, make_error in errors.items():
            for limiter, make_limiter in LIMITERS.items():
                found = run_virtual(
                    measure(make_limiter(), make_error, minutes * 60, args.objects), limit=timedelta(days=30)
                )
                print(f"| {minutes:g} min | {error} | {limiter:<20} | {found} |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
