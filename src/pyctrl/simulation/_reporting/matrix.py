"""Counts of plans by family and point."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from pyctrl.simulation._report import Attempt, Report
from pyctrl.simulation._schedule import Occasion, Point

__all__ = ["FAMILIES", "SEVERAL", "SYSTEMATIC", "Cell", "Matrix", "matrix_of", "row_of"]

#: The families of plans, in the order of columns.
FAMILIES = (
    *("crash", "error", "event", "stale", "leadership", "meddling", "external", "server", "clock", "webhook"),
    *("saved", "random", "reference", "replay"),
)
SYSTEMATIC = FAMILIES[:10]
SEVERAL = "several faults"  # the row of schedules with more than one, or none

_ORDER = tuple(Occasion)


@dataclass(slots=True)
class Cell:
    """How many plans were tried, how many of them failed, and how many never reached their point."""

    tried: int = 0
    failed: int = 0
    unreached: int = 0

    def add(self, attempt: Attempt) -> None:
        """Count an attempt."""
        self.tried += 1
        self.failed += bool(attempt.outcome.problems)
        self.unreached += bool(attempt.outcome.unused) and not attempt.outcome.problems


@dataclass(slots=True)
class Matrix:
    """A table of cells.

    Attributes:
        rows: Names of points, in the order in which the reference reached them; `SEVERAL` is the last.
        columns: Families.
        cells: By row and column; absent if nothing was tried.
        totals: By family.
    """

    rows: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    cells: dict[tuple[str, str], Cell] = field(default_factory=dict)
    totals: dict[str, Cell] = field(default_factory=dict)

    def line(self, row: str) -> Iterator[Cell | None]:
        """Yield the cells of a row."""
        return (self.cells.get((row, column)) for column in self.columns)


def matrix_of(report: Report, *, each_point: bool) -> Matrix:
    """Return the table of a report.

    Args:
        report: The report.
        each_point: A row for each point; otherwise points that only differ in their number are one row, and all
            points of an occasion other than writes and calls are one.
    """
    matrix = Matrix()
    for attempt in report.attempts:
        row, column = row_of(attempt, each_point=each_point), attempt.plan.family
        matrix.cells.setdefault((row, column), Cell()).add(attempt)
        matrix.totals.setdefault(column, Cell()).add(attempt)
    found = {row for row, _ in matrix.cells}
    points = (*report.reference.points, *_faulty_points(report.attempts))
    ordered = dict.fromkeys(_name(point, each_point=each_point) for point in sorted(points, key=_place))
    matrix.rows = [row for row in (*ordered, SEVERAL) if row in found]
    known = [family for family in FAMILIES if family in matrix.totals]
    matrix.columns = [*known, *sorted(matrix.totals.keys() - set(known))]
    return matrix


def _faulty_points(attempts: Iterable[Attempt]) -> Iterator[Point]:
    return (fault.point for attempt in attempts for fault in attempt.plan.schedule)


def _place(point: Point) -> int:
    return _ORDER.index(point.occasion)


def row_of(attempt: Attempt, *, each_point: bool) -> str:
    """Return the row of an attempt; `each_point` as of `matrix_of`."""
    faults = attempt.plan.schedule.faults
    return _name(faults[0].point, each_point=each_point) if len(faults) == 1 else SEVERAL


def _name(point: Point, *, each_point: bool) -> str:
    if each_point:
        return str(point)
    if point.occasion is Occasion.WRITE:
        return point.what
    return str(point).partition("#")[0] if point.occasion is Occasion.CALL else f"each {point.occasion}"
