"""All commands: help and version."""

from __future__ import annotations

from tests.unit.cli._command import pyctrl
from tests.unit.cli.conftest import Run


def test_no_command_is_help(run: Run) -> None:
    """Without arguments, pyctrl prints its help."""
    assert "Usage: pyctrl COMMAND" in run().out


def test_version() -> None:
    """`--version` prints only the version of the package."""
    told = pyctrl("--version")
    assert (told.code, told.out.count("\n"), told.out[0].isdigit()) == (0, 1, True)
