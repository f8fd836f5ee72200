"""Markdown report of results: a table per line of work, an overview of all sizes, and the targets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from statistics import median

from _lines import LINES, MEGABYTES, Column, belongs
from _markdown import markdown, number, scaled, times
from _results import LIMIT, OURS, Results, ratio
from _sizes import SHAPES, groups, growth, overview
from _targets import verdicts
from _works import Case


def report(results: Results, lines: Iterable[str], *, is_long: bool = False) -> str:
    """Return all tables, the growth, the targets, and the failures.

    Args:
        is_long: whether each case in the overview also has its own table of all peers.
    """
    lines = list(lines)
    left_out = set() if is_long else _in_overview(results)
    shown = [(name, case) for name in lines for case in results.rows if belongs(name, case)]
    parts = [_table(results, name, case) for name, case in shown if name not in SHAPES or case not in left_out]
    for group in groups(results) if set(SHAPES) & set(lines) else ():
        parts += filter(None, (overview(results, group, lines), growth(results, group)))
    heads, rows = (
        ["target", "at", "to reach", "measured", ""],
        list(verdicts(results, is_whole=set(lines) == set(LINES))),
    )
    parts += ["targets\n\n" + markdown(heads, rows)] if rows else []
    parts += [f"{peer}: {reason}" for call in results.calls for peer, reason in call.failures.items()]
    return "\n\n".join([*parts, _legend(results)])


def _in_overview(results: Results) -> set[Case]:
    """Return the cases that only the overview shows. The case that most peers ran also has its own table."""
    found: set[Case] = set()
    for group in groups(results):
        found |= {*group} - {max(group, key=lambda case: (len(results.rows[case]), case.size == 4096, case.objects))}
    return found


def _legend(results: Results) -> str:
    counts = {len(row.runs) for rows in results.rows.values() for row in rows.values()}
    words = (
        "One run" if counts == {1} else f"Medians of {' to '.join(map(str, sorted({min(counts), max(counts)})))} runs"
    )
    words += "; ± is the widest deviation of a run from the median; × is of pyctrl's number, "
    words += "× limit of the physical limit. Quartiles and each run are in the file."
    if len(results.calls) > 1:
        words += " * was measured by another call than pyctrl's number in its table, or two calls are compared."
    return words if all(call.is_complete for call in results.calls) else words + " Not all was measured: interrupted."


def _table(results: Results, name: str, case: Case) -> str:
    line, peers = LINES[name], results.rows[case]
    with_limit = LIMIT in peers
    heads = ["peer"] if line.variants is None else [line.variants[0], "peer"]
    for column in line.columns:
        heads += [column.heading, *(["×"] if column.is_compared else [])]
        heads += ["× limit"] if with_limit and column.is_limited else []
    rows = []
    for columns, before in _variants(name):
        for peer in peers:
            if results.values(case, peer, columns[0].name):
                cells = _cells(results, case, peer, columns, with_limit=with_limit)
                rows.append([*before, _peer(results, case, peer), *cells])
    # The limit of memory is the size of the objects
    total = results.object_bytes.get(case.server) if name == "memory" else None
    themselves = f"; they have {number(total * MEGABYTES)} MB" if total else ""
    return f"{line.title}: {case.title}{themselves}\n\n" + markdown(heads, rows, names=heads.index("peer") + 1)


def _variants(name: str) -> Iterator[tuple[list[Column], list[str]]]:
    """Yield the columns of a line with their names in the results, and the label of the variant."""
    line = LINES[name]
    if line.variants is None:
        yield list(line.columns), []
        return
    for variant in line.variants[1]:
        yield [replace(each, name=each.name.format(variant)) for each in line.columns], [f"{variant:,}"]


def _peer(results: Results, case: Case, peer: str) -> str:
    rows = results.rows[case]
    return f"{peer} *" if OURS in rows and rows[peer].call != rows[OURS].call else peer


def _cells(results: Results, case: Case, peer: str, columns: Iterable[Column], *, with_limit: bool) -> Iterator[str]:
    """Yield the median of each number with the widest deviation, and its multiple of ours and of the limit."""
    for column in columns:
        values = results.values(case, peer, column.name)
        middle = median(values) if values else None
        spread = f" ±{_widest(values, middle):.0%}" if middle is not None and len(values) > 1 else ""
        yield scaled(middle, column.scale) + spread
        if column.is_compared:
            yield times(ratio(middle, results.median(case, OURS, column.name)))
        if with_limit and column.is_limited:
            yield times(ratio(middle, results.median(case, LIMIT, column.name)))


def _widest(values: Iterable[float], middle: float) -> float:
    return max(abs(value - middle) for value in values) / middle if middle else 0.0
