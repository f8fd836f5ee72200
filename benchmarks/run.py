"""pyctrl beside its peers: the same work, the same server, in turns, each in a fresh process measured from outside.

One call prints a table for each line of work and writes one JSON file, after every run, so that nothing is lost when
it is interrupted. Each peer does each work once before it counts.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from types import FrameType

import _operators
from _lines import LINES
from _machine import machine
from _peers import HERE, PEERS, Unavailable, environment
from _plans import PLANS, START, Part, Wanted, minutes, operators, wanted
from _process import PeerFailed, Process
from _report import report
from _results import OURS, Call, Results
from _works import OPERATOR_WORKS, Case, Numbers, Pace, Server, run, serving

QUICK = Pace(settle=0.3, reads=0.2, idle=1.0, writes=2.0)
INTERRUPTED = 130  # what a shell says of who was ended by Ctrl-C
FEW = 50  # PodSets that are enough to have tried


class Suite:
    """Runs every case with every peer, in turns."""

    def __init__(self, plan: Wanted, results: Results, told: argparse.Namespace) -> None:
        self._plan, self._results, self._told = plan, results, told
        self._call = results.calls[-1]
        self._pace = QUICK if told.plan == "quick" else Pace()
        self._commands: dict[tuple[str, bool], list[str]] = {}
        self._tried: set[tuple[str, str]] = set()

    def build(self) -> None:
        """Build the peers; who cannot be built is skipped with a word."""
        for peer, work in dict.fromkeys((peer, case.work) for case, peers in self._plan.items() for peer in peers):
            key = (peer, work in OPERATOR_WORKS)
            if key in self._commands or peer in self._call.failures:
                continue
            try:
                self._commands[key] = PEERS[peer].command(work)
            except Unavailable as reason:
                self._call.failures[peer] = str(reason)
                print(f"without {peer}: {reason}", file=sys.stderr)

    def run(self) -> bool:
        """Measure; return whether every peer did its work. Cases with the same objects share a server."""
        is_well = True
        for _, group in groupby(self._plan, lambda case: case.server):
            together = list(group)
            with _server(together[0]) as server:
                if server:
                    self._results.object_bytes[together[0].server] = server.object_bytes
                for number in range(self._told.runs):
                    is_well &= self._round(together, server, number + 1)
        return is_well

    def _round(self, together: list[Case], server: Server | None, number: int) -> bool:
        is_well = True
        for case, peer in self._turns(together):
            try:
                if (case.work, peer) not in self._tried:
                    self._tried.add((case.work, peer))
                    _tell(f"first try: {case.work}, {peer}")
                    self._measured(_tried(case), peer, server)
                _tell(f"round {number}: {case.work}, {case.title}, {peer}")
                begun = time.monotonic()
                numbers = self._measured(case, peer, server)
                self._results.add(case, peer, {**numbers, "round_wall": time.monotonic() - begun})
                self._results.save(self._told.out)
            except PeerFailed as reason:
                self._call.failures[f"{peer}, {case.work}, {case.title}"] = str(reason)
                is_well = False
        _tell("")
        return is_well

    def _turns(self, together: list[Case]) -> Iterator[tuple[Case, str]]:
        for case in together:
            for peer in self._plan[case]:
                if (peer, case.work in OPERATOR_WORKS) in self._commands:
                    yield case, peer

    def _measured(self, case: Case, peer: str, server: Server | None) -> Numbers:
        if server is None:
            operator = _operators.Operator(self._commands[peer, True], self._profile(), self._told.loud)
            numbers, versions = _operators.run(case, operator, self._pace)
            self._call.versions.setdefault(peer, {}).update(versions)
            return numbers
        server.tell("reset", lists=case.lists)
        command = [*self._commands[peer, False], "--server", server.url, *case.arguments]
        with Process(command, HERE, {**environment(), **self._profile()}, is_loud=self._told.loud) as process:
            self._call.versions.setdefault(peer, {}).update(process.started.facts["versions"])
            return run(case, process, server, self._pace)

    def _profile(self) -> dict[str, str]:
        if not (line := self._told.profile):
            return {}
        return {"BENCHMARK_PROFILE": " ".join((*LINES[line].profile, str(self._told.out.parent / f"{line}.profile")))}


@contextmanager
def _server(case: Case) -> Iterator[Server | None]:
    """Run the server that a case shares with its like; whole operators have one of their own each time."""
    if case.work in OPERATOR_WORKS:
        yield None
        return
    with serving(*case.server) as server:
        yield server


def _tried(case: Case) -> Case:
    """Return what is tried before it counts."""
    return replace(case, objects=min(FEW, case.objects)) if case.work == "loop" else case


def _tell(what: str) -> None:
    """Show how far it is, where somebody looks."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{what}", end="", file=sys.stderr, flush=True)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plan", choices=list(PLANS), default="standard", help="default: %(default)s")
    parser.add_argument("--quick", action="store_const", dest="plan", const="quick", help="--plan quick: does it work?")
    parser.add_argument("--only", nargs="+", choices=list(LINES), metavar="LINE", help=", ".join(LINES))
    parser.add_argument("--peers", nargs="+", choices=list(PEERS), metavar="PEER", help=", ".join(PEERS))
    parser.add_argument("--runs", type=int, help="that count; default: 5, in the quick plan 1")
    plan = parser.add_argument_group("instead of what the plan has, by all peers that can")
    plan.add_argument("--objects", nargs="+", type=int, help="how many custom resources or pods; default: 10000")
    plan.add_argument("--size", nargs="+", type=int, help="bytes of each; default: 4096")
    plan.add_argument("--kinds", nargs="+", choices=["widgets", "pods"], help="default: widgets")
    plan.add_argument("--lists", nargs="+", choices=["stream", "pages"], help="default: stream")
    plan.add_argument("--workers", nargs="+", type=int, help="of no-op reconciles; default: 1 16")
    plan.add_argument("--podsets", type=int, help="of the whole loop, and of restarts; default: 1000, 10000")
    parser.add_argument("--out", type=Path, help="the JSON file; default: benchmarks/.cache/results.json")
    parser.add_argument("--add-to", type=Path, metavar="FILE", help="take in what FILE has, and write it")
    parser.add_argument("--show", type=Path, metavar="FILE", help="print FILE, or what flags choose of it")
    parser.add_argument("--long", action="store_true", help="print the table of all peers for every size, too")
    parser.add_argument("--build", action="store_true", help="build what is wanted and measure nothing")
    parser.add_argument("--profile", choices=list(LINES), metavar="LINE", help="where pyctrl's CPU time goes in it")
    parser.add_argument("--loud", action="store_true", help="show what peers print on stderr")
    return _completed(parser.parse_args())


