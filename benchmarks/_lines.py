"""The lines of the table: which work each needs, and which of its numbers it shows."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from _works import Case


@dataclass(frozen=True)
class Column:
    """A number of a line: its name in the results, its heading, and how many of its units make one that is shown."""

    name: str
    heading: str
    scale: float


MICRO, MILLI, MEGABYTES = 1e6, 1e3, 1e-6


@dataclass(frozen=True)
class Line:
    """One line of work."""

    title: str
    work: str
    columns: tuple[Column, ...]


LINES = {
    "sync": Line(
        "initial sync, CPU per object",
        "cache",
        (Column("sync_cpu", "µs/object", MICRO), Column("sync_wall", "wall s", 1)),
    ),
    "events": Line(
        "watch events, CPU per event",
        "cache",
        (Column("events_cpu", "µs/event", MICRO), Column("events_wall", "wall s", 1)),
    ),
    "memory": Line(
        "memory",
        "cache",
        (
            Column("ready_bytes", "MB before", MEGABYTES),
            Column("synced_bytes", "MB synced", MEGABYTES),
            Column("steady_bytes", "MB after events", MEGABYTES),
            Column("sync_peak_bytes", "MB peak", MEGABYTES),
            Column("relist_peak_bytes", "MB relist peak", MEGABYTES),
            Column("relist_cpu", "relist µs/object", MICRO),
        ),
    ),
    "reads": Line(
        "cached reads, CPU",
        "reads",
        (
            Column("get_cpu", "get µs", MICRO),
            Column("label_cpu", "by label ms", MILLI),
            Column("index_cpu", "by index ms", MILLI),
            Column("sync_cpu", "sync with index µs/object", MICRO),
        ),
    ),
    "reconcile": Line(
        "no-op reconciles, CPU each, from the event on",
        "reconcile",
        (
            Column("reconcile_cpu", "µs/reconcile", MICRO),
            Column("reconcile_wall", "wall s", 1),
            Column("sync_cpu", "first list µs/object", MICRO),
        ),
    ),
    "start": Line(
        "start with one object",
        "reconcile",
        (
            Column("ready_cpu", "load CPU ms", MILLI),
            Column("ready_wall", "load ms", MILLI),
            Column("sync_wall", "to first reconcile ms", MILLI),
            Column("idle_bytes", "MB idle", MEGABYTES),
            Column("idle_cpu", "idle CPU ms/s", MILLI),
        ),
    ),
}


@dataclass(frozen=True)
class Sizes:
    """What the lines are measured with."""

    objects: tuple[int, ...]
    sizes: tuple[int, ...]
    kinds: tuple[str, ...]
    lists: tuple[str, ...]
    workers: tuple[int, ...]


def cases(names: list[str], sizes: Sizes) -> list[Case]:
    """Return the cases that these lines need; lines that need the same work share it."""
    found: dict[Case, None] = {}
    for name in names:
        work = LINES[name].work
        if name == "start":
            found[Case(work, "widgets", 1, sizes.sizes[0], "stream")] = None
            continue
        kinds = sizes.kinds if work == "cache" else ("widgets",)
        lists = sizes.lists if work == "cache" else sizes.lists[:1]
        workers = sizes.workers if work == "reconcile" else (1,)
        for values in product(kinds, sizes.objects, sizes.sizes, lists, workers):
            found[Case(work, *values)] = None
    return list(found)


def belongs(name: str, case: Case) -> bool:
    """Whether a case is shown in a line."""
    return LINES[name].work == case.work and (name == "start") == (case.work == "reconcile" and case.objects == 1)
