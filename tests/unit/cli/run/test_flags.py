"""Tests of `pyctrl run`: shared flags, the program's own flags, and error messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.cli import program
from pyctrl.client import Config
from tests.unit.cli.conftest import Run


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    """A kubeconfig of an unreachable server."""
    path = tmp_path / "kubeconfig"
    path.write_text(Config.from_token("http://127.0.0.1:1", "t").to_kubeconfig())
    return path


def test_a_program_with_a_main_of_its_own_has_the_same_flags(
    capsys: pytest.CaptureFixture[str], kubeconfig: Path, run: Run
) -> None:
    """A program with `program` has the shared flags beside its own, and its name begins each message."""

    def add_thing(manager: object, *, colour: str = "red") -> None:
        """Set up a thing."""
        raise ValueError(f"no {colour} things")

    code = program(add_thing, name="thing-operator", arguments=["--kubeconfig", str(kubeconfig), "--colour", "blue"])
    assert code == 1
    err = capsys.readouterr().err
    assert "thing-operator: setting up thing-operator failed: ValueError: no blue things\n  --> " in err
    assert '|         raise ValueError(f"no {colour} things")\n' in err
    assert program(add_thing, name="thing-operator", arguments=["--color", "blue"]) == 2
    assert "Try 'thing-operator --help'" in capsys.readouterr().err
