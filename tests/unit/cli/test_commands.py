"""All commands: help, version and shell completion."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.unit.cli._command import pyctrl
from tests.unit.cli.conftest import Run


def test_no_command_is_help(run: Run) -> None:
    """Without arguments, pyctrl prints its help."""
    assert "Usage: pyctrl COMMAND" in run().out


def test_version() -> None:
    """`--version` prints only the version of the package."""
    told = pyctrl("--version")
    assert (told.code, told.out.count("\n"), told.out[0].isdigit()) == (0, 1, True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_the_flags(run: Run, shell: str) -> None:
    """The completion script has all commands and flags, also of commands that are imported lazily."""
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
    """Tab completes commands, subcommands, flags, and the values of a flag."""
    script = tmp_path / "completion.bash"
    script.write_text(run("completion", "bash").out)
    typed = shlex.join(["pyctrl", *words])
    asked = f'''source {script}; COMP_WORDS=({typed}); COMP_CWORD={len(words)}
        $(complete -p pyctrl | sed 's/.*-F \\([^ ]*\\).*/\\1/'); printf '%s\\n' "${{COMPREPLY[@]}}"'''
    ran = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True, timeout=15)
    assert ran.stdout.splitlines() == found
