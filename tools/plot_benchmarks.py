"""Draw the charts of the README and of docs/benchmarks.md from the tables of benchmarks/README.md.

    python tools/plot_benchmarks.py            # write docs/images/*.svg
    python tools/plot_benchmarks.py --check    # fail if one of them is not what the tables say

Every number is a median of a table. A chart names the table, so that a table that is renamed fails the check.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]  # for `tools`, when this file runs as a script

from tools._bar_charts import Bar, Panel, chart  # noqa: E402  # after the path is set

__all__ = ["charts", "main", "tables"]

RESULTS = ROOT / "benchmarks" / "README.md"
IMAGES = ROOT / "docs" / "images"

Table = list[dict[str, str]]
WIDGETS = "100,000 widgets of 4,096 bytes, lists by stream"
FEWER = "10,000 widgets of 4,096 bytes, lists by stream"
LOOP = "the whole loop: created at once until all have converged: 5,000 PodSets of 3, 2 workers"
START = "start with one object: 1 widgets of 4,096 bytes, lists by stream, workers 1"
NAMES = {"limit": "physical limit", "pyctrl-compressed": "pyctrl, compressed", "josdk": "Java Operator SDK"}


@dataclass(frozen=True, slots=True)
class Series:
    """A column of a table, as a panel: each value times `scale`, formatted by `text`."""

    title: str
    table: str
    column: str
    text: Callable[[float], str]
    scale: float = 1
    peers: tuple[str, ...] = ()  # all of the table by default


def seconds(value: float) -> str:
    return f"{value:.1f} s" if value < 10 else f"{value:.0f} s"


def milliseconds(value: float) -> str:
    return f"{_rounded(value)} ms"


def microseconds(value: float) -> str:
    return f"{_rounded(value)} µs"


def megabytes(value: float) -> str:
    return f"{value:,.0f} MB"


def count(value: float) -> str:
    return f"{value:.0f}"


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


FIRST_LIST = "initial sync, CPU per object: "
MEMORY = "memory: "
EVENTS = "watch events, CPU per event: "
RECONCILE = f"no-op reconciles, CPU each, from the event on: {FEWER}, workers 1"
# The other peers were measured with 10,000 objects: see cache-costs.
PYCTRL_AND_GO = ("pyctrl", "pyctrl-compressed", "controller-runtime")

CHARTS: dict[str, tuple[str, tuple[Series, ...]]] = {
    "costs": (
        "Cost of pyctrl beside its peers",
        (
            Series(
                "CPU of the first list of 100,000 objects",
                FIRST_LIST + WIDGETS,
                "µs/object",
                seconds,
                0.1,
                PYCTRL_AND_GO,
            ),
            Series("Memory after that list", MEMORY + WIDGETS, "MB synced", megabytes, peers=PYCTRL_AND_GO),
            Series(
                "CPU of a reconcile, with its event",
                RECONCILE,
                "µs/reconcile",
                microseconds,
                peers=("pyctrl", "controller-runtime", "kopf"),
            ),
        ),
    ),
    "cache-costs": (
        "Cost of a cache of 10,000 custom resources of 4 KB",
        (
            Series("CPU of the first list, for each object", FIRST_LIST + FEWER, "µs/object", microseconds),
            Series("CPU of an event", EVENTS + FEWER, "µs/event", microseconds),
            Series("Memory after the first list", MEMORY + FEWER, "MB synced", megabytes),
        ),
    ),
    "operator-costs": (
        "Cost of a whole operator that converges 5,000 objects",
        (
            Series("CPU for each object", LOOP, "CPU ms/object", milliseconds),
            Series("Calls to the API server for each object", LOOP, "calls/object", count),
            Series("Memory at the peak", LOOP, "MB peak", megabytes),
        ),
    ),
    "start-costs": (
        "Cost of the start of an operator",
        (
            Series("CPU until it is loaded", START, "load CPU ms", milliseconds),
            Series("From there to the first reconcile", START, "to first reconcile ms", milliseconds),
            Series("Memory of an idle operator", START, "MB idle", megabytes),
        ),
    ),
}


def tables(text: str) -> dict[str, Table]:
    """Return the tables of a report by title. Of columns with the same head the first counts."""
    found: dict[str, Table] = {}
    title = ""
    heads: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            title, heads = line or title, []
        elif not heads:
            heads = cells
            found[title] = []
        elif not line.startswith("|-"):
            found[title].append(dict(reversed([*zip(heads, cells, strict=False)])))  # a cell may contain a bar
    return found


def charts(text: str) -> dict[str, str]:
    """Return the charts of a report, by file name."""
    by_title = {title.partition(";")[0]: rows for title, rows in tables(text).items()}
    return {
        f"{name}.svg": _chart(title, [_panel(each, by_title[each.table]) for each in series])
        for name, (title, series) in CHARTS.items()
    }


def _panel(series: Series, rows: Table) -> Panel:
    return Panel(series.title, [_bar(series, row) for row in rows if row["peer"] in (series.peers or [row["peer"]])])


def _bar(series: Series, row: Mapping[str, str]) -> Bar:
    value = float(row[series.column].split()[0].replace(",", "")) * series.scale
    return Bar(NAMES.get(row["peer"], row["peer"]), value, series.text(value), is_ours=row["peer"].startswith("pyctrl"))


def _chart(title: str, panels: list[Panel]) -> str:
    sentences = (f"{panel.title}: {', '.join(f'{bar.name} {bar.text}' for bar in panel.bars)}." for panel in panels)
    return chart(title, " ".join(sentences), panels)


def main() -> int:
    """Write the charts, or compare them; return the exit code."""
    parser = argparse.ArgumentParser(description="Draw the charts of docs/images from the tables of the benchmarks.")
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    is_check = parser.parse_args().check
    stale = []
    for name, drawn in charts(RESULTS.read_text()).items():
        file = IMAGES / name
        if file.is_file() and file.read_text() == drawn:
            continue
        if is_check:
            stale.append(name)
        else:
            file.write_text(drawn)
    if stale:
        names = ", ".join(stale)
        print(f"{RESULTS.relative_to(ROOT)} does not match {names}; run python tools/plot_benchmarks.py to draw them")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
