"""From runs to medians, a table for each line, and a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any

from _lines import LINES, Column, belongs
from _works import Case, Numbers

OURS = "pyctrl"


@dataclass
class Results:
    """Everything that was measured."""

    runs: dict[Case, dict[str, list[Numbers]]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    object_bytes: dict[tuple[str, int, int], int] = field(default_factory=dict)

    def add(self, case: Case, peer: str, numbers: Numbers) -> None:
        """Note a run."""
        self.runs.setdefault(case, {}).setdefault(peer, []).append(numbers)

    def median(self, case: Case, peer: str, name: str) -> float | None:
        """Return the median of a number over the runs."""
        values = [numbers[name] for numbers in self.runs[case].get(peer, []) if name in numbers]
        return median(values) if values else None

    def summary(self) -> list[dict[str, Any]]:
        """Return each case with each peer: medians, extremes, runs, and what ours takes of it."""
        return [
            {**asdict(case), "peer": peer, "numbers": {name: self._spread(case, peer, name) for name in runs[0]}}
            for case, peers in self.runs.items()
            for peer, runs in peers.items()
        ]

    def _spread(self, case: Case, peer: str, name: str) -> dict[str, Any]:
        values = [numbers[name] for numbers in self.runs[case][peer]]
        ours, theirs = self.median(case, OURS, name) if OURS in self.runs[case] else None, median(values)
        ratio = ours / theirs if ours is not None and theirs else None
        return {"median": theirs, "low": min(values), "high": max(values), "pyctrl_of_it": ratio, "runs": values}


def tables(results: Results, lines: Iterable[str]) -> str:
    """Return a table for each line and case."""
    parts = [
        _table(results, name, case)
        for name in lines
        for case in results.runs
        if belongs(name, case) and results.runs[case]
    ]
    return "\n\n".join(parts)


def _table(results: Results, name: str, case: Case) -> str:
    line = LINES[name]
    heads = ["peer"]
    for column in line.columns:
        heads += [column.heading, "×"]
    rows = [[peer, *_cells(results, case, peer, line.columns)] for peer in results.runs[case]]
    return f"{line.title}: {_title(case)}\n\n" + _markdown(heads, rows)


def _title(case: Case) -> str:
    workers = f", workers {case.workers}" if case.work == "reconcile" else ""
    return f"{case.objects:,} {case.kind} of {case.size:,} bytes, lists by {case.lists}{workers}"


def _cells(results: Results, case: Case, peer: str, columns: Iterable[Column]) -> Iterable[str]:
    """Yield the median of each number with the widest deviation, and how many times ours that is."""
    for column in columns:
        values = [numbers[column.name] for numbers in results.runs[case][peer]]
        middle = median(values)
        off = max(abs(value - middle) for value in values) / middle if middle else 0.0
        ours = results.median(case, OURS, column.name)
        yield f"{_number(middle * column.scale)} ±{off:.0%}"
        yield f"{middle / ours:.2f}" if ours else ""


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _markdown(heads: list[str], rows: list[list[str]]) -> str:
    widths = [max(len(row[n]) for row in (heads, *rows)) for n in range(len(heads))]

    def line(cells: list[str]) -> str:
        padded = (
            cell.rjust(width) if n else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    return "\n".join([line(heads), f"|{'|'.join('-' * (width + 2) for width in widths)}|", *map(line, rows)])


def document(
    results: Results, facts: Mapping[str, object], versions: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """Return everything, for a file. Seconds and bytes; CPU is that of one object, event, read or reconcile."""
    sizes = {f"{objects} {kind} of {size}": total for (kind, objects, size), total in results.object_bytes.items()}
    return {
        "machine": facts,
        "versions": versions,
        "object_bytes": sizes,
        "failures": results.failures,
        "results": results.summary(),
    }
