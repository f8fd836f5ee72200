"""One vocabulary of flags: the same name for the same thing in all commands, and errors that lead to it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import pytest
from cyclopts import Argument

from pyctrl.cli._flag_names import HIDDEN_NAMES, unknown_option
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_help import COMMANDS, arguments_of

SHORT = {"-A": "--all-namespaces", "-f": "--filename", "-n": "--namespace", "-o": "--output", "-v": "--verbose"}
SHORT |= {"-j": "--jobs", "-p": "--print", "-w": "--watch"}

#: Flags whose meaning depends on the command, and why.
EXCEPTIONS = {
    "--force": "overwrites or removes what the command otherwise leaves alone",
    "--image": "kubebuilder's, of a created Deployment; elsewhere the program's own image",
    "--name": "the name of what the command makes: a project, roles, or the prefix of objects",
    "--print": "setup-envtest's, the form of what is printed; `image build` prints instead of building",
    "--version": "kubebuilder's, of a kind; operator-sdk's, of a bundle",
    **dict.fromkeys(("--default", "--validate", "--convert"), "`create` adds what `delete` removes"),
}


def flags() -> Iterator[tuple[str, str, Argument]]:
    """Yield each shown name of each flag of each command."""
    for command in COMMANDS:
        for argument in arguments_of(command):
            for name in argument.names:
                if argument.show and name.startswith("--") and not name.startswith("--no-"):
                    yield " ".join(command), name, argument


def meaning(argument: Argument) -> tuple[str, str | None, str]:
    """Return the type of a value, its placeholder, and the first sentence of the description."""
    text = " ".join((argument.parameter.help or "").split())
    return _type(argument.hint), argument.parameter.metavar, re.split(r"[.,:;](?: |$)", text)[0]


def _type(hint: Any) -> str:
    """Return a type without None, and all choices as the same one."""
    kinds = [each for each in get_args(hint) if each is not type(None)]
    if get_origin(hint) is Literal:
        return "choice"
    return _type(kinds[0]) if len(kinds) == 1 and get_origin(hint) is not tuple else str(hint)


def test_a_name_has_one_meaning() -> None:
    """A flag has the same type, placeholder and first sentence in all commands."""
    found: dict[str, dict[Any, str]] = defaultdict(dict)
    for command, name, argument in flags():
        found[name].setdefault(meaning(argument), command)
    different = {name: each for name, each in found.items() if len(each) > 1}
    assert {name: each for name, each in different.items() if name not in {*EXCEPTIONS, *HIDDEN_NAMES}} == {}
    assert sorted(different.keys() - HIDDEN_NAMES) == sorted(EXCEPTIONS)


def test_a_meaning_has_one_name() -> None:
    """No two flags have the same description; second names of a flag are hidden."""
    names: dict[str, set[str]] = defaultdict(set)
    for _, name, argument in flags():
        if name not in HIDDEN_NAMES:
            names[meaning(argument)[2]].add(name)
    assert {text: each for text, each in names.items() if len(each) > 1} == {}


def test_the_names_that_replaced_others_are_the_only_ones() -> None:
    """Namespaces, formats and paths of output have one name each in all commands."""
    found = {name for _, name, _ in flags()} - HIDDEN_NAMES
    assert {name for name in found if "namespace" in name} == {
        *("--all-namespaces", "--leader-election-namespace", "--namespace", "--watch-namespace"),
        "--namespaced",
    }
    assert {name for name in found if "output" in name or name.endswith("-out")} == {
        *("--output", "--output-dir", "--output-file"),
    }
    assert {name for name in found if "log-" in name} == {"--audit-log-format", "--log-format", "--log-level"}


def test_short_flags_and_placeholders() -> None:
    """A short flag has the same long form in all commands, and each flag with a value shows a placeholder."""
    for _, name, argument in flags():
        assert all(SHORT[short] in argument.names for short in argument.names if not short.startswith("--"))
        assert argument.hint in (bool, bool | None) or argument.parameter.metavar, name


def test_hidden_names_are_accepted_and_not_shown(run: Run) -> None:
    """Earlier names and those of Go operators work, and no help page has them."""
    accepted = {name for _, name, _ in flags()} & HIDDEN_NAMES
    assert accepted == HIDDEN_NAMES
    for command in COMMANDS:
        assert not HIDDEN_NAMES & set(
            re.findall(r"^ +(?:-\w, )?(--[a-z-]+)", run(*command, "--help").out, re.MULTILINE)
        )


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("run --namespace web", "pyctrl run: Unknown option: --namespace. It is called --watch-namespace\n"),
        ("run -n web", "pyctrl run: Unknown option: -n. It is called --watch-namespace\n"),
        ("rbac generate --leader-elect a", "Unknown option: --leader-elect. It is called --leader-election-id\n"),
        ("rbac compare -n a", "Unknown option: -n. It is called --watch-namespace\n"),
        ("manifests --config-dir a", "Unknown option: --config-dir. It is called --output-dir\n"),
        ("manifests --install a", "To write all manifests to one file: pyctrl build-installer --output-file FILE\n"),
        ("helm --chart-dir a", "Unknown option: --chart-dir. It is called --output-dir\n"),
        ("whoami --print token", "Unknown option: --print. It is called --output\n"),
        ("explain pod --cluster", "Unknown option: --cluster. It is called --from-cluster\n"),
        ("apiserver --rbac", "Unknown option: --rbac\n"),  # --traceback is not similar enough
        ("completion --helo", "Unknown option: --helo. Did you mean --help?\n"),
        ("version now", "pyctrl version: unexpected argument 'now'\n"),
        ("version right now", "pyctrl version: unexpected arguments 'right', 'now'\n"),
    ],
)
def test_an_old_or_misspelt_name_leads_to_the_new_one(run: Run, line: str, said: str) -> None:
    """The error for a flag that was renamed or misspelt names the right one, with exit code 2."""
    ran = run(*line.split())
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_each_misspelt_flag_is_corrected(command: tuple[str, ...]) -> None:
    """For each flag of each command, a name without its third letter suggests the flag."""
    known = [name for argument in arguments_of(command) for name in argument.names if name.startswith("--")]
    for name in {*known, "--help"} - HIDDEN_NAMES:
        wrong = name[:4] + name[5:]
        if len(name) > 6 and wrong not in known:  # "--as" is too short to be recognised
            assert f"Did you mean --{name[2]}" in unknown_option(wrong, known), name
