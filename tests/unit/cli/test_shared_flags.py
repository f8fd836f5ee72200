"""Arguments that several commands share: the program, and `-` for stdin."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.cli._shared_flags import find_program, packaged_program, refuse_options


def test_the_program_of_the_project_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--namespace overrides pyproject.toml; an option in place of the program is a flag of the project's program."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[tool.pyctrl]\nprogram = "shop"\nwatch-namespaces = ["web"]\n')
    program, watched = packaged_program(None, ())
    assert (program, list(watched)) == ("shop", ["web"])
    assert packaged_program("other.py", ["default"]) == ("other.py", ["default"])
    assert find_program("other.py", ["--a"]) == ("other.py", ["other.py"], ["--a"])
    assert find_program(None, ["--a"]) == ("shop", [], ["--a"])
    assert find_program("--colour", ["blue"]) == ("shop", [], ["--colour", "blue"])


def test_a_misspelt_option_is_not_a_file() -> None:
    """A word that begins with a hyphen is an option, except `-`."""
    refuse_options(str, None)
    refuse_options(tuple, [Path("a.yaml"), Path("-")])
    with pytest.raises(ValueError, match=r"unknown option --crds; a file of that name is \./--crds"):
        refuse_options(tuple, [Path("a.yaml"), Path("--crds")])
