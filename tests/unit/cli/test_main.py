"""The command line: help, versions, errors, completion."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli._command import pyctrl
from tests.unit.cli.conftest import Run


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("run", "FILE.py, DIRECTORY or MODULE; got 'a.yaml'"),
        ("dev", "FILE.py, DIRECTORY or MODULE; got 'a.yaml'"),
        ("manifests", "a.yaml'\n"),
        ("rbac generate", "FILE.py, DIRECTORY or MODULE; got 'a.yaml'"),
        ("validate --types", "FILE.py, DIRECTORY or MODULE; got 'a.yaml'"),
        ("init", "a.yaml is a file; expected a directory"),
        ("apiserver --insecure-http --port 0 --apply", "a.yaml: yaml: "),
        ("apiserver --cert-dir", "cannot load or create a certificate authority in a.yaml: File exists"),
        ("apiserver --token-auth-file", "--token-auth-file a.yaml: "),
        ("crd import", "a.yaml: yaml: "),
        ("crd diff a.yaml", "a.yaml: yaml: "),
        ("explain widget --crd", "a.yaml: yaml: "),
        ("rbac doctor -f", "no object in a.yaml"),
        ("rbac compare a.py", "a.yaml is not text"),
        ("whoami --kubeconfig", "kubeconfig a.yaml is not text"),
    ],
)
def test_rubbish_is_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, line: str
) -> None:
    """The error for a binary file names the file, without a traceback."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.yaml").write_bytes(b"\xff\x00{]")
    told = run(*command.split(), *(["a.yaml"] if "--types" not in command else ["a.yaml", "a.yaml"]))
    assert (told.code, told.out) == (1, "")
    assert line in told.err
    assert "Traceback" not in told.err
    assert "should not happen" not in told.err
    assert [each.name for each in tmp_path.iterdir()] == ["a.yaml"]


def test_a_directory_that_cannot_be_written_is_one_line(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a file is in place of a directory, the error is one line."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    program = Path(__file__).parents[3] / "examples" / "podset"
    for command in (
        ["manifests", program, "--output-dir", "file/b"],
        ["build-installer", program, "--output-file", "file/b"],
    ):
        told = run(*command)
        assert (told.code, told.out, len(told.err.splitlines())) == (1, "", 1)
        assert "file" in told.err


def test_a_traceback_is_shown_on_demand(tmp_path: Path) -> None:
    """A failure is one line; `--traceback` at any position adds the traceback."""
    broken = ("apiserver", "--insecure-http", "--token-auth-file", tmp_path / "none.csv")
    plain, detailed = pyctrl(*broken), pyctrl(*broken[:1], "--traceback", *broken[1:])
    assert (plain.code, len(plain.err.splitlines())) == (1, 1)
    assert "Traceback" not in plain.err
    assert "Traceback" in detailed.err


def test_a_reader_that_goes_is_no_error() -> None:
    """`pyctrl … | head` ends without an error."""
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as closed:
        ran = subprocess.run(
            [sys.executable, "-m", "pyctrl", "completion", "bash"],
            stdout=closed,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ran.stderr == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_it_starts_is_quiet(number: signal.Signals) -> None:
    """Ctrl-C during imports ends the process silently, by the signal, as shells expect."""
    code = (
        "import os, signal, sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == 'pyctrl.apiserver': os.kill(os.getpid(), {int(number)})\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from pyctrl.cli import main\n"
        "sys.exit(main(['apiserver', '--insecure-http']))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (-number, "", "")
