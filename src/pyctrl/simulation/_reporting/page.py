"""A report as one page of HTML, without external resources and without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from pyctrl.simulation._report import Attempt, Report, Story
from pyctrl.simulation._reporting.matrix import SYSTEMATIC, Cell, Matrix, matrix_of, row_of
from pyctrl.simulation._reporting.reference import ReferenceRow, reference_rows
from pyctrl.simulation._reporting.style import STYLE
from pyctrl.simulation._story_text import COMMAND, replay_command, replay_mark

__all__ = ["report_page"]

MOST_MARKS = 12  # of a cell; above that it shows numbers
OK, FAILED, UNREACHED = "●", "✗", "○"

_LEGEND = (
    f'Each sign is one plan: <span class="matrix"><span class="tried">{OK}</span> tried, '
    f'<span class="failed">{FAILED}</span> failed, <span class="unreached">{UNREACHED}</span> did not reach its point.'
    "</span> Point at a sign to read its fault."
)


def report_page(report: Report, *, command: str = COMMAND) -> str:
    """Return a report as a page of HTML.

    Args:
        report: The report.
        command: The command that replays a story, with ``{schedule}`` in place of the schedule.
    """
    parts = [
        f"<h1>{escape(report.program)}</h1>",
        _verdict(report),
        _facts(report),
        *_stories(report, command),
        *_matrix(report),
        *_reference(report),
    ]
    return _PAGE.format(title=escape(report.program), style=STYLE, body="\n".join(parts))


_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Simulation of {title}</title>
<style>
{style}</style>
</head>
<body>
<main>
{body}
</main>
</body>
</html>
"""


def _verdict(report: Report) -> str:
    if not report.stories:
        return '<p class="verdict good">No mistake found</p>'
    count = len(report.stories)
    return f'<p class="verdict bad">{count} {"mistake" if count == 1 else "mistakes"} found</p>'


def _facts(report: Report) -> str:
    systematic = sum(attempt.plan.family in SYSTEMATIC for attempt in report.attempts)
    states = frozenset().union(*(attempt.outcome.fingerprints for attempt in report.attempts))
    facts = {
        "Runs": f"{len(report.attempts)}",
        "Systematic plans": f"{systematic} of {report.planned}",
        "Runs that failed": f"{sum(bool(attempt.outcome.problems) for attempt in report.attempts)}",
        "Points": f"{len(report.reference.points)}",
        "States of the world": f"{len(states)}",
        "CPU time": f"{report.seconds:.1f} s",
        "Seed": f"{report.seed}",
    }
    items = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts.items())
    return f'<dl class="facts">{items}</dl>'


def _stories(report: Report, command: str) -> Iterator[str]:
    if report.stories:
        yield "<h2>What breaks it</h2>"
    for number, story in enumerate(report.stories, 1):
        yield _story(number, story, command)


def _story(number: int, story: Story, command: str) -> str:
    parts = [f'<article id="story-{number}"><h3>{escape(story.title)}</h3>']
    if story.guess:
        parts.append(f'<p class="guess"><strong>Probable cause:</strong> {escape(story.guess)}.</p>')
    if story.events:
        parts.append(f"<h4>What happened</h4>\n{_events(story)}")
    if len(story.problems) > 1:
        items = "".join(f"<li>{escape(problem.message)}</li>" for problem in story.problems)
        parts.append(f"<h4>Problems</h4>\n<ul>{items}</ul>")
    if story.diff:
        parts.append(f"<h4>Without the faults (−) and with them (+)</h4>\n{_diff(story.diff)}")
    lines = (replay_mark(story), replay_command(story, command))
    parts.append(f"<h4>Replay it</h4>\n<pre>{escape(chr(10).join(lines))}</pre></article>")
    return "\n".join(parts)


def _events(story: Story) -> str:
    rows = []
    for line in story.events:
        at, _, rest = line.strip().partition(" s  ")
        who, _, what = rest.partition("  ")
        what, where = _without_source(what.strip())
        kind = "fault" if who.strip() == "fault" else "never" if what.startswith("never:") else ""
        rows.append(_row(ReferenceRow(f"{at} s", who.strip(), what, where, kind)))
    return f'<div class="wide"><table class="events"><tbody>{"".join(rows)}</tbody></table></div>'


