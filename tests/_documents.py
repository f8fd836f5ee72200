"""Helpers that read the documentation, for the tests that compare it with the repository."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

__all__ = ["ROOT", "anchors", "functions_of", "headings", "lacking_tests", "page"]

ROOT = Path(__file__).resolve().parent.parent


def page(name: str) -> str:
    """Read a page of the documentation."""
    return (ROOT / "docs" / name).read_text()


@cache
def headings(file: Path) -> tuple[str, ...]:
    """Return the headings of a page, from top to bottom."""
    text = re.sub(r"^```.*?^```$", "", file.read_text(), flags=re.DOTALL | re.MULTILINE)
    return tuple(re.findall(r"^#+ (.*)$", text, re.MULTILINE))


def anchors(file: Path) -> frozenset[str]:
    """Return the link targets of a page: its headings, as GitHub spells them."""
    return frozenset(re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings(file))


@cache
def functions_of(file: str) -> frozenset[str]:
    """Return the names of the test functions in a file; empty if the file does not exist."""
    path = ROOT / file
    tree = ast.parse(path.read_text() if path.is_file() else "")
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return frozenset(function.name for function in functions if function.name.startswith("test_"))


def lacking_tests(text: str) -> list[str]:
    """Return the tests that a text names as ``tests/file.py::test_name`` and that do not exist."""
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    return [f"{file}::{test}" for file, test in named if test not in functions_of(file)]
