"""The pictures of `pyctrl dev` in the README and in docs/running.md, which tools/record_dev.py records."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools._terminal_svg import Frame, Pane, Run, animation, problems, still

ROOT = Path(__file__).resolve().parent.parent
SVG = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{}</svg>'
PANE = Pane("a.py", 20, 2)


@pytest.mark.parametrize("name", ["dev.svg", "dev-error.svg"])
def test_the_pictures_need_no_script_and_no_other_file(name: str) -> None:
    """The pictures are well-formed and small, and work where scripts and requests are not allowed."""
    assert problems((ROOT / "docs" / "images" / name).read_text()) == []


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("<script/>", "it has an element script"),
        ('<g onload="x()"/>', "it has the attribute onload='x()'"),
        ('<use href="other.svg#a"/>', "it has the attribute href='other.svg#a'"),
        ('<rect fill="url(https://example.com)"/>', "it has the attribute fill='url(https://example.com)'"),
        ("<style>@font-face{src:url(font.woff)}</style>", "its style refers to a file"),
        ("<g>", "it is not well-formed: mismatched tag: line 1, column 88"),
        ("x" * 300_001, "300,090 bytes are more than 300,000"),
    ],
)
def test_pictures_that_would_not_work_are_found(content: str, problem: str) -> None:
    """A script, a reference to another file, bad XML and a large file are problems."""
    assert problem in problems(SVG.format(content))


def test_a_line_that_several_frames_have_is_stored_once() -> None:
    """An animation shows each frame for its time, and refers to lines that it has already."""
    first, second = (Run(0, "a < b"),), (Run(2, "two", is_bold=True),)
    frames = [Frame(((first, second),), "one", 1), Frame(((first, ()),), "two", 3)]
    text = animation([PANE], frames)
    assert problems(text) == []
    assert (text.count("a &lt; b"), text.count('href="#l0"'), text.count('href="#l1"')) == (1, 2, 1)
    assert "@keyframes k1{0%{visibility:hidden}25.000%{visibility:visible}100.000%,100%" in text
    assert "animation" not in still([PANE], frames[0])
