"""docs/seeds.md answers every row of the seeds, and names only things that exist."""

from __future__ import annotations

import re

import pytest

from tests._documents import functions_of, page
from tests.unit.cli._command import pyctrl

PAGE = page("seeds.md")

ROWS = {"000": 29, "001": 25, "002": 17, "003": 24, "004": 10}
EXPECTED = [f"{seed}.{number:02}" for seed, count in ROWS.items() for number in range(1, count + 1)]


def rows() -> dict[str, str]:
    """Return the text of each row, by its number."""
    lists = "\n".join(re.findall(r"^(?:- \*\*\d| ).*$", PAGE, re.MULTILINE))
    parts = re.split(r"^- \*\*(\d{3}\.\d{2})\*\* ", lists, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def commands() -> list[str]:
    """Return the pyctrl commands that the page names."""
    return sorted(set(re.findall(r"`pyctrl ([a-z]+(?: [a-z]+)*)", PAGE)))


def test_every_row_is_there_once_and_in_order() -> None:
    """The page has every row of the checklists once and in order."""
    assert re.findall(r"^- \*\*(\d{3}\.\d{2})\*\*", PAGE, re.MULTILINE) == EXPECTED


@pytest.mark.parametrize("row", EXPECTED)
def test_a_row_says_what_became_of_it_and_what_shows_it(row: str) -> None:
    """Each row says done, otherwise or to come, and names at least one existing test."""
    text = rows()[row]
    assert re.search(r"\*\*(Done|Otherwise|To come)\*\*", text)
    shown = re.findall(r"^  - `([\w/.]+)::(\w+)`$", text, re.MULTILINE)
    assert len(shown) == len(re.findall(r"^  - ", text, re.MULTILINE)) > 0
    assert [f"{file}::{test}" for file, test in shown if test not in functions_of(file)] == []


@pytest.mark.parametrize("command", commands())
def test_commands_that_are_named_exist(command: str) -> None:
    """Each command that the page names prints help."""
    told = pyctrl(*command.split(), "--help")
    assert (told.code, told.out.splitlines()[0].startswith(f"Usage: pyctrl {command}")) == (0, True)
