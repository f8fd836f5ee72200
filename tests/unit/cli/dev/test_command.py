"""Tests of errors of `pyctrl dev` at start. tests/unit/dev and tests/integration test sessions."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run
from tests.unit.cli.dev._program import PROGRAM


def test_a_project_says_itself_what_its_program_is(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PROGRAM is optional in and below a project; elsewhere the error names the setting."""
    monkeypatch.chdir(tmp_path)
    told = run("dev")
    assert told.code == 1
    assert told.err.endswith('or set it in pyproject.toml: [tool.pyctrl] program = "FILE.py"\n')
    (tmp_path / "pyproject.toml").write_text('[tool.pyctrl]\nprogram = "nothing.py"\n')
    (tmp_path / "nothing.py").write_text(PROGRAM)
    (tmp_path / "below").mkdir()
    monkeypatch.chdir(tmp_path / "below")
    for command in ("dev", "run"):
        told = run(command, "--", "--help")
        assert (told.code, "--colour" in told.out) == (0, True)


def test_help_of_a_program_lists_its_own_flags(run: Run, tmp_path: Path) -> None:
    """``-- --help`` lists the program's own flags and starts nothing."""
    file = tmp_path / "nothing.py"
    file.write_text(PROGRAM)
    ran = run("dev", file, "--", "--help")
    assert ran.code == 0
    assert "--colour" in ran.out
