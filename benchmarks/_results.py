"""Results of one or several calls, and their file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Self

from _works import Case, Numbers

OURS, LIMIT = "pyctrl", "limit"


@dataclass
class Call:
    """One call of run.py: the machine, the options, the versions and the failures."""

    machine: dict[str, Any]
    options: dict[str, Any]
    versions: dict[str, dict[str, str]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    is_complete: bool = False


@dataclass
class Row:
    """The runs of a case by a peer, and their call."""

    call: int
    runs: list[Numbers] = field(default_factory=list)


@dataclass
class Results:
    """All measurements. A call replaces the results of earlier calls for the same case and peer."""

    calls: list[Call] = field(default_factory=list)
    rows: dict[Case, dict[str, Row]] = field(default_factory=dict)
    object_bytes: dict[tuple[str, int, int], int] = field(default_factory=dict)

    def add(self, case: Case, peer: str, numbers: Numbers) -> None:
        """Add a run of the last call."""
        now, rows = len(self.calls) - 1, self.rows.setdefault(case, {})
        if peer not in rows or rows[peer].call != now:
            rows[peer] = Row(now)
        rows[peer].runs.append(numbers)

    def values(self, case: Case, peer: str, name: str) -> list[float]:
        """Return a number from each run that has it."""
        row = self.rows.get(case, {}).get(peer)
        return [numbers[name] for numbers in row.runs if name in numbers] if row else []

    def median(self, case: Case, peer: str, name: str) -> float | None:
        """Return the median of a number over the runs."""
        values = self.values(case, peer, name)
        return median(values) if values else None

    def document(self) -> dict[str, Any]:
        """Return all results for a file, in seconds and bytes. CPU is that of one object, event, read or reconcile."""
        return {
            "calls": [asdict(call) for call in self.calls],
            "object_bytes": [[*server, total] for server, total in self.object_bytes.items()],
            "results": [
                {**asdict(case), "peer": peer, "call": row.call, "numbers": self._summary(case, peer), "runs": row.runs}
                for case, rows in self.rows.items()
                for peer, row in rows.items()
            ],
        }

    def _summary(self, case: Case, peer: str) -> dict[str, dict[str, float | None]]:
        names = dict.fromkeys(name for numbers in self.rows[case][peer].runs for name in numbers)
        return {name: self._spread(case, peer, name) for name in names}

    def _spread(self, case: Case, peer: str, name: str) -> dict[str, float | None]:
        values = self.values(case, peer, name)
        low, middle, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
        return {
            "median": middle,
            "quartile_low": low,
            "quartile_high": high,
            "low": min(values),
            "high": max(values),
            "pyctrl_of_it": ratio(self.median(case, OURS, name), middle),
            "times_limit": ratio(middle, self.median(case, LIMIT, name)),
        }

    def save(self, path: Path) -> None:
        """Write the file atomically."""
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f"{path.name}.new")
        beside.write_text(json.dumps(self.document(), indent=1) + "\n", encoding="utf-8")
        beside.replace(path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a saved file."""
        read = json.loads(path.read_text(encoding="utf-8"))
        results = cls(calls=[Call(**call) for call in read["calls"]])
        results.object_bytes = {(kind, objects, size): total for kind, objects, size, total in read["object_bytes"]}
        for told in read["results"]:
            case = Case(**{name: told[name] for name in Case.__dataclass_fields__})
            results.rows.setdefault(case, {})[told["peer"]] = Row(told["call"], told["runs"])
        return results

    def cases(self, work: Iterable[str]) -> list[Case]:
        """Return the measured cases of some works."""
        return [case for case in self.rows if case.work in work]


def ratio(number: float | None, other: float | None) -> float | None:
    """Return the ratio of two numbers, or None if one is missing."""
    return number / other if number is not None and other else None
