"""The diagrams of docs/: each is drawn as its source is, and described for readers who do not see it."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from tools.draw_diagrams import DRAWN, diagrams, for_the_site, hash_of, name_of, stale

FLOW = "flowchart TD\n  accTitle: A title, and more\n  accDescr: It shows this.\n  a --> b\n"


def test_every_diagram_is_drawn_as_its_source_is() -> None:
    """No diagram has changed since it was drawn, and each drawn one is on a page."""
    assert stale() == []


def test_a_change_of_a_diagram_is_noticed() -> None:
    """Another source has another hash."""
    assert hash_of(FLOW) != hash_of(FLOW.replace("a --> b", "b --> a"))


def test_a_diagram_is_named_for_its_title() -> None:
    """The file name is the title of the diagram, which must also have a description."""
    assert name_of(FLOW) == "a-title-and-more"
    with pytest.raises(ValueError, match="expected a diagram with accTitle and accDescr"):
        name_of(FLOW.replace("accDescr", "description"))


@pytest.mark.parametrize("name", diagrams())
def test_a_drawn_diagram_follows_the_colours_of_the_page(name: str) -> None:
    """An SVG has a title, a description, a width and variables as colours, and it fetches nothing."""
    text = (DRAWN / f"{name}.svg").read_text()
    root = ET.fromstring(text)

    assert root.findtext("{*}title")
    assert root.findtext("{*}desc")
    assert root.get("role") == "img"
    assert (root.get("width") or "").isdigit()
    assert "var(--ink)" in text
    assert "#17202b" not in text
    assert not re.search(r"(?:href=|url\()[\"']?http", text)


def test_colours_become_variables_of_the_site() -> None:
    """Mermaid's colours are those of the mode of the page, and the SVG is as wide as it is drawn."""
    svg = '<svg width="100%" style="max-width: 90px;" viewBox="0 0 90.4 20"><rect fill="#e8effd"/></svg>'

    assert for_the_site(svg) == '<svg width="90" viewBox="0 0 90.4 20"><rect fill="var(--blue-soft)"/></svg>'
