"""Scenarios that are named on a command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.cli._simulate.scenario import load_scenario
from pyctrl.errors import CommandFailed

ONE = "async def scale(client): ...\n"
TWO = f"from asyncio import sleep\n{ONE}async def shrink(client, world): ...\nasync def _help(): ...\nsize = 3\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with scenarios, as the current directory."""
    (tmp_path / "one_scenario.py").write_text(ONE)
    (tmp_path / "two_scenarios.py").write_text(TWO)
    (tmp_path / "web.yaml").write_text(
        "kind: A\napiVersion: v1\nmetadata: {name: a}\n---\nkind: B\napiVersion: v1\nmetadata: {name: b}\n"
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_function_of_a_file() -> None:
    """A function is named, or is the only async function of its file."""
    named, only = load_scenario("two_scenarios.py:shrink"), load_scenario("one_scenario.py")
    assert [getattr(each, "__name__", None) for each in (named, only)] == ["shrink", "scale"]


def test_objects_of_a_file() -> None:
    """The objects of a file, or of the files of a directory, are in order."""
    objects = load_scenario("web.yaml")
    assert not callable(objects)
    assert [obj["kind"] for obj in objects] == ["A", "B"]
    assert load_scenario(".") == objects


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("two_scenarios.py:grow", "--scenario: two_scenarios.py has no function 'grow'; it has scale, shrink"),
        ("two_scenarios.py:size", "two_scenarios.py has no async function 'size'; it has scale, shrink"),
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
