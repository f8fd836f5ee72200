"""Tests of the module of a program: names, imports, and imports after changes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pyctrl.errors import CommandFailed
from pyctrl.program import ProgramModule, Target

pytestmark = pytest.mark.usefixtures("imports_as_before")


def test_reimport_reads_saved_files_and_restores_modules_on_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second of two saves within a second is imported; a failed import keeps the previous modules."""
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    file = tmp_path / "number.py"
    file.write_text("value = 1\n")
    place = Target.parse(str(file)).place
    assert place.load().value == 1
    file.write_text("value = 2\n")
    with place.reimported():
        assert place.load().value == 2
    file.write_text("value = 3\nraise ValueError('half')\n")
    with pytest.raises(CommandFailed, match=r"ValueError: half\n  --> .*number.py:2:1"), place.reimported():
        place.load()
    assert place.load().value == 2
    file.write_text("value =\n")
    with pytest.raises(CommandFailed, match=r"SyntaxError: invalid syntax\n  --> .*number.py:1:8"), place.reimported():
        place.load()


def test_files_with_one_name_in_two_directories_are_two_programs(tmp_path: Path) -> None:
    """Each file is imported, and a failed import of another one keeps the previous module."""
    places = [tmp_path / name / "ops.py" for name in ("one", "two", "broken")]
    for place, text in zip(places, ("value = 1\n", "value = 2\n", "value =\n"), strict=True):
        place.parent.mkdir()
        place.write_text(text)
    one, two, broken = (ProgramModule.parse(str(place)) for place in places)
    assert [one.load().value, two.load().value] == [1, 2]
    with pytest.raises(CommandFailed, match="SyntaxError"):
        broken.load()
    assert sys.modules["pyctrl_target_ops"].value == 2


@pytest.mark.parametrize("named", [".", "ops.py"])
def test_a_file_may_have_the_name_of_its_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str) -> None:
    """A file ops.py in a directory ops is not mistaken for the package ops."""
    folder = tmp_path / "ops"
    folder.mkdir()
    (folder / "ops.py").write_text("value = 1\n")
    (folder / "__main__.py").write_text("from .ops import value\n")
    monkeypatch.chdir(folder)
    assert ProgramModule.parse(named).load().value == 1