def _completed(told: argparse.Namespace) -> argparse.Namespace:
    if told.profile:
        told.only, told.peers, told.runs = [told.profile], [OURS], 1
    told.only, told.peers = told.only or list(LINES), told.peers or list(PEERS)
    told.runs = told.runs or (1 if told.plan == "quick" else 5)
    told.out = (told.out or told.add_to or HERE / ".cache" / "results.json").absolute()
    return told


def parts(told: argparse.Namespace) -> tuple[Part, ...]:
    """Return what is to be done: the plan, or what the command line says instead."""
    if not any((told.objects, told.size, told.kinds, told.lists, told.workers, told.podsets)):
        return PLANS[told.plan]
    objects, sizes = told.objects or [10_000], told.size or [4096]
    lists, kinds = told.lists or ["stream"], told.kinds or ["widgets"]
    return (
        Part("cache", objects=objects, sizes=sizes, kinds=kinds, lists=lists),
        Part("reads", objects=objects, sizes=sizes, lists=lists[:1]),
        Part("reconcile", objects=objects, sizes=sizes, lists=lists[:1], workers=told.workers or (1, 16)),
        START,
        *operators(told.podsets or 1_000, told.podsets or 10_000),
    )


def measure(told: argparse.Namespace) -> tuple[Results, int]:
    """Do what is wanted, until it is done or interrupted; return that, and what the process shall say at its end."""
    results = Results.load(told.add_to) if told.add_to and told.add_to.exists() else Results()
    said = {name: value for name, value in vars(told).items() if name not in {"out", "add_to", "show", "loud", "long"}}
    call = Call(machine(), said)
    results.calls.append(call)
    plan = _first(wanted(parts(told), told.only, told.peers), told.profile)
    least = minutes(plan, told.runs) * (0.3 if told.plan == "quick" else 1.0)
    print(f"about {least:.0f} minutes on a quiet machine, once all is built", file=sys.stderr, flush=True)
    suite, code = Suite(plan, results, told), INTERRUPTED
    try:
        suite.build()
        if told.build:
            return Results(), 1 if call.failures else 0
        code = 0 if suite.run() else 1
        call.is_complete = True
    except KeyboardInterrupt:
        _tell("")
        print("interrupted: this is what there is", file=sys.stderr)
    results.save(told.out)
    return results, code


def _first(plan: Wanted, profiled: str | None) -> Wanted:
    """Return only the first case of a line that is profiled: each writes the same file."""
    if profiled is None:
        return plan
    case = next(case for case in plan if case.work == LINES[profiled].works[0])
    return {case: plan[case]}


def _chosen(results: Results, told: argparse.Namespace) -> Results:
    """Leave out what the flags for sizes and peers do not name."""
    wanted = {"objects": told.objects, "size": told.size, "kind": told.kinds, "lists": told.lists}
    rows = {
        case: {peer: row for peer, row in peers.items() if peer in told.peers}
        for case, peers in results.rows.items()
        if all(not names or getattr(case, name) in names for name, names in wanted.items())
    }
    return replace(results, rows=rows)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def main() -> int:
    """Build, measure, print; end with 1 if a peer failed at its work, with 130 if it was interrupted."""
    told = options()
    signal.signal(signal.SIGTERM, _interrupt)
    results, code = (_chosen(Results.load(told.show), told), 0) if told.show else measure(told)
    if results.rows:
        print(report(results, told.only, is_long=told.long))
    if told.profile and not told.show:
        print(f"\nthe profile: {told.out.parent / told.profile}.profile")
    return code


if __name__ == "__main__":
    sys.exit(main())
