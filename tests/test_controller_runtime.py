"""The pages that compare pyctrl with controller-runtime name what exists, and the tests that cover it."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests._documents import ROOT, page

LOOK_UP = page("controller-runtime.md")
PAGE = page("design/controller-runtime.md")
NOTES = dict(re.findall(r"^\[\^([\w-]+)\]: (.*)$", PAGE, re.MULTILINE))
HEADS = ("controller-runtime", "there", "---", "Go", "kubebuilder")


def rows(text: str) -> list[list[str]]:
    """Return the cells of all table rows of a page except the headings."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return [row for row in cells if row[0] not in HEADS]


@cache
def words() -> frozenset[str]:
    """Return every word of the sources, and of the manifest that declares the extras."""
    files = [*ROOT.glob("src/pyctrl/**/*.py"), ROOT / "pyproject.toml"]
    return frozenset(word for file in files for word in re.findall(r"\w+", file.read_text()))


def test_each_row_names_the_tests_that_show_it() -> None:
    """Each row names the tests that cover it, or says that pyctrl has no equivalent."""
    assert [row for row in rows(PAGE) if not re.search(r"\[\^[\w-]+\]|\*\*Not there\*\*", " ".join(row))] == []


@pytest.mark.parametrize("text", [LOOK_UP, PAGE], ids=["controller-runtime.md", "design/controller-runtime.md"])
def test_what_is_spelt_like_code_is_spelt_so_in_the_sources(text: str) -> None:
    """Each identifier in the second column occurs in the sources; short words are not checked."""
    code = {row[0]: " ".join(re.findall(r"`([^`]+)`", row[1])) for row in rows(text)}
    strange = {
        row: [word for word in re.findall(r"[A-Za-z_]{4,}", named) if word not in words()]
        for row, named in code.items()
    }
    assert {row: wrong for row, wrong in strange.items() if wrong} == {}


def test_each_footnote_is_used_and_names_tests() -> None:
    """Each footnote is used, and names tests."""
    used = set(re.findall(r"\[\^([\w-]+)\](?!:)", PAGE))
    assert used == NOTES.keys()
    assert [name for name, note in NOTES.items() if not re.fullmatch(r"`[\w/.]+::\w+`(, `[\w/.]+::\w+`)*", note)] == []
