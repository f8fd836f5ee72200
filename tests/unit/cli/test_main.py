"""The command line itself: help, versions, mistakes, completion."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.cli._command import pyctrl
from tests.unit.cli.conftest import Run


def test_help_has_examples(run: Run) -> None:
    """Help lists commands and flags with descriptions, and examples."""
    top, command = run("--help"), run("apiserver", "--help")
    assert (top.code, command.code, top.err, command.err) == (0, 0, "", "")
    assert "Serve an in-memory Kubernetes API server" in top.out
    assert "Examples:" in top.out
    assert "pyctrl apiserver --kubeconfig-out dev.kubeconfig" in command.out
    for flag in ("--port", "--token-auth-file", "--insecure-http", "--load", "--audit", "--[no-]controllers"):
        assert flag in command.out


def test_no_command_is_help(run: Run) -> None:
    """Without arguments, pyctrl prints its help."""
    assert "Usage: pyctrl COMMAND" in run().out


def test_version() -> None:
    """The version is that of the package, alone on its line; without the script on the path too."""
    told = pyctrl("--version")
    assert (told.code, told.out.count("\n"), told.out[0].isdigit()) == (0, 1, True)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["apisrver"], "pyctrl: Unknown command"),
        (["apiserver", "--prt", "1"], "pyctrl apiserver: Unknown option: --prt. Did you mean --port?"),
        (["apiserver", "--port", "many"], "pyctrl apiserver: Invalid value for --port"),
        (["apiserver", "--port", "65536"], "pyctrl apiserver: Invalid value"),
        (["apiserver", "--audit-level", "None"], "pyctrl apiserver: Invalid value"),
        (["completion", "tcsh"], "pyctrl completion: Invalid value"),
        (["completion"], "pyctrl completion: SHELL is missing"),
        (["validate"], "pyctrl validate: FILE is missing"),
        (["create", "api", "--kind", "A"], "pyctrl create api: --version VERSION is missing"),
        (["token", "jenkins", "--duration"], "pyctrl token: --duration needs a value, DURATION"),
        (["token", "jenkins", "--duraton", "1h"], "pyctrl token: Unknown option: --duraton. Did you mean --duration?"),
        (["create", "apy"], 'pyctrl create: Unknown command "apy". Did you mean "api"?'),
    ],
)
def test_what_is_not_understood_is_exit_code_2(run: Run, arguments: list[str], line: str) -> None:
    """A usage error is one line with the error, and one that refers to help."""
    told = run(*arguments)
    first, second = told.err.splitlines()
    assert (told.code, told.out) == (2, "")
    assert first.startswith(line)
    assert second.startswith("Try '")


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("run", "FILE.py, DIRECTORY or MODULE; got 'a.yaml'"),
        ("dev", "FILE.py, DIRECTORY or MODULE; got 'a.yaml'"),
        ("manifests", "a.yaml'\n"),
        ("rbac generate", "FILE.py, DIRECTORY or MODULE; got 'a.yaml'"),
        ("validate --types", "FILE.py, DIRECTORY or MODULE; got 'a.yaml'"),
        ("init", "a.yaml is a file; expected a directory"),
        ("apiserver --insecure-http --port 0 --load", "a.yaml: yaml: "),
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
    """Bytes that are no text, in place of whatever was expected: the file is named, and there is no traceback."""
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
    """A file stands where a directory has to be made: root may write anywhere else."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    program = Path(__file__).parents[3] / "examples" / "podset"
    for command in (["manifests", program, "--config-dir", "file/b"], ["manifests", program, "--install", "file/b"]):
        told = run(*command)
        assert (told.code, told.out, len(told.err.splitlines())) == (1, "", 1)
        assert "file" in told.err


def test_a_traceback_is_shown_on_demand(tmp_path: Path) -> None:
    """A failure is one line; `--traceback`, wherever it stands, shows where it happened."""
    broken = ("apiserver", "--insecure-http", "--token-auth-file", tmp_path / "none.csv")
    plain, detailed = pyctrl(*broken), pyctrl(*broken[:1], "--traceback", *broken[1:])
    assert (plain.code, len(plain.err.splitlines())) == (1, 1)
    assert "Traceback" not in plain.err
    assert "Traceback" in detailed.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_the_flags(run: Run, shell: str) -> None:
    """The script for a shell knows commands and flags, those of commands that are imported late too."""
    told = run("completion", shell)
    assert told.code == 0
    assert "kubeconfig-out" in told.out
    assert "apiserver" in told.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_that_the_shell_reads(run: Run, shell: str) -> None:
    """Each installed shell parses its completion script."""
    script = run("completion", shell).out
    if shutil.which(shell) is not None:
        assert subprocess.run([shell, "-n"], input=script, text=True, check=False, timeout=15).returncode == 0


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["vali"], ["validate"]),
        (["rbac", "doc"], ["doctor"]),
        (["apiserver", "--no"], ["--no-controllers", "--no-kubelet"]),
        (["validate", "-o", ""], ["text", "json"]),
        (["completion", "z"], ["zsh"]),
    ],
)
def test_tab_completes_in_bash(run: Run, tmp_path: Path, words: list[str], found: list[str]) -> None:
    """Commands, their own commands, flags, and the values that a flag takes."""
    script = tmp_path / "completion.bash"
    script.write_text(run("completion", "bash").out)
    typed = shlex.join(["pyctrl", *words])
    asked = f'''source {script}; COMP_WORDS=({typed}); COMP_CWORD={len(words)}
        $(complete -p pyctrl | sed 's/.*-F \\([^ ]*\\).*/\\1/'); printf '%s\\n' "${{COMPREPLY[@]}}"'''
    ran = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True, timeout=15)
    assert ran.stdout.splitlines() == found


def test_a_reader_that_goes_is_no_error() -> None:
    """`pyctrl … | head` ends quietly."""
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
    """Ctrl-C in the midst of imports ends the process without a word, as the shell expects it."""
    code = (
        "import os, signal, sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == 'pyctrl.apiserver': os.kill(os.getpid(), {int(number)})\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from pyctrl.cli import main\n"
        "sys.exit(main(['apiserver', '--insecure-http']))\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=15, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (-number, "", "")
