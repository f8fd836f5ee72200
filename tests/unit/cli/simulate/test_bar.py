"""Progress of `pyctrl simulate`."""

from __future__ import annotations

import io

import pytest

from pyctrl.cli._simulate.bar import CLEAR, Bar
from tests.unit.cli.simulate._explorers import broken
from tests.unit.cli.test_progress import Terminal
from tests.unit.simulation.reporting._reports import attempt


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal one line is redrawn after each run, as wide as the terminal; a story has its own line."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    terminal = Terminal()
    bar = Bar(terminal)
    bar.planned(4)
    bar.tried(attempt("crash", "crash-before create jobs default/web-*#1"))
    assert terminal.getvalue() == f"{CLEAR}[######------------------] 1 of 4 plans  crash-before creat"
    bar.tried(attempt("crash", "", fails=True))
    assert terminal.getvalue().endswith(f"{CLEAR}[############------------] 2 of 4 plans, 1 failed  without ")
    bar.told(broken().stories[0])
    assert terminal.getvalue().endswith(f"{CLEAR}found: there is a second <Job> (probably: create is not idempotent)\n")
    for _ in range(4):
        bar.tried(attempt("random", "shuffle"))
    assert terminal.getvalue().endswith(f"{CLEAR}[########################] 6 runs, 1 failed, 1 found  shuff")
    bar.clear()
    assert terminal.getvalue().endswith(CLEAR)


def test_lines_elsewhere() -> None:
    """Elsewhere a line is printed after every thirty seconds of simulation."""
    stream = io.StringIO()
    bar = Bar(stream)
    bar.planned(100)
    for _ in range(130):
        bar.tried(attempt("crash", "crash-before create jobs default/web-*#1"))  # half a second
    bar.stop()
    assert bar.is_stopped
    assert stream.getvalue().splitlines() == [
        "100 plans",
        "60 of 100 plans",
        "120 runs",
        "stopping after this run; press Ctrl-C again to stop now",
    ]


def test_nothing_for_other_programs() -> None:
    """Without a stream nothing is printed."""
    bar = Bar(None)
    bar.planned(1)
    bar.tried(attempt("crash", ""))
    bar.told(broken().stories[0])
    bar.stop()
    bar.clear()
    assert bar.is_stopped
