"""A report for terminals: the stories, a table of what was tried, and a summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pyctrl.simulation._report import Report
from pyctrl.simulation._reporting.matrix import SYSTEMATIC, Cell, Matrix, matrix_of
from pyctrl.simulation._story_text import COMMAND, story_text

__all__ = ["report_text", "summary_line"]

TOTAL = "all"
LEGEND = "number: plans that were tried; ✗: failed; ?: did not reach their point"
NAME_COLUMNS = 60  # of the longest name of a row


def report_text(report: Report, *, command: str = COMMAND) -> str:
    """Return a report as text.

    Args:
        report: The report.
        command: The command that replays a story, with ``{schedule}`` in place of the schedule.
    """
    parts = [*_stories(report, command)]
    table = _table(matrix_of(report, each_point=False))
    parts += ["\n".join((*table, LEGEND))] if table else []
    return "\n\n".join((*parts, summary_line(report)))


def summary_line(report: Report) -> str:
    """Return what was tried and found in one sentence."""
    failed = sum(bool(attempt.outcome.problems) for attempt in report.attempts)
    states = len(frozenset().union(*(attempt.outcome.fingerprints for attempt in report.attempts)))
    found = f"{_number(len(report.stories), 'mistake')} found" if report.stories else "no mistake found"
    facts = [
        f"{_number(len(report.attempts), 'run')}",
        f"{_systematic(report)} of {report.planned} systematic plans",
        f"{failed} failed",
        f"{_number(states, 'state')} of the world" if states else "",
        f"{report.seconds:.1f} s of CPU time",
        f"seed {report.seed}",
    ]
    return f"{report.program}: {found} ({', '.join(filter(None, facts))})"


def _systematic(report: Report) -> int:
    return sum(attempt.plan.family in SYSTEMATIC for attempt in report.attempts)


def _stories(report: Report, command: str) -> Iterator[str]:
    for number, story in enumerate(report.stories, 1):
        head = f"── {number} of {len(report.stories)} ".ljust(78, "─")
        yield f"{head}\n{story_text(story, command)}"


def _table(matrix: Matrix) -> list[str]:
    """Return a table with a row for each kind of point and a column for each family."""
    if not matrix.rows:
        return []
    body = [["", *matrix.columns]]
    body += [[_cut(row), *map(_text, matrix.line(row))] for row in matrix.rows]
    body += [[TOTAL, *(_text(matrix.totals[column]) for column in matrix.columns)]]
    widths = [max(len(line[place]) for line in body) for place in range(len(body[0]))]
    return [_aligned(line, widths) for line in body]


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = zip(line, widths, strict=True)
    return "  ".join((first[0].ljust(first[1]), *(text.rjust(width) for text, width in others))).rstrip()


def _text(cell: Cell | None) -> str:
    if cell is None:
        return "·"
    failed = f" ✗{cell.failed}" if cell.failed else ""
    unreached = f" ?{cell.unreached}" if cell.unreached else ""
    return f"{cell.tried}{failed}{unreached}"


def _cut(name: str) -> str:
    return name if len(name) <= NAME_COLUMNS else f"{name[: NAME_COLUMNS - 1]}…"


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
