"""Scenarios that are named on a command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.cli._simulate.scenario import load_scenario
from pyctrl.errors import CommandFailed

ONE = "async def scale(client): ...\n"
TWO = f"""\
from asyncio import sleep
{ONE}
async def shrink(client, world): ...
async def _help(): ...
size = 3
objects = [dict(kind="A")]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with scenarios, as the current directory."""
    (tmp_path / "one_scenario.py").write_text(ONE)
    (tmp_path / "two_scenarios.py").write_text(TWO)
    (tmp_path / "web.yaml").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_function_of_a_file() -> None:
    """A function is named, or is the only async function of its file."""
    named, only = load_scenario("two_scenarios.py:shrink"), load_scenario("one_scenario.py")
    assert [getattr(each, "__name__", None) for each in (named, only)] == ["shrink", "scale"]


def test_objects() -> None:
    """A file or directory of objects is its path; a list of a Python file is the list."""
    assert load_scenario("web.yaml") == Path("web.yaml")
    assert load_scenario(".") == Path()
    assert load_scenario("two_scenarios.py:objects") == [{"kind": "A"}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("two_scenarios.py:grow", "--scenario: two_scenarios.py has no grow; it has scale, shrink"),
        ("two_scenarios.py:size", "than an async function or a list by the name of size; it has scale, shrink"),
        ("two_scenarios.py", "expected FILE.py:FUNCTION or FILE.yaml; got two_scenarios.py; it has scale, shrink"),
        ("none.yaml", "--scenario: expected FILE.py:FUNCTION or FILE.yaml; none.yaml does not exist"),
        ("none.py:scale", "none.py"),
    ],
)
def test_what_is_no_scenario(text: str, said: str) -> None:
    """The error says what there is instead."""
    with pytest.raises(CommandFailed) as error:
        load_scenario(text)
    assert said in str(error.value)
