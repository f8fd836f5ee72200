"""From results to Markdown: a table for each line and case, and one of how peers grow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import median

from _lines import LINES, MEGABYTES, MICRO, Column, belongs
from _results import LIMIT, OURS, Results, ratio
from _targets import verdicts
from _works import Case


def report(results: Results, lines: Iterable[str]) -> str:
    """Return all tables, what grows, the targets, and who failed."""
    lines = list(lines)
    shown = [(name, case) for name in lines for case in results.rows if belongs(name, case)]
    parts = [_table(results, name, case) for name, case in shown]
    parts += _growth(results)
    heads, rows = (
        ["target", "at", "to reach", "measured", ""],
        list(verdicts(results, is_whole=set(lines) == set(LINES))),
    )
    parts += ["targets\n\n" + _markdown(heads, rows)] if rows else []
    parts += [f"{peer}: {reason}" for call in results.calls for peer, reason in call.failures.items()]
    return "\n\n".join([*parts, _legend(results)])


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
    heads = ["peer"]
    for column in line.columns:
        heads += [column.heading, "×", *(["× limit"] if with_limit and column.is_limited else [])]
    rows = [
        [_peer(results, case, peer), *_cells(results, case, peer, line.columns, with_limit=with_limit)]
        for peer in peers
        if results.values(case, peer, line.columns[0].name)
    ]
    # The limit of memory: what the objects themselves take
    total = results.object_bytes.get(case.server) if name == "memory" else None
    themselves = f"; they have {number(total * MEGABYTES)} MB" if total else ""
    return f"{line.title}: {case.title}{themselves}\n\n" + _markdown(heads, rows)


def _peer(results: Results, case: Case, peer: str) -> str:
    rows = results.rows[case]
    return f"{peer} *" if OURS in rows and rows[peer].call != rows[OURS].call else peer


def _cells(results: Results, case: Case, peer: str, columns: Iterable[Column], *, with_limit: bool) -> Iterator[str]:
    """Yield the median of each number with the widest deviation, and how many times ours and the limit that is."""
    for column in columns:
        values = results.values(case, peer, column.name)
        middle = median(values) if values else None
        yield "" if middle is None else f"{number(middle * column.scale)} ±{_widest(values, middle):.0%}"
        yield _times(ratio(middle, results.median(case, OURS, column.name)))
        if with_limit and column.is_limited:
            yield _times(ratio(middle, results.median(case, LIMIT, column.name)))


def _widest(values: Iterable[float], middle: float) -> float:
    return max(abs(value - middle) for value in values) / middle if middle else 0.0


def _times(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def number(value: float) -> str:
    """Write with three digits that mean something."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _growth(results: Results) -> Iterator[str]:
    """Yield how the cost of an object changes with how many there are, for each kind and size that has several."""
    shapes: dict[tuple[str, int, str], list[Case]] = {}
    for case in results.cases({"cache"}):
        shapes.setdefault((case.kind, case.size, case.lists), []).append(case)
    for (kind, size, lists), found in shapes.items():
        if len(found) > 1:
            cases = sorted(found, key=lambda case: case.objects)
            yield f"growth: {kind} of {size:,} bytes, lists by {lists}\n\n" + _grown(results, cases)


def _grown(results: Results, cases: list[Case]) -> str:
    counts = [_thousands(case.objects) for case in cases]
    heads = ["peer", *(f"{what} {count}" for what in ("µs/object", "µs/event", "KB/object") for count in counts)]
    peers = dict.fromkeys(peer for case in cases for peer in results.rows[case] if len(results.rows[case]) > 1)
    rows = []
    for peer in peers:
        cells = [_scaled(results.median(case, peer, "sync_cpu"), MICRO) for case in cases]
        cells += [_scaled(results.median(case, peer, "events_cpu"), MICRO) for case in cases]
        cells += [_scaled(_added(results, case, peer), 1e-3) for case in cases]
        rows.append([peer, *cells])
    return _markdown(heads, rows)


def _thousands(count: int) -> str:
    return f"{count // 1000}k" if count % 1000 == 0 else str(count)


def _added(results: Results, case: Case, peer: str) -> float | None:
    """Return the bytes that each object adds to what was resident before the first."""
    before, after = results.median(case, peer, "ready_bytes"), results.median(case, peer, "synced_bytes")
    return None if before is None or after is None else (after - before) / case.objects


def _scaled(value: float | None, scale: float) -> str:
    return "" if value is None else number(value * scale)


def _markdown(heads: list[str], rows: list[list[str]]) -> str:
    widths = [max(len(row[n]) for row in (heads, *rows)) for n in range(len(heads))]

    def line(cells: list[str]) -> str:
        padded = (
            cell.rjust(width) if n else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    return "\n".join([line(heads), f"|{'|'.join('-' * (width + 2) for width in widths)}|", *map(line, rows)])
