"""A report as JSON."""

from __future__ import annotations

from typing import Any

from pyctrl.simulation._report import Report, Story
from pyctrl.simulation._reporting.matrix import Cell, Matrix, matrix_of
from pyctrl.simulation._run import RunProblem
from pyctrl.simulation._story_text import COMMAND, replay_command, replay_mark

__all__ = ["VERSION", "report_to_wire"]

Json = dict[str, Any]

VERSION = 1  # a field may be added; this number changes when one is removed, or has another meaning


def report_to_wire(report: Report, *, command: str = COMMAND) -> Json:
    """Return a report for JSON.

    The fields: ``version`` of this form; ``program``; ``survived``; ``seed``; ``seconds`` of CPU time; ``plans``, the
    counts ``planned`` (systematic plans), ``tried`` (runs), ``failed`` and ``notReached``; ``families``, these counts
    by family; ``points``, these counts by point and family; ``stories``, each with ``title``, ``events``,
    ``problems``, ``diff``, ``guess``, ``schedule`` and ``replay`` (``mark``, ``command``); and ``failures``, every
    schedule that failed, as text.
    """
    matrix = matrix_of(report, each_point=True)
    total = Cell()
    for attempt in report.attempts:
        total.add(attempt)
    return {
        "version": VERSION,
        "program": report.program,
        "survived": not report.stories,
        "seed": report.seed,
        "seconds": round(report.seconds, 3),
        "plans": {"planned": report.planned, **_counts(total)},
        "families": [{"family": family, **_counts(matrix.totals[family])} for family in matrix.columns],
        "points": list(_points(matrix)),
        "stories": [_story(story, command) for story in report.stories],
        "failures": [
            {"family": each.plan.family, "schedule": str(each.plan.schedule)}
            for each in report.attempts
            if each.outcome.problems
        ],
    }


def _counts(cell: Cell) -> Json:
    return {"tried": cell.tried, "failed": cell.failed, "notReached": cell.unreached}


def _points(matrix: Matrix) -> list[Json]:
    return [
        {"point": row, "family": family, **_counts(cell)}
        for row in matrix.rows
        for family in matrix.columns
        if (cell := matrix.cells.get((row, family))) is not None
    ]


def _story(story: Story, command: str) -> Json:
    return {
        "title": story.title,
        "events": list(story.events),
        "problems": list(map(_problem, story.problems)),
        "diff": story.diff,
        "guess": story.guess,
        "schedule": str(story.schedule),
        "replay": {"mark": replay_mark(story), "command": replay_command(story, command)},
    }


def _problem(problem: RunProblem) -> Json:
    return {
        "kind": problem.kind,
        "message": problem.message,
        "objects": list(map(str, problem.objects)),
        "diff": problem.diff,
    }
