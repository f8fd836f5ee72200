"""A program's own flags, after `--`."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.client import Config
from tests.unit.cli.conftest import Run
from tests.unit.cli.run._programs import PROGRAM


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A program whose setup prints its flags and then fails."""
    path = tmp_path / "things.py"
    path.write_text(PROGRAM.format(then="raise ValueError('no more')"))
    return path


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    """A kubeconfig of an unreachable server."""
    path = tmp_path / "kubeconfig"
    path.write_text(Config.from_token("http://127.0.0.1:1", "t").to_kubeconfig())
    return path


def test_a_programs_own_flags_come_after_two_dashes(run: Run, file: Path, kubeconfig: Path) -> None:
    """Keyword arguments of the setup function are flags, and its error is one line."""
    ran = run("run", file, "--kubeconfig", kubeconfig, "--", "--colour", "blue")
    assert (ran.code, ran.out) == (1, "things are blue round\n")
    assert "pyctrl: setting up things failed: ValueError: no more\n  --> " in ran.err


def test_help_of_a_program_lists_its_own_flags(run: Run, file: Path) -> None:
    """``-- --help`` lists the program's own flags and runs nothing."""
    ran = run("run", file, "--", "--help")
    assert ran.code == 0
    assert "--colour" in ran.out
    assert "things are" not in ran.out
