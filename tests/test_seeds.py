"""docs/seeds.md answers every row of the two seeds, and names nothing that does not exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.unit.cli._command import pyctrl

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "seeds.md").read_text()

EXPECTED = [f"000.{number:02}" for number in range(1, 30)] + [f"001.{number:02}" for number in range(1, 26)]


def rows() -> dict[str, str]:
    """Give the text of each row, by its number."""
    lists = "\n".join(re.findall(r"^(?:- \*\*\d| ).*$", PAGE, re.MULTILINE))
    parts = re.split(r"^- \*\*(\d{3}\.\d{2})\*\* ", lists, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


@cache
def functions_of(file: str) -> frozenset[str]:
    """Name the test functions of a file."""
    tree = ast.parse((ROOT / file).read_text())
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(function.name for function in functions if function.name.startswith("test_"))


def commands() -> list[str]:
    """Name the commands of pyctrl that the page speaks of."""
    return sorted(set(re.findall(r"`pyctrl ([a-z]+(?: [a-z]+)*)", PAGE)))


def test_every_row_is_there_once_and_in_order() -> None:
    """All of both checklists."""
    assert re.findall(r"^- \*\*(\d{3}\.\d{2})\*\*", PAGE, re.MULTILINE) == EXPECTED


@pytest.mark.parametrize("row", EXPECTED)
def test_a_row_says_what_became_of_it_and_what_shows_it(row: str) -> None:
    """Done, otherwise or to come; and at least one test, which exists."""
    text = rows()[row]
    assert re.search(r"\*\*(Done|Otherwise|To come)\*\*", text)
    shown = re.findall(r"^  - `([\w/.]+)::(\w+)`$", text, re.MULTILINE)
    assert len(shown) == len(re.findall(r"^  - ", text, re.MULTILINE)) > 0
    assert [f"{file}::{test}" for file, test in shown if test not in functions_of(file)] == []


def test_files_that_are_named_exist() -> None:
    """Whatever looks like a file of the repository is one."""
    named = re.findall(r"`((?:src|docs|examples|tests)/[\w/.]+)", PAGE)
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("command", commands())
def test_commands_that_are_named_exist(command: str) -> None:
    """Each has a help of its own."""
    told = pyctrl(*command.split(), "--help")
    assert (told.code, told.out.splitlines()[0].startswith(f"Usage: pyctrl {command}")) == (0, True)
