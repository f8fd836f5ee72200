"""The program that a pyproject.toml names."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.errors import CommandFailed
from pyctrl.program._pyproject import program_of, program_path, read_pyproject


def write(directory: Path, text: str) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "pyproject.toml").write_text(text)


def test_a_file_is_relative_to_the_pyproject(tmp_path: Path) -> None:
    """A program that is a file of the project has its path; the function is kept; a module is unchanged."""
    (tmp_path / "ops.py").touch()
    assert program_path("ops.py:add_ops", tmp_path) == f"{tmp_path / 'ops.py'}:add_ops"
    assert program_path("shop.main", tmp_path) == "shop.main"


@pytest.mark.parametrize(
    "text", ["", "[tool.ruff]\nline-length = 120\n", "[tool.pyctrl]\nname = 'ops'\n", "[tool.pyctrl]\nprogram = '.'\n"]
)
def test_a_directory_may_name_no_program(tmp_path: Path, text: str) -> None:
    """A pyproject.toml without `program` names none, and neither does a directory without a pyproject.toml."""
    assert program_of(tmp_path) is None
    write(tmp_path, text)
    assert program_of(tmp_path) is None


def test_only_the_directory_itself_names_a_program(tmp_path: Path) -> None:
    """`program_of` reads one directory; `read_pyproject` also finds the settings of a directory above."""
    write(tmp_path, "[tool.pyctrl]\nprogram = 'ops.py'\n")
    write(tmp_path / "below", "[tool.ruff]\n")
    assert program_of(tmp_path) == "ops.py"
    assert program_of(tmp_path / "below") is None
    found = read_pyproject(tmp_path / "below")
    assert found is not None
    assert found[0] == tmp_path / "pyproject.toml"


def test_invalid_toml_is_an_error(tmp_path: Path) -> None:
    """The message names the file."""
    write(tmp_path, "[tool.pyctrl\n")
    with pytest.raises(CommandFailed, match=r"pyproject\.toml: "):
        program_of(tmp_path)
