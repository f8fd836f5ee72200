"""From runs to medians, tables, and a document."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from _loop_operators import OPERATORS
from _report import OURS, _markdown, _number

Column = tuple[str, str, float]
"""A number's name, its heading, and how many of its units make one that is shown."""

CONVERGE: tuple[Column, ...] = (
    ("converge_cpu", "CPU ms/object", 1e3),
    ("converge_calls", "calls/object", 1),
    ("converge_writes", "writes/object", 1),
    ("converge_wall", "wall s", 1),
    ("converge_bytes", "MB peak", 1e-6),
)
RESTART: tuple[Column, ...] = (
    ("restart_cpu", "CPU s", 1),
    ("restart_load_cpu", "of it to load s", 1),
    ("restart_object_cpu", "CPU ms/object", 1e3),
    ("restart_wall", "s until quiet", 1),
    ("restart_calls", "calls", 1),
    ("restart_writes", "writes", 1),
    ("restart_bytes", "MB", 1e-6),
)


@dataclass
class Measured:
    """Everything that was measured, by operator."""

    runs: dict[str, list[Mapping[str, float]]] = field(default_factory=dict)
    calls: dict[str, list[Mapping[str, Mapping[str, int]]]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, numbers: Mapping[str, float], calls: Mapping[str, Mapping[str, int]]) -> None:
        """Note a run."""
        self.runs.setdefault(name, []).append(numbers)
        self.calls.setdefault(name, []).append(calls)

    def median(self, name: str, number: str) -> float | None:
        """Return the median of a number over the runs; None without runs."""
        values = [numbers[number] for numbers in self.runs.get(name, []) if number in numbers]
        return median(values) if values else None


def tables(measured: Measured, told: argparse.Namespace) -> str:
    """Return a table for each line of work, the calls of the last run, and who failed."""
    pods = "run" if told.kubelet else "stay Pending"
    parts = [
        f"{told.objects:,} PodSets of {told.size} created at once (pods {pods}, {told.workers} workers, "
        f"medians of {told.runs} runs)\n\n" + _table(measured, CONVERGE)
    ]
    parts += [
        f"from write to reconcile at {rate:,.0f} writes a second\n\n" + _table(measured, _latency(rate))
        for rate in told.rates
    ]
    parts.append(f"restart with {told.objects:,} converged PodSets\n\n" + _table(measured, RESTART))
    for name, calls in measured.calls.items():
        asked = (f"{part}: {_calls(calls[-1][part])}" for part in ("converge", "restart"))
        parts.append(f"{name} ({OPERATORS[name].says})\n  " + "\n  ".join(asked))
    parts += [f"{name}: {reason}" for name, reason in measured.failures.items()]
    return "\n\n".join(parts)


def _latency(rate: float) -> tuple[Column, ...]:
    name = f"latency_{rate:.0f}_"
    return (
        (f"{name}median", "median ms", 1e3),
        (f"{name}99th", "99th ms", 1e3),
        (f"{name}cpu", "CPU ms/write", 1e3),
        (f"{name}rate", "reached /s", 1),
        (f"{name}seen", "seen of written", 1),
    )


def _calls(calls: Mapping[str, int]) -> str:
    return ", ".join(f"{count} × {call}" for call, count in sorted(calls.items(), key=lambda each: -each[1])) or "none"


def _table(measured: Measured, columns: tuple[Column, ...]) -> str:
    heads = ["peer"]
    for _, heading, _ in columns:
        heads += [heading, "×"]
    able = (name for name, runs in measured.runs.items() if columns[0][0] in runs[0])
    return _markdown(heads, [_row(measured, name, columns) for name in able])


def _row(measured: Measured, name: str, columns: tuple[Column, ...]) -> list[str]:
    """Return the median of each number with its widest deviation, and how many times ours that is."""
    cells = [name]
    for number, _, scale in columns:
        values = [numbers[number] for numbers in measured.runs[name]]
        middle, ours = median(values), measured.median(OURS, number)
        off = max(abs(value - middle) for value in values) / middle if middle else 0.0
        cells += [f"{_number(middle * scale)} ±{off:.0%}", f"{middle / ours:.2f}" if ours else ""]
    return cells


def document(measured: Measured, facts: Mapping[str, object], told: argparse.Namespace) -> dict[str, Any]:
    """Return everything, for a file. Seconds and bytes; CPU is that of one object or write, but for a restart."""
    options = {name: value for name, value in vars(told).items() if name not in {"out", "loud"}}
    results = [
        {"peer": name, "defaults": OPERATORS[name].says, "runs": runs, "calls": measured.calls[name]}
        for name, runs in measured.runs.items()
    ]
    return {"machine": facts, "options": options, "failures": measured.failures, "results": results}
