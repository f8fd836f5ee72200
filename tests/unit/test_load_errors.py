"""Formatting of load errors of a program, without a command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl._load_errors import load_error, loading
from pyctrl.errors import CommandFailed, ConfigError


def error_of(source: str, file: Path) -> str:
    """Return the message for a program that fails while it is imported."""
    file.write_text(source)
    with pytest.raises(CommandFailed) as failed, loading("importing operator.py"):
        exec(compile(source, str(file), "exec"), {"__name__": "operator_under_test"})
    return str(failed.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("1 / 0\n", "importing operator.py failed: ZeroDivisionError: division by zero"),
        ("raise SystemExit(3)\n", "failed: SystemExit: 3; importing it ends the process; put the code"),
        ("import no_such_package\n", "; install its package and add it to [project] dependencies"),
        ("import json.no_such_module\n", "; correct the name"),
        ("if True:\n\tx = 1\n        y = 2\n", "; indent with spaces only"),
    ],
)
def test_an_error_has_its_class_its_remedy_and_its_place(tmp_path: Path, source: str, message: str) -> None:
    """Each message has the action and the error, followed by file and line."""
    text = error_of(source, tmp_path / "operator.py")
    assert message in text
    assert "operator.py:" in text.partition("\n  --> ")[2]


def test_an_error_of_pyctrl_keeps_its_message(tmp_path: Path) -> None:
    """The location is added only once, also if the error passes two levels."""
    source = "from pyctrl.errors import ConfigError\nraise ConfigError('no kubeconfig')\n"
    text = error_of(source, tmp_path / "operator.py")
    assert text.startswith("no kubeconfig\n  --> ")
    assert str(load_error("setting up operator", CommandFailed(text))) == text


def test_an_error_without_a_line_of_the_program_has_no_place() -> None:
    """An error that was never raised has only its message."""
    assert str(load_error("importing operator.py", ConfigError("no kubeconfig"))) == "no kubeconfig"
    assert str(load_error("importing operator.py", ValueError("no"))) == "importing operator.py failed: ValueError: no"
