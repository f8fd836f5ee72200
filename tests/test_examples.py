"""The ladder of examples: each is a project that a user can copy, small enough to read at once."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from pyctrl.client import Config
from pyctrl.manager import Manager, NoServer
from pyctrl.program import Target

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
LADDER = sorted(EXAMPLES.glob("[0-9][0-9]_*"))
LINES = 60
LONGER = ("05", "09")  # a whole tutorial, and a database with its users


@pytest.fixture(params=LADDER, ids=[each.name for each in LADDER])
def example(request: pytest.FixtureRequest) -> Path:
    """An example of the ladder."""
    directory: Path = request.param
    return directory


def test_an_example_is_one_short_file(example: Path) -> None:
    """The program of an example is a file of 60 lines at most."""
    program = tomllib.loads((example / "pyproject.toml").read_text())["tool"]["pyctrl"]["program"]
    if not example.name.startswith(LONGER):
        assert len((example / program).read_text().splitlines()) <= LINES


def test_an_example_is_explained(example: Path) -> None:
    """Each example has a page with a diagram and the command that runs it, and is listed in the index."""
    page = (example / "README.md").read_text()
    assert "```mermaid" in page
    assert f"pyctrl dev examples/{example.name}" in page
    assert f"]({example.name}/README.md)" in (EXAMPLES / "README.md").read_text()


def test_an_example_has_a_sample_and_a_test(example: Path) -> None:
    """There are objects to apply, and a test to copy."""
    assert [*example.glob("config/**/*.yaml")]
    assert [*example.glob("**/test_*.py")]


async def test_an_example_can_be_set_up(example: Path) -> None:
    """The directory names a program, which `pyctrl dev` finds by it."""
    async with Manager(Config.in_process(NoServer())) as manager:
        Target.parse(str(example)).find()(manager)
        assert manager.members


def test_the_index_has_the_number_of_lines() -> None:
    """The lines that the index states are those of the programs."""
    rows = re.findall(r"\]\((\w+)/README\.md\).*?\[(\d+) lines\]\((\S+?)\)", (EXAMPLES / "README.md").read_text())
    assert rows
    for _, lines, program in rows:
        assert len((EXAMPLES / program).read_text().splitlines()) == int(lines), program
