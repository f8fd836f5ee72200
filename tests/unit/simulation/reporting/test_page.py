"""Reports as a page of HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from pyctrl.simulation._reporting import report_page
from tests.unit.simulation.reporting._reports import attempt, broken, survived

VOID = {"meta"}


class _Checked(HTMLParser):
    """Checks that every element is closed, and collects texts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += f"{data} "


def checked(page: str) -> str:
    """Return the text of a page whose elements are well nested."""
    parser = _Checked()
    parser.feed(page)
    assert parser.open == []
    return " ".join(parser.text.split())


def test_a_page_is_self_contained() -> None:
    """A page loads nothing, and runs no script."""
    page = report_page(broken())
    assert not re.search(r"<script|<link|<img|src=|@import|url\(|https?:", page)
    assert "prefers-color-scheme: dark" in page


def test_a_page_has_the_stories() -> None:
    """Names are escaped; a story has its events, difference, guess and replay."""
    text = checked(report_page(broken(), command="pyctrl simulate web.py --replay {schedule}"))
    assert "1 mistake found" in text
    assert "there is a second <Job>" in text
    assert "Probable cause: create is not idempotent" in text
    assert 'pyctrl simulate web.py --replay "crash-during create jobs default/web-*#1"' in text
    assert "killed during create Job default/web-b" in text
    assert '<span class="add">+kind: Job</span>' in report_page(broken())


def test_a_page_has_the_matrix_and_the_reference() -> None:
    """Each plan is a sign with its fault as the title; the run without faults is a table."""
    page = report_page(broken())
    assert '<span class="failed" title="crash-during create jobs default/web-*#1">✗</span>' in page
    assert '<span class="unreached" title="conflict create jobs default/web-*#1">○</span>' in page
    text = checked(page)
    assert "user creates PodSet default/web (v11)" in text
    assert "ends reconcile default/web: done" in text


def test_many_plans_are_numbers() -> None:
    """A cell with more plans than fit has numbers instead of signs."""
    report = survived()
    report.attempts = [attempt("crash", "crash-before create jobs default/web-*#1") for _ in range(40)]
    assert '<td><span class="tried">40</span></td>' in report_page(report)
    assert "No mistake found" in checked(report_page(report))
