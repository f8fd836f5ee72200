"""Cost of the embedded API server's verbs, in process and over HTTP, as multiples of one json.loads of the object.

The objects are a custom resource of 2.5 KB with a schema, and a pod. CPU is user and system time of the server.
Measurements repeat in turns, each between two measurements of json.loads of the object as a client sends it. The ratios
do not depend on changes of the machine's speed. The table has medians.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import dataclass

from _in_process import WATCHERS, InProcess, Kind
from _meter import Meter
from _objects import GROUP, PLURAL, VERSION, database, encoded, pod
from _over_http import served

KINDS = {
    "custom": Kind(f"/apis/{GROUP}/{VERSION}/namespaces/default/{PLURAL}", database),
    "pod": Kind("/api/v1/namespaces/default/pods", pod),
}


@dataclass(frozen=True)
class Target:
    """An upper limit on a cost, as a multiple of one `json.loads` of the object."""

    name: str
    where: str
    series: str
    limit: float


TARGETS = (
    Target("a get, in process", "in process, custom", "get", 1.0),
    Target("a create of a custom resource with a schema", "in process, custom", "create", 8.0),
    Target("one event to one watcher, in process", "in process, custom", "event, one by one", 1.0),
)


async def _in_process(kind: Kind, meter: Meter, options: argparse.Namespace) -> str:
    ways = InProcess(kind, meter)
    await ways.singles()  # once to warm up
    meter.series.clear()
    for _ in range(options.rounds):
        await ways.singles()
        await ways.fan_out(20)
    memory, size = await ways.fill(options.objects)
    for _ in range(options.rounds // 5 + 1):
        await ways.lists(options.objects)
    return f"{memory:.0f} bytes of memory for each stored object of {size} bytes"


async def _over_http(kind: Kind, meter: Meter, options: argparse.Namespace) -> None:
    async with served(kind, meter) as ways:
        await ways.singles()
        meter.series.clear()
        for _ in range(options.rounds):
            await ways.singles()
            await ways.fan_out(20)
        await ways.fill(options.objects)
        for _ in range(options.rounds // 5 + 1):
            await ways.lists(options.objects)


def table(meter: Meter) -> str:
    """Print the results."""
    lines = [f"| {'':24} | CPU µs | × json.loads | per core and second | per second |"]
    lines.append(f"|{'-' * 26}|{'-' * 8}|{'-' * 14}|{'-' * 21}|{'-' * 12}|")
    for name, series in meter.series.items():
        rate = f"{1 / series.wall:,.0f}" if series.walls else ""
        per_core = 1 / max(series.cost, 1e-9)
        lines.append(
            f"| {name:24} | {series.cost * 1e6:6.1f} | {series.ratio:12.2f} | {per_core:19,.0f} | {rate:>10} |"
        )
    return "\n".join(lines)


def verdicts(meters: dict[str, Meter]) -> tuple[str, bool]:
    """Compare with the targets; return whether all measured ones are met."""
    lines = [f"| {'target':44} | at most | measured |      |", f"|{'-' * 46}|---------|----------|------|"]
    is_met = True
    for target in TARGETS:
        if target.where not in meters:
            continue
        measured = meters[target.where].series[target.series].ratio
        is_met = is_met and measured <= target.limit
        word = "ok" if measured <= target.limit else "MISS"
        lines.append(f"| {target.name:44} | {target.limit:7.2f} | {measured:8.2f} | {word:4} |")
    return "\n".join(lines), is_met


async def measure(options: argparse.Namespace) -> dict[str, Meter]:
    """Run the requested measurements, and print each table when it is complete."""
    meters: dict[str, Meter] = {}
    for name, kind in KINDS.items():
        for where in ("in process", "over HTTP"):
            title = f"{where}, {name}"
            if options.only and title not in options.only:
                continue
            sample = encoded(kind.make("orders-000000"))
            meter = meters[title] = Meter(sample)
            note = ""
            if where == "in process":
                note = await _in_process(kind, meter, options)
            else:
                await _over_http(kind, meter, options)
            print(f"{title}, {len(sample)} bytes sent; lists of {options.objects:,}, {WATCHERS} watchers\n")
            print(table(meter), f"\n{note}\n" if note else "\n")
    return meters


def main() -> int:
    """Measure, print, and compare."""
    titles = [f"{where}, {name}" for name in KINDS for where in ("in process", "over HTTP")]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=10_000, help="how many are listed (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=20, help="of each measurement (default %(default)s)")
    parser.add_argument("--only", action="append", choices=titles, help="only this; may be given again")
    parser.add_argument("--check", action="store_true", help="end with 1 if a target is missed")
    options = parser.parse_args()
    compared, is_met = verdicts(asyncio.run(measure(options)))
    print(compared)
    return 1 if options.check and not is_met else 0


if __name__ == "__main__":
    sys.exit(main())
