"""Lines of the results table: the works of each line, and its numbers."""

from __future__ import annotations

from dataclasses import dataclass

from _works import Case
from peers._profiler import LOAD


@dataclass(frozen=True)
class Column:
    """A number of a line: its name in the results, its heading, and its divisor for display.

    Attributes:
        is_limited: whether the peer "limit" measures its physical limit.
        is_compared: whether the table shows its multiple of ours.
    """

    name: str
    heading: str
    scale: float
    is_limited: bool = False
    is_compared: bool = True


MICRO, MILLI, MEGABYTES = 1e6, 1e3, 1e-6


@dataclass(frozen=True)
class Span:
    """The part of a work that a line measures: from before one command to after another, the first time they occur.

    Attributes:
        nth: use this occurrence instead.
    """

    first: str
    last: str
    nth: int = 1


@dataclass(frozen=True)
class Line:
    """One line of work.

    Attributes:
        profile: the part of the work that is profiled.
        variants: repetitions within one run, with their labels: a row for each. The names of columns have a placeholder
            for it.
    """

    title: str
    works: tuple[str, ...]
    columns: tuple[Column, ...]
    profile: Span
    variants: tuple[str, tuple[int, ...]] | None = None


LINES = {
    "sync": Line(
        "initial sync, CPU per object",
        ("cache",),
        (Column("sync_cpu", "µs/object", MICRO, is_limited=True), Column("sync_wall", "wall s", 1)),
        Span("sync", "sync"),
    ),
    "events": Line(
        "watch events, CPU per event",
        ("cache",),
        (Column("events_cpu", "µs/event", MICRO, is_limited=True), Column("events_wall", "wall s", 1)),
        Span("follow", "follow"),
    ),
    "memory": Line(
        "memory",
        ("cache",),
        (
            Column("ready_bytes", "MB before", MEGABYTES, is_compared=False),
            Column("synced_bytes", "MB synced", MEGABYTES),
            Column("steady_bytes", "MB after events", MEGABYTES),
            Column("sync_peak_bytes", "MB peak", MEGABYTES, is_compared=False),
            Column("relist_peak_bytes", "MB relist peak", MEGABYTES),
            Column("relist_cpu", "relist µs/object", MICRO, is_limited=True),
        ),
        Span("follow", "follow", 2),  # the relist
    ),
    "reads": Line(
        "cached reads, CPU",
        ("reads",),
        (
            Column("get_cpu", "get µs", MICRO, is_limited=True),
            Column("label_cpu", "by label ms", MILLI, is_limited=True),
            Column("index_cpu", "by index ms", MILLI, is_limited=True),
            Column("sync_cpu", "sync with index µs/object", MICRO),
        ),
        Span("get", "index"),
    ),
    "reconcile": Line(
        "no-op reconciles, CPU each, from the event on",
        ("reconcile",),
        (
            Column("reconcile_cpu", "µs/reconcile", MICRO, is_limited=True),
            Column("reconcile_wall", "wall s", 1),
            Column("sync_cpu", "first list µs/object", MICRO),
        ),
        Span("follow", "follow"),
    ),
    "start": Line(
        "start with one object",
        ("reconcile",),
        (
            Column("ready_cpu", "load CPU ms", MILLI),
            Column("ready_wall", "load ms", MILLI),
            Column("sync_wall", "to first reconcile ms", MILLI),
            Column("idle_bytes", "MB idle", MEGABYTES),
            Column("idle_cpu", "idle CPU ms/s", MILLI),
        ),
        Span(LOAD, "sync"),
    ),
    "loop": Line(
        "the whole loop: created at once until all have converged",
        ("loop",),
        (
            Column("converge_cpu", "CPU ms/object", MILLI),
            Column("converge_calls", "calls/object", 1),
            Column("converge_writes", "writes/object", 1),
            Column("converge_wall", "wall s", 1),
            Column("converge_bytes", "MB peak", MEGABYTES),
        ),
        Span("start", "latencies"),
    ),
    "latency": Line(
        "from write to reconcile",
        ("latency",),
        (
            Column("latency_{}_median", "median ms", MILLI, is_limited=True),
            Column("latency_{}_99th", "99th ms", MILLI),
            Column("latency_{}_cpu", "CPU ms/write", MILLI, is_limited=True),
            Column("latency_{}_seen", "seen of written", 1, is_compared=False),
        ),
        Span("start", "latencies"),
        ("writes/s", (100, 1_000)),
    ),
    "restart": Line(
        "restart with converged objects",
        ("restart", "loop"),
        (
            Column("restart_wall", "s until quiet", 1),
            Column("restart_cpu", "CPU s", 1),
            Column("restart_object_cpu", "CPU µs/object", MICRO, is_limited=True),
            Column("restart_calls", "calls", 1),
            Column("restart_writes", "writes", 1),
            Column("restart_bytes", "MB", MEGABYTES),
        ),
        Span("start", "latencies"),
    ),
}


def belongs(name: str, case: Case) -> bool:
    """Whether a line shows a case. A case with one object belongs only to the line that measures the start."""
    return case.work in LINES[name].works and (name == "start") == (case.work == "reconcile" and case.objects == 1)
