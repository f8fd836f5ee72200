"""All help pages: each command has one, pages are consistent, and their examples are valid."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache

import pytest
from cyclopts import App, ArgumentCollection

from pyctrl.cli._commands import app
from tests._documents import page
from tests.unit.cli.conftest import Run

WIDTH = 80  # columns of a default terminal


def commands(parent: App = app, *chain: str) -> Iterator[tuple[tuple[str, ...], App]]:
    """Yield each command that can be run, with the words of its name."""
    for name, command in parent.resolved_commands().items():
        if name.startswith("-"):
            continue
        if command.default_command is None:
            yield from commands(command, *chain, name)
        else:
            yield (*chain, name), command


COMMANDS = dict(commands())
NAMES = pytest.mark.parametrize("command", COMMANDS, ids=" ".join)


@cache
def arguments_of(command: tuple[str, ...]) -> ArgumentCollection:
    """Return the arguments and flags of a command."""
    with app.app_stack([*command]):
        return COMMANDS[command].assemble_argument_collection(parse_docstring=True)


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a terminal, help has 80 columns."""
    monkeypatch.setenv("COLUMNS", str(WIDTH))


def examples_of(command: tuple[str, ...]) -> list[str]:
    """Return the shell lines of an example that call pyctrl; continued lines are one."""
    epilogue = COMMANDS[command].help_epilogue or ""
    (shell,) = re.findall(r"^```\n(.*?)^```$", epilogue, re.DOTALL | re.MULTILINE)
    lines = [line for line in shell.splitlines() if line and not line.startswith(("#", " "))]
    return [call for line in lines for call in re.findall(r"\bpyctrl (?:[^|;&<>)\"']|\"[^\"]*\"|'[^']*')*", line)]


def test_the_list_of_commands_fits_a_terminal(run: Run) -> None:
    """Each command has one line below the heading of its group, within the width of a terminal."""
    told = run("--help").out
    lines = told.splitlines()
    headings = [line for line in lines if re.fullmatch(r"\S.*:", line)]
    assert headings[0] == "Start a project:"
    assert headings[-3:] == ["Other:", "Examples:", "Exit codes:"]
    assert max(map(len, lines)) <= WIDTH
    for name in {name for name, *_ in COMMANDS}:
        assert sum(line.split()[:1] == [name] for line in lines) == 1


@pytest.mark.parametrize("name", [name for name, each in app.resolved_commands().items() if each.default_command])
def test_a_list_says_what_the_command_says(name: str) -> None:
    """The summary of a command in the list is the first line of its own page."""
    command = app[name]
    assert command._help in (None, command.help.splitlines()[0])  # the registered help, before the command was imported


@NAMES
def test_a_page_has_usage_examples_and_exit_codes(run: Run, command: tuple[str, ...]) -> None:
    """Every page has the same sections, and only examples are wider than a terminal."""
    told = run(*command, "--help")
    assert (told.code, told.err) == (0, "")
    lines = told.out.splitlines()
    assert lines[0].startswith(f"Usage: pyctrl {' '.join(command)}")
    assert "Examples:" in lines
    codes = [line.split()[0] for line in lines[lines.index("Exit codes:") + 1 :] if line[2] != " "]
    assert [code for code in codes if code in "012"] == ["0", "1", "2"]
    examples = lines[lines.index("Examples:") : lines.index("Exit codes:")]
    assert [line for line in lines if len(line) > WIDTH and line not in examples] == []
    assert not [line for line in lines if line != line.rstrip()]
    assert "default: False" not in told.out


@NAMES
def test_its_examples_can_be_typed(command: tuple[str, ...]) -> None:
    """The command, flags and values of each example parse."""
    examples = examples_of(command)
    assert any(example.split()[1 : 1 + len(command)] == list(command) for example in examples)
    for example in examples:
        tokens = shlex.split(re.sub(r"\$\([^)]*\)|\$\w+", "value", example))[1:]
        app.parse_args(tokens, exit_on_error=False, print_error=False)


def test_the_page_says_what_each_command_prints_as_json() -> None:
    """docs/cli.md names every command, and has a table row for each with ``-o``."""
    told = page("cli.md")
    rows = "".join(line.split("|")[1] for line in told.splitlines() if line.startswith("| `"))
    for command in COMMANDS:
        name = " ".join(command)
        assert f"`{name}`" in told, name
        if any("--output" in argument.names for argument in arguments_of(command)):
            assert f"`{name}`" in rows or f"`{name} --check`" in rows, name
