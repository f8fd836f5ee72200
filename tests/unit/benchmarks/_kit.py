"""Made-up results in the format of run.py."""

from __future__ import annotations

from _results import Call, Results
from _works import Case


def case(objects: int = 10_000, size: int = 4096, work: str = "cache", kind: str = "widgets") -> Case:
    return Case(work, kind, objects, size, "stream")


def results(rows: dict[Case, dict[str, dict[str, float]]], runs: int = 1) -> Results:
    """Return one call that measured these numbers, the same in each run."""
    made = Results(calls=[Call({}, {}, is_complete=True)])
    for each, peers in rows.items():
        for peer, numbers in peers.items():
            for _ in range(runs):
                made.add(each, peer, numbers)
    return made
