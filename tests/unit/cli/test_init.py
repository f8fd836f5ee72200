"""`pyctrl init`: the arguments of a new project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.conftest import Run


def test_a_project_is_made_in_a_directory_of_its_name(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dry run writes nothing; otherwise the directory is created, and the next step begins with cd."""
    monkeypatch.chdir(tmp_path)
    assert "+++ " in run("init", "podset-operator", "--dry-run").out
    assert list(tmp_path.iterdir()) == []
    ran = run("init", "podset-operator", "--domain", "example.com")
    assert ran.code == 0
    assert (tmp_path / "podset-operator" / "pyproject.toml").is_file()
    assert "$ cd podset-operator && pyctrl create api" in ran.err


def test_the_next_step_works_for_a_directory_with_a_space(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command that comes next can be copied into a shell."""
    monkeypatch.chdir(tmp_path)
    assert "$ cd 'my shop' && pyctrl create api" in run("init", "my shop").err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--pyctrl-from", "somewhere"], 1, "--pyctrl-from somewhere: expected a version such as 0.1.0, or a URL"),
        (["--layout", "flat"], 2, 'Invalid value "flat" for --layout'),
    ],
)
def test_invalid_arguments_are_errors(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, message: str
) -> None:
    """Invalid arguments are errors, and nothing is written."""
    monkeypatch.chdir(tmp_path)
    ran = run("init", "--name", "shop", *arguments)
    assert (ran.code, message in ran.err, list(tmp_path.iterdir())) == (code, True, [])
