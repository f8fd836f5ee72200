"""What the pages of the documentation name exists: tests, files, and the places that they link to."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from tests._documents import ROOT, lacking_tests

PAGES = sorted(str(file.relative_to(ROOT)) for file in [*ROOT.glob("docs/**/*.md"), ROOT / "README.md"])


@cache
def anchors(file: Path) -> frozenset[str]:
    """Return what can be linked to within a page: its headings, as GitHub spells them."""
    text = re.sub(r"^```.*?^```$", "", file.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)


def leads_to_a_heading(link: str, file: Path) -> bool:
    """Whether a link of a page to a place in a page, this or another one, leads there."""
    target, _, anchor = link.partition("#")
    found = (file.parent / target).resolve() if target else file
    return found.suffix != ".md" or anchor in anchors(found)


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_names_exists(name: str) -> None:
    """Tests, files of the repository, and the headings of other pages."""
    file = ROOT / name
    text = file.read_text()
    files = re.findall(r"`((?:src|docs|examples|tests|benchmarks)/[\w/.-]+)`", text)
    links = re.findall(r"\]\(((?!\w+:)[^)\s]*#[^)\s]*)\)", text)

    assert lacking_tests(text) == []
    assert [each for each in files if not (ROOT / each).exists()] == []
    assert [link for link in links if not leads_to_a_heading(link, file)] == []
