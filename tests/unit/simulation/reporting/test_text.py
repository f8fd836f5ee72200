"""Reports for terminals."""

from __future__ import annotations

from pyctrl.simulation._report import Report
from pyctrl.simulation._reporting import report_text, summary_line
from tests.unit.simulation._script import Script
from tests.unit.simulation.reporting._reports import broken, survived


def test_the_table_of_an_operator_that_survived() -> None:
    """The table has a row for each write and a column for each family; the summary says how much was tried."""
    assert (
        report_text(survived())
        == """\
                           crash  error  meddling
create jobs default/web-*      2   1 ?1         ·
each step                      ·      ·         1
all                            2   1 ?1         1
number: plans that were tried; ✗: failed; ?: did not reach their point

podset: no mistake found (4 runs, 4 of 5 systematic plans, 0 failed, 1 state of the world, 2.0 s of CPU time, seed 0)\
"""
    )


def test_stories_come_before_the_table() -> None:
    """Each story is printed in full, with the command of the program; combinations of faults are a row of their own."""
    text = report_text(broken(), command="pyctrl simulate web.py --replay {schedule}")
    assert text.startswith("── 1 of 1 ───")
    assert "\nthere is a second <Job>\n" in text
    assert '  pyctrl simulate web.py --replay "crash-during create jobs default/web-*#1"\n' in text
    assert "\ncreate jobs default/web-*   3 ✗1   1 ?1         ·       ·\n" in text
    assert "\nseveral faults                 ·      ·         ·    1 ✗1\n" in text
    assert "podset: 1 mistake found (6 runs, 5 of 5 systematic plans, 2 failed," in text


def test_nothing_was_tried() -> None:
    """Without attempts there is no table."""
    report = Report("podset", Script().run())
    assert report_text(report) == summary_line(report)
