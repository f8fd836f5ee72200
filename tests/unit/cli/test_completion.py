"""Shell completion: the scripts are short to read and complete commands, flags and values."""

from __future__ import annotations

import re
import resource
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from pyctrl.cli._flag_names import HIDDEN_NAMES
from tests.unit.cli.conftest import Run

READS = {  # how each shell reads the script without its own start-up files
    "bash": ["bash", "--norc", "-c", "source {file}"],
    "zsh": ["zsh", "-f", "-c", "autoload -U compinit; compdef() {{ : }}; source {file}"],
    "fish": ["fish", "--no-config", "-c", "source {file}"],
}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_the_flags(run: Run, shell: str) -> None:
    """The completion script has all commands and flags, also of commands that are imported lazily."""
    told = run("completion", shell)
    assert told.code == 0
    assert "write-kubeconfig" in told.out
    assert "apiserver" in told.out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_a_script_that_the_shell_reads(run: Run, shell: str) -> None:
    """Each installed shell parses its completion script."""
    script = run("completion", shell).out
    if shutil.which(shell) is not None:
        assert subprocess.run([shell, "-n"], input=script, text=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["vali"], ["validate"]),
        (["rbac", "doc"], ["doctor"]),
        (["apiserver", "--no"], ["--no-controllers", "--no-kubelet", "--nodes"]),
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
    ran = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_second_names_are_not_completed(run: Run, shell: str) -> None:
    """The script offers each flag by one name."""
    script = run("completion", shell).out
    offered = {
        "bash": re.findall(r'"(--[a-z-]+)"', script),
        "zsh": re.findall(r"^ *'\*?(--[a-z-]+)\[", script, re.MULTILINE),
        "fish": [f"--{name}" for name in re.findall(r"^complete .* -l ([a-z-]+)", script, re.MULTILINE)],
    }[shell]
    words = {word for each in offered for word in each.split()}
    assert "--watch-namespace" in words
    assert not words & HIDDEN_NAMES


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_reading_the_script_costs_a_shell_little(run: Run, tmp_path: Path, shell: str) -> None:
    """A shell reads the script in 50 ms of CPU, the time of its own start included."""
    if shutil.which(shell) is None:
        return
    file = tmp_path / "script"
    file.write_text(run("completion", shell).out)
    command = [each.format(file=file) for each in READS[shell]]
    spent = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    assert min(spent) < 0.05