def _without_source(text: str) -> tuple[str, str]:
    what, found, source = text.rpartition("  (")
    return (what, source.removesuffix(")")) if found else (text, "")


def _row(row: ReferenceRow) -> str:
    return (
        f'<tr class="{row.kind}"><td class="time">{escape(row.at)}</td><td class="who">{escape(row.who)}</td>'
        f'<td class="what">{escape(row.what)}</td><td class="where mono">{escape(row.where)}</td></tr>\n'
    )


def _diff(diff: str) -> str:
    return f"<pre>{chr(10).join(map(_diff_line, diff.splitlines()))}</pre>"


def _diff_line(line: str) -> str:
    kind = "hunk" if line.startswith(("---", "+++", "@@")) else {"+": "add", "-": "del"}.get(line[:1], "")
    return f'<span class="{kind}">{escape(line)}</span>' if kind else escape(line)


def _matrix(report: Report) -> Iterator[str]:
    matrix = matrix_of(report, each_point=True)
    if not matrix.rows:
        return
    yield f"<h2>What was tried</h2>\n<p>{_LEGEND}</p>"
    head = "".join(f"<th>{escape(column)}</th>" for column in matrix.columns)
    total = "".join(f"<td>{_numbers(matrix.totals[column])}</td>" for column in matrix.columns)
    attempts = _attempts_by_cell(report.attempts)
    yield '<div class="wide"><table class="matrix">'
    yield f"<thead><tr><th>Point</th>{head}</tr></thead>\n<tbody><tr><th>all</th>{total}</tr>"
    for row in matrix.rows:
        cells = "".join(f"<td>{_cell(matrix, attempts, row, column)}</td>" for column in matrix.columns)
        yield f"<tr><th>{escape(row)}</th>{cells}</tr>"
    yield "</tbody></table></div>"
    failed = [attempt.plan.schedule for attempt in report.attempts if attempt.outcome.problems]
    if failed:
        yield f"<details><summary>{len(failed)} schedules that failed</summary>"
        yield f"<pre>{escape(chr(10).join(map(str, failed)))}</pre></details>"


def _attempts_by_cell(attempts: Iterable[Attempt]) -> dict[tuple[str, str], list[Attempt]]:
    found: dict[tuple[str, str], list[Attempt]] = {}
    for attempt in attempts:
        found.setdefault((row_of(attempt, each_point=True), attempt.plan.family), []).append(attempt)
    return found


def _cell(matrix: Matrix, attempts: dict[tuple[str, str], list[Attempt]], row: str, column: str) -> str:
    cell = matrix.cells.get((row, column))
    if cell is None:
        return '<span class="none">·</span>'
    if cell.tried > MOST_MARKS:
        return _numbers(cell)
    return "".join(map(_mark, attempts[row, column]))


def _mark(attempt: Attempt) -> str:
    kind, sign = "tried", OK
    if attempt.outcome.problems:
        kind, sign = "failed", FAILED
    elif attempt.outcome.unused:
        kind, sign = "unreached", UNREACHED
    return f'<span class="{kind}" title="{escape(str(attempt.plan.schedule), quote=True)}">{sign}</span>'


def _numbers(cell: Cell) -> str:
    failed = f' <span class="failed">{FAILED}{cell.failed}</span>' if cell.failed else ""
    unreached = f' <span class="unreached">{UNREACHED}{cell.unreached}</span>' if cell.unreached else ""
    return f'<span class="tried">{cell.tried}</span>{failed}{unreached}'


def _reference(report: Report) -> Iterator[str]:
    rows = list(reference_rows(report.reference))
    if not rows:
        return
    yield "<h2>The run without faults</h2>"
    yield f"<details><summary>{len(rows)} entries: requests, reconciles, calls and events</summary>"
    yield '<div class="wide"><table><thead><tr><th>Time</th><th>Who</th><th>What</th><th>Line</th></tr></thead><tbody>'
    yield "".join(map(_row, rows))
    yield "</tbody></table></div></details>"
