"""Tests, files and link targets named in the documentation exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests._documents import ROOT, anchors, lacking_tests

PAGES = sorted(str(file.relative_to(ROOT)) for file in [*ROOT.glob("docs/**/*.md"), ROOT / "README.md"])


def leads_to_a_heading(link: str, file: Path) -> bool:
    """Return whether a link to a place in this page or another one leads to a heading."""
    target, _, anchor = link.partition("#")
    found = (file.parent / target).resolve() if target else file
    return found.suffix != ".md" or anchor in anchors(found)


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_names_exists(name: str) -> None:
    """The tests, files and headings that a page names exist."""
    file = ROOT / name
    text = file.read_text()
    files = re.findall(r"`((?:src|docs|examples|tests|benchmarks)/[\w/.-]+)`", text)
    links = re.findall(r"\]\(((?!\w+:)[^)\s]*#[^)\s]*)\)", text)

    assert lacking_tests(text) == []
    assert [each for each in files if not (ROOT / each).exists()] == []
    assert [link for link in links if not leads_to_a_heading(link, file)] == []
