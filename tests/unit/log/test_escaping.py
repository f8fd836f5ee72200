"""Untrusted text in console lines can neither forge a line nor control the terminal."""

from __future__ import annotations

import io
import logging
import re
from collections.abc import Callable

import pytest

from pyctrl import LogOptions
from pyctrl._log import ConsoleFormatter, Lines
from tests.unit.log._lines import console, make_record, raised

FORGED = "2026-11-21T18:02:31.692Z ERROR   pyctrl.manager: all is lost"
#: Line ends and terminal controls: C0, DEL, C1, line and paragraph separators, bidirectional marks.
EVIL = [
    "\n",
    "\r",
    "\r\n",
    "\v",
    "\f",
    "\x00",
    "\x08",
    "\x1b[2J",
    "\x1c",
    "\x7f",
    "\x85",
    "\x9b2J",
    "\u2028",
    "\u2029",
    "\u202e",
]
#: The parts of a line that can contain untrusted text.
WAYS: dict[str, Callable[[str], str]] = {
    "message": lambda text: console(f"a{text}{FORGED}"),
    "field": lambda text: console("a", note=f"b{text}{FORGED}"),
    "word": lambda text: console("a", note=f"b{text}{FORGED.replace(' ', '_')}"),
    "list": lambda text: console("a", notes=[f"b{text}{FORGED}"]),
    "key": lambda text: console("a", **{f"b{text}{FORGED}": 1}),
    "error": lambda text: console("a", error=f"b{text}{FORGED}"),
    "exception": lambda text: console("a", exc=raised(ValueError(f"b{text}{FORGED}"))),
    "note": lambda text: console("a", exc=raised(noted(f"b{text}{FORGED}"))),
    "cause": lambda text: console("a", exc=raised(caused(f"b{text}{FORGED}"))),
    "group": lambda text: console("a", exc=raised(ExceptionGroup("c", [ValueError(f"b{text}{FORGED}")]))),
    "lines": lambda text: ConsoleFormatter().format(record_of_lines(f"a\nb{text}{FORGED}")),
}


def noted(text: str) -> ValueError:
    error = ValueError("a")
    error.add_note(text)
    return error


def caused(text: str) -> ValueError:
    error = ValueError("a")
    error.__cause__ = KeyError("b")
    error.__cause__.__context__ = ValueError(text)
    return error


def record_of_lines(text: str) -> logging.LogRecord:
    record = make_record("%s")
    record.args = (Lines(text),)
    return record


@pytest.mark.parametrize("evil", EVIL, ids=ascii)
@pytest.mark.parametrize("way", WAYS)
def test_no_text_begins_a_line_or_steers_the_terminal(way: str, evil: str) -> None:
    """Lines after the first are indented, and line breaks are the only controls, wherever the text comes from."""
    text = WAYS[way](evil)
    first, *more = text.split("\n")
    assert all(not line or line.startswith("    ") for line in more)
    assert all(line.isprintable() for line in (first, *more))
    assert len(text.splitlines()) == len(text.split("\n"))
    assert "all" in text


def test_what_is_escaped_can_still_be_read() -> None:
    """Letters of every script are unchanged; control characters are escaped as in Python, except our own colours."""
    assert console("größer 大きい\ttab") == "INFO    podset: größer 大きい\\ttab"
    assert console("a\u2028b\x1b[1m") == "INFO    podset: a\\u2028b\\x1b[1m"
    assert console("a", note="b\u2028c d") == 'INFO    podset: a  note="b\\u2028c d"'
    coloured = ConsoleFormatter(is_coloured=True).format(make_record("a\x1b[2Jb"))
    assert "\x1b[2J" not in coloured
    assert "\x1b[32m" in coloured


def test_a_traceback_keeps_its_own_lines_and_shows_what_an_error_says_in_one() -> None:
    """Files, code and causes of a traceback have separate lines; line breaks of an error's text are escaped."""
    text = console("failed", level=logging.ERROR, exc=raised(ValueError("no\nTraceback (most recent call last):")))
    lines = text.split("\n")
    assert lines[1] == "    Traceback (most recent call last):"
    assert re.fullmatch(r'      File ".*_lines\.py", line \d+, in raised', lines[2])
    assert lines[-1] == "    ValueError: no\\nTraceback (most recent call last):"


def test_a_stack_is_indented_too() -> None:
    """The lines of ``stack_info=True`` are indented."""
    record = make_record("here")
    record.stack_info = 'Stack (most recent call last):\n  File "a.py", line 1, in <module>'
    lines = ConsoleFormatter().format(record).split("\n")
    assert lines[1:] == ["    Stack (most recent call last):", '      File "a.py", line 1, in <module>']


def test_json_cannot_be_forged_either() -> None:
    """Each JSON record is one line of ASCII."""
    stream = io.StringIO()
    handler = LogOptions(encoder="json", sampling=False).handler(stream)
    for evil in EVIL:
        fields = {f"b{evil}": evil}
        handler.handle(make_record(f"a{evil}{FORGED}", exc=raised(ValueError(evil)), **fields))  # type: ignore[arg-type]
    written = stream.getvalue()
    assert len(written.splitlines()) == len(EVIL)
    assert all(line.isascii() and line.isprintable() for line in written.split("\n"))
