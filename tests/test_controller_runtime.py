"""Each row of docs/controller-runtime.md names the pyctrl equivalent and the tests that cover it."""

from __future__ import annotations

import re
from functools import cache

from tests._documents import ROOT, page

PAGE = page("controller-runtime.md")
NOTES = dict(re.findall(r"^\[\^([\w-]+)\]: (.*)$", PAGE, re.MULTILINE))
HEADS = ("controller-runtime", "there", "---")


def rows() -> list[list[str]]:
    """Return the cells of all table rows except the headings."""
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells if row[0] not in HEADS]


@cache
def words() -> frozenset[str]:
    """Return every word of the sources, and of the manifest that declares the extras."""
    files = [*ROOT.glob("src/pyctrl/**/*.py"), ROOT / "pyproject.toml"]
    return frozenset(word for file in files for word in re.findall(r"\w+", file.read_text()))


def test_each_row_names_the_tests_that_show_it() -> None:
    """Each row names the tests that cover it, or says that pyctrl has no equivalent."""
    assert [row for row in rows() if not re.search(r"\[\^[\w-]+\]|\*\*Not there\*\*", " ".join(row))] == []


def test_what_is_spelt_like_code_is_spelt_so_in_the_sources() -> None:
    """Each identifier in the second column occurs in the sources; short words are not checked."""
    code = {row[0]: " ".join(re.findall(r"`([^`]+)`", row[1])) for row in rows()}
    strange = {
        row: [word for word in re.findall(r"[A-Za-z_]{4,}", text) if word not in words()] for row, text in code.items()
    }
    assert {row: wrong for row, wrong in strange.items() if wrong} == {}


def test_each_footnote_is_used_and_names_tests() -> None:
    """Each footnote is used, and names tests."""
    used = set(re.findall(r"\[\^([\w-]+)\](?!:)", PAGE))
    assert used == NOTES.keys()
    assert [name for name, note in NOTES.items() if not re.fullmatch(r"`[\w/.]+::\w+`(, `[\w/.]+::\w+`)*", note)] == []
