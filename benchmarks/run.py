"""pyctrl beside its peers: the same work, the same server, in turns, each in a fresh process measured from outside.

One run prints a table for each line of work and writes one JSON file. Numbers are medians; ± is the widest deviation of
a run; × is how many times pyctrl's number that is. One round comes first and does not count.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from _lines import LINES, Sizes, cases
from _machine import machine
from _peers import HERE, PEERS, Unavailable, environment
from _process import PeerFailed, Process
from _report import Results, document, tables
from _works import Case, Pace, Server, run, serving

QUICK = Pace(settle=0.3, reads=0.2, idle=1.0)


def built(names: list[str], results: Results) -> dict[str, list[str]]:
    """Build the peers and return what starts each; who cannot be built is skipped with a word."""
    commands: dict[str, list[str]] = {}
    for name in names:
        try:
            commands[name] = PEERS[name].command()
        except Unavailable as reason:
            results.failures[name] = str(reason)
            print(f"without {name}: {reason}", file=sys.stderr)
    return commands


class Suite:
    """Runs every case with every peer, in turns."""

    def __init__(self, commands: dict[str, list[str]], results: Results, pace: Pace, *, is_loud: bool) -> None:
        self._commands, self._results, self._pace, self._is_loud = commands, results, pace, is_loud
        #: What each peer says it is made of.
        self.versions: dict[str, dict[str, str]] = {}

    def run(self, wanted: list[Case], runs: int) -> None:
        """Measure. Cases with the same objects share a server."""

        def objects(case: Case) -> tuple[str, int, int]:
            return case.kind, case.objects, case.size

        for shared, group in groupby(sorted(wanted, key=objects), objects):
            together = list(group)
            with serving(*shared) as server:
                self._results.object_bytes[shared] = server.object_bytes
                for number in range(runs + 1):
                    self._round(together, server, number)

    def _round(self, together: list[Case], server: Server, number: int) -> None:
        for case, peer in self._turns(together):
            _tell(f"round {number}: {case.work}, {case.lists}, {peer}")
            try:
                with self._started(case, peer, server) as process:
                    self.versions[peer] = dict(process.started.facts["versions"])
                    numbers = run(case, process, server, self._pace)
            except PeerFailed as reason:
                self._results.failures[f"{peer}, {case.work}"] = str(reason)
                continue
            if number:
                self._results.add(case, peer, numbers)
        _tell("")

    def _turns(self, together: list[Case]) -> Iterator[tuple[Case, str]]:
        for case in together:
            for peer in self._commands:
                if PEERS[peer].can(case.work, case.kind, case.lists):
                    yield case, peer

    def _started(self, case: Case, peer: str, server: Server) -> Process:
        server.tell("reset", lists=case.lists)
        command = [*self._commands[peer], "--server", server.url, *case.arguments]
        return Process(command, HERE, environment(), is_loud=self._is_loud)


def _tell(what: str) -> None:
    """Show how far it is, where somebody looks."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{what}", end="", file=sys.stderr, flush=True)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--only", nargs="+", choices=list(LINES), default=list(LINES), metavar="LINE", help=", ".join(LINES)
    )
    parser.add_argument(
        "--peers", nargs="+", choices=list(PEERS), default=list(PEERS), metavar="PEER", help=", ".join(PEERS)
    )
    parser.add_argument("--objects", nargs="+", type=int, default=[10_000], help="how many; default: 10000")
    parser.add_argument("--size", nargs="+", type=int, default=[4096], help="bytes of each; default: 4096")
    parser.add_argument("--kinds", nargs="+", choices=["widgets", "pods"], default=["widgets"], help="default: widgets")
    parser.add_argument(
        "--lists", nargs="+", choices=["stream", "pages"], default=["stream", "pages"], help="default: both"
    )
    parser.add_argument("--workers", nargs="+", type=int, default=[1, 16], help="of reconciles; default: 1 16")
    parser.add_argument("--runs", type=int, default=5, help="that count; default: %(default)s")
    parser.add_argument("--quick", action="store_true", help="1,000 objects, one run, no patience: whether it works")
    parser.add_argument("--out", type=Path, default=HERE / ".cache" / "results.json", help="the JSON file")
    parser.add_argument("--loud", action="store_true", help="show what peers print on stderr")
    return parser.parse_args()


def main() -> int:
    """Build, measure, print; end with 1 if a peer failed at its work."""
    told = options()
    if told.quick:
        told.objects, told.runs = [1_000], 1
    results, facts = Results(), machine()
    suite = Suite(built(told.peers, results), results, QUICK if told.quick else Pace(), is_loud=told.loud)
    unbuilt = len(results.failures)
    sizes = Sizes(*map(tuple, (told.objects, told.size, told.kinds, told.lists, told.workers)))
    suite.run(cases(told.only, sizes), told.runs)
    print(tables(results, told.only))
    for peer, reason in results.failures.items():
        print(f"\n{peer}: {reason}")
    told.out.parent.mkdir(parents=True, exist_ok=True)
    told.out.write_text(json.dumps(document(results, facts, suite.versions), indent=1) + "\n", encoding="utf-8")
    return 1 if len(results.failures) > unbuilt else 0


if __name__ == "__main__":
    sys.exit(main())
