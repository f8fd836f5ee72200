"""Cost of reading a cluster's objects into the cache, relative to the minimum. `run.py` measures other peers.

One run prints one table. Every method runs in its own process and reads the same bytes over HTTP on loopback, from a
server in another process that has all responses in memory. CPU is user and system time of the reading process; memory
is the peak of resident memory over that after all imports. The numbers are medians of the runs. A first run of each
method does not count, so that no method pays for memory that the machine touches for the first time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent
WAYS = {
    "floor-pages": "floor: read pages, one scan",
    "floor-stream": "floor: read a streamed list, one scan",
    "floor-keep": "read pages, one scan, keep the bytes",
    "cache-pages": "pyctrl cache, list pages",
    "cache-stream": "pyctrl cache, streamed list",
    "reads": "reads of one Deployment",
}
Results = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Target:
    """An upper limit on one number as a multiple of another."""

    name: str
    limit: float
    ratio: Callable[[Results, int], float]

    def measured(self, results: Results, object_bytes: int) -> float | None:
        """Return the result; None if a needed method was left out."""
        try:
            return self.ratio(results, object_bytes)
        except KeyError:
            return None


def _cpu(way: str, other: str) -> Callable[[Results, int], float]:
    return lambda results, _: results[way]["sync"] / results[other]["sync"]


def _lap(way: str, lap: str, other: str) -> Callable[[Results, int], float]:
    return lambda results, _: results[way][lap] / results[way][other]


def _peak(way: str) -> Callable[[Results, int], float]:
    return lambda results, object_bytes: results[way]["peak"] / object_bytes


TARGETS = (
    Target("CPU, list pages / floor", 1.5, _cpu("cache-pages", "floor-pages")),
    Target("CPU, streamed list / floor", 1.5, _cpu("cache-stream", "floor-stream")),
    Target("CPU, watch event / listed object (pages)", 2.0, _lap("cache-pages", "events", "sync")),
    Target("CPU, watch event / listed object (stream)", 2.0, _lap("cache-stream", "events", "sync")),
    Target("memory, list pages / bytes of objects", 1.6, _peak("cache-pages")),
    Target("memory, streamed list / bytes of objects", 1.6, _peak("cache-stream")),
    Target("typed read / pydantic's model_validate_json", 1.5, _lap("reads", "read-typed", "read-model")),
    Target("untyped read / bare decode", 1.3, _lap("reads", "read-untyped", "read-dict")),
)


@contextmanager
def _server(objects: int, size: int) -> Iterator[dict[str, int]]:
    command = [sys.executable, str(HERE / "_prepared_server.py"), "--objects", str(objects), "--size", str(size)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.stdin.close()


def _measure(way: str, server: dict[str, int], objects: int) -> dict[str, float]:
    job = {"way": way, "server": f"http://127.0.0.1:{server['port']}", "objects": objects, "end": server["end"]}
    command = [sys.executable, str(HERE / "_ways.py"), json.dumps(job)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, float] = json.loads(ran.stdout)
    return result


def _medians(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: median(run[name] for run in runs) for name in runs[0]}


def measure(ways: list[str], *, objects: int, size: int, runs: int) -> tuple[Results, int]:
    """Run every method this many times, in turns; return the medians and the bytes of the objects."""
    with _server(objects, size) as server:
        collected: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
        for number in range(runs + 1):
            for way in reversed(ways):  # the largest first, so that memory is touched before the others
                result = _measure(way, server, objects)
                if number:
                    collected[way].append(result)
        return {way: _medians(collected[way]) for way in ways}, server["bytes"]


def table(results: Results, object_bytes: int, objects: int) -> str:
    """Print the results."""
    lines = [f"| {'way':40} | CPU µs/object | events µs/object | peak MB over base | × objects' bytes |"]
    lines.append(f"|{'-' * 42}|{'-' * 15}|{'-' * 18}|{'-' * 19}|{'-' * 18}|")
    for way, result in results.items():
        if "sync" not in result:
            continue
        cpu, peak = result["sync"] / objects * 1e6, result["peak"]
        events = f"{result['events'] / objects * 1e6:.1f}" if "events" in result else ""
        lines.append(
            f"| {WAYS[way]:40} | {cpu:13.1f} | {events:>16} | {peak / 1e6:17.0f} | {peak / object_bytes:16.2f} |"
        )
    reads = {n: s for result in results.values() for n, s in result.items() if n.startswith("read-")}
    lines += ["", *(f"{name}: {seconds * 1e6:.1f} µs" for name, seconds in reads.items())]
    return "\n".join(lines)


def verdicts(results: Results, object_bytes: int) -> tuple[str, bool]:
    """Compare with the targets; return whether all measured ones are met."""
    lines, is_met = (
        [f"| {'target':44} | at most | measured |       |", f"|{'-' * 46}|---------|----------|-------|"],
        True,
    )
    for target in TARGETS:
        measured = target.measured(results, object_bytes)
        if measured is None:
            continue
        word = "ok" if measured <= target.limit else "MISS"
        is_met = is_met and measured <= target.limit
        lines.append(f"| {target.name:44} | {target.limit:7.3f} | {measured:8.3f} | {word:5} |")
    return "\n".join(lines), is_met


def main() -> int:
    """Measure, print, and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--objects", type=int, default=50_000, help="how many objects (default %(default)s)")
    parser.add_argument("--size", type=int, default=4000, help="bytes of each object (default %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="runs of each way that count (default %(default)s)")
    parser.add_argument("--only", action="append", choices=list(WAYS), help="only this way; may be given again")
    parser.add_argument("--check", action="store_true", help="end with 1 if a target is missed")
    options = parser.parse_args()
    ways = [way for way in WAYS if not options.only or way in options.only]
    results, object_bytes = measure(ways, objects=options.objects, size=options.size, runs=options.runs)
    compared, is_met = verdicts(results, object_bytes)
    print(
        f"{options.objects:,} pods, {object_bytes / options.objects:.0f} bytes each; medians of {options.runs} runs\n"
    )
    print(table(results, object_bytes, options.objects))
    print()
    print(compared)
    return 1 if options.check and not is_met else 0


if __name__ == "__main__":
    sys.exit(main())
