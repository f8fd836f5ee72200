"""pyctrl and its peers: the same work and server, in turns, each in a fresh process that is measured from outside.

One call prints a table for each line of work. It writes one JSON file after every run, so that an interruption loses
nothing. Each peer does each work once before it counts.
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
from types import FrameType

import _operators
from _limits import limits
from _lines import LINES
from _machine import machine
from _options import options, parts, profile_of, profiled
from _peers import HERE, PEERS, Unavailable, environment
from _plans import Wanted, minutes, wanted
from _process import PeerFailed, Process
from _profile import Profile, named, overview, put, read, table
from _report import report
from _results import Call, Results
from _works import OPERATOR_WORKS, Case, Numbers, Pace, Server, run, serving
from peers._profiler import LOAD

QUICK = Pace(settle=0.3, reads=0.2, idle=1.0, writes=2.0)
INTERRUPTED = 130  # the exit code of a shell after Ctrl-C
FEW = 50  # PodSets that suffice for a first try


class Suite:
    """Runs every case with every peer, in turns."""

    def __init__(self, plan: Wanted, results: Results, told: argparse.Namespace) -> None:
        self._plan, self._results, self._told = plan, results, told
        self._call = results.calls[-1]
        self._pace = QUICK if told.plan == "quick" else Pace()
        self._commands: dict[tuple[str, bool], list[str]] = {}
        self._tried: set[tuple[str, str]] = set()
        self._number = 0  # of the current round; a first try has that of its round

    def build(self) -> None:
        """Build the peers; print a message for each that cannot be built, and skip it."""
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
                for number in range(1, self._told.runs + 1):
                    self._number = number
                    is_well &= self._round(together, server)
        return is_well

    def _round(self, together: list[Case], server: Server | None) -> bool:
        is_well = True
        for case, peer in self._turns(together):
            try:
                self._try(case, peer, server)
                _tell(f"round {self._number}: {case.work}, {case.title}, {peer}")
                self._count(case, peer, server)
            except PeerFailed as reason:
                what = f"{peer}, {case.work}, {case.title}"
                self._call.failures[what] = str(reason)
                print(f"{what}: {reason}", file=sys.stderr, flush=True)
                is_well = False
        _tell("")
        return is_well

    def _try(self, case: Case, peer: str, server: Server | None) -> None:
        """Run a first try without counting, because it creates bytecode and other caches."""
        if (case.work, peer) not in self._tried:
            self._tried.add((case.work, peer))
            _tell(f"first try: {case.work}, {peer}")
            self._measured(_tried(case), peer, server)

    def _count(self, case: Case, peer: str, server: Server | None) -> None:
        begun, numbers = time.monotonic(), Numbers()
        try:
            numbers = self._measured(case, peer, server)
        except PeerFailed as reason:
            numbers = reason.numbers
            raise
        finally:
            if numbers:
                self._results.add(case, peer, {**numbers, "round_wall": time.monotonic() - begun})
                self._results.save(self._told.out)

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
        command = [*self._started(peer), "--server", server.url, *case.arguments]
        with Process(command, HERE, {**environment(), **self._profile()}, is_loud=self._told.loud) as process:
            self._call.versions.setdefault(peer, {}).update(process.started.facts["versions"])
            return run(case, process, server, self._pace)

    def _started(self, peer: str) -> list[str]:
        """Return the command that starts a peer, under the profiler from the first import if that is profiled."""
        command = self._commands[peer, False]
        if self._told.profile and LINES[self._told.profile].profile.first == LOAD:
            module = command.index("-m") + 1
            command = [*command[:module], "peers._profiler", *command[module:]]
        return command

    def _profile(self) -> dict[str, str]:
        if not self._told.profile:
            return {}
        span = LINES[self._told.profile].profile
        path = profile_of(self._told, self._number)
        return {"BENCHMARK_PROFILE": f"{span.first} {span.last} {span.nth} {path}"}


@contextmanager
def _server(case: Case) -> Iterator[Server | None]:
    """Run the server that similar cases share; whole operators have their own each time."""
    if case.work in OPERATOR_WORKS:
        yield None
        return
    with serving(*case.server) as server:
        yield server


def _tried(case: Case) -> Case:
    """Return the case of the first try."""
    return replace(case, objects=min(FEW, case.objects)) if case.work == "loop" else case


def _tell(what: str) -> None:
    """Show the progress on a terminal."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{what}", end="", file=sys.stderr, flush=True)


def measure(told: argparse.Namespace) -> tuple[Results, int]:
    """Measure the cases until they are done or interrupted; return the results and the exit code."""
    results = Results.load(told.add_to) if told.add_to and told.add_to.exists() else Results()
    said = {
        name: value
        for name, value in vars(told).items()
        if name not in {"out", "add_to", "show", "loud", "long", "limits", "into"}
    }
    call = Call(machine(), said)
    results.calls.append(call)
    plan = _first(wanted(parts(told), told.only, told.peers), told.profile)
    if not told.profile:
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


def _first(plan: Wanted, line: str | None) -> Wanted:
    """Return only the first case of a profiled line."""
    if line is None:
        return plan
    case = next(case for case in plan if case.work == LINES[line].works[0])
    return {case: plan[case]}


def _chosen(results: Results, told: argparse.Namespace) -> Results:
    """Remove the sizes and peers that the flags do not name."""
    wanted = {"objects": told.objects, "size": told.size, "kind": told.kinds, "lists": told.lists}
    rows = {
        case: {peer: row for peer, row in peers.items() if peer in told.peers}
        for case, peers in results.rows.items()
        if all(not names or getattr(case, name) in names for name, names in wanted.items())
    }
    return replace(results, rows=rows)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def inside(told: argparse.Namespace) -> int:
    """Profile each selected line, or measure the limits' components; print the tables and insert them into the page."""
    tables: dict[str, str] = {}
    if told.limits:
        tables["limits"] = limits()
    profiles: dict[str, Profile] = {}
    for name in told.profile or ():
        _, code = measure(one := profiled(told, name))
        if code:
            print(f"{name}: it did not do its work; see what it says with --loud", file=sys.stderr)
            return code
        profiles[named(name)] = read([profile_of(one, number) for number in range(1, one.runs + 1)])
    tables |= {f"profile {name}": table(profile) for name, profile in profiles.items()}
    if len(profiles) > 1:
        tables["profiles"] = overview(profiles)
    for name, made in tables.items():
        print(f"{name}\n\n{made}\n")
    if told.into:
        told.into.write_text(put(told.into.read_text(encoding="utf-8"), tables), encoding="utf-8")
    return 0


def main() -> int:
    """Build, measure, print; exit with 1 if a peer failed, and with 130 after an interruption."""
    told = options(__doc__)
    signal.signal(signal.SIGTERM, _interrupt)
    if told.profile or told.limits:
        return inside(told)
    results, code = (_chosen(Results.load(told.show), told), 0) if told.show else measure(told)
    if results.rows:
        print(report(results, told.only, is_long=told.long))
    return code


if __name__ == "__main__":
    sys.exit(main())
