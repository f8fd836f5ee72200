"""Runner of `pyctrl dev`: errors at start."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli._command import apiserver
from tests.unit.cli.conftest import Run
from tests.unit.cli.dev._program import PROGRAM


@pytest.mark.parametrize(
    ("text", "arguments", "code", "told"),
    [
        ("value =\n", (), 1, "pyctrl: importing {file} failed: SyntaxError: invalid syntax\n  --> {file}:1:8\n"),
        (PROGRAM, (), 1, "pyctrl: setting up nothing failed: ValueError: no red\n  --> {file}:2:5\n"),
        (
            PROGRAM,
            ("--", "--colour", "blue"),
            1,
            "pyctrl: setting up nothing failed: ValueError: no blue\n  --> {file}:2:5\n",
        ),
        (PROGRAM, ("--", "--size", "1"), 2, "pyctrl dev {file} --: Unknown option: --size\n"),
        (PROGRAM, ("--apply", "nowhere.yaml"), 1, "pyctrl: --apply: no such file: nowhere.yaml\n"),
        (PROGRAM, ("--port", "99999"), 2, "pyctrl dev: "),
        (
            PROGRAM,
            ("--write-kubeconfig", "{file}"),
            1,
            "pyctrl: --write-kubeconfig {file}: the file exists and pyctrl did",
        ),
    ],
)
def test_what_cannot_be_followed_is_one_line(
    run: Run, tmp_path: Path, text: str, arguments: tuple[str, ...], code: int, told: str
) -> None:
    """A program that cannot be loaded is an error, and no kubeconfig is written."""
    file = tmp_path / "nothing.py"
    file.write_text(text)
    given = [each.format(file=file) for each in arguments]
    ran = run("dev", file, *(() if "--write-kubeconfig" in given else ("--write-kubeconfig", tmp_path / "k")), *given)
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith(told.format(file=file))
    assert not (tmp_path / "k").exists()


def test_two_sessions_do_not_share_a_kubeconfig(run: Run, tmp_path: Path) -> None:
    """A kubeconfig is not overwritten while its server runs."""
    file, kubeconfig = tmp_path / "nothing.py", tmp_path / "k"
    file.write_text(PROGRAM)
    arguments = ("dev", file, "--write-kubeconfig", kubeconfig)
    with apiserver("--insecure-http", "--write-kubeconfig", kubeconfig) as served:
        url = served.url
        told = run(*arguments)
        assert told.err.startswith(
            f"pyctrl: {kubeconfig} belongs to {url}, which is running: stop the other pyctrl dev"
        )
    assert "setting up nothing failed" in run(*arguments).err
