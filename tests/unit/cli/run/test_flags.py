"""Tests of `pyctrl run`: its flags, those of the program, and error messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from pyctrl.cli import program
from pyctrl.client import Config
from tests.unit.cli.conftest import Run

PROGRAM = """\
from pyctrl import Builder, CustomResource, Model, Reconciler, Request


class Thing(CustomResource[Model], group="a.example.com", version="v1"):
    "A thing."


class ThingReconciler(Reconciler[Thing]):
    async def reconcile(self, request: Request) -> None: ...


def add_things(manager, *, colour: str = "red", shape: str = "round") -> None:
    print("things are", colour, shape)
    {then}
    Builder(manager).build(ThingReconciler())
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A program that says what its flags were and then cannot be wired."""
    path = tmp_path / "things.py"
    path.write_text(PROGRAM.format(then="raise ValueError('no more')"))
    return path


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    """A kubeconfig of a server that nobody reaches."""
    path = tmp_path / "kubeconfig"
    path.write_text(Config.from_token("http://127.0.0.1:1", "t").to_kubeconfig())
    return path


def test_a_programs_own_flags_come_after_two_dashes(run: Run, file: Path, kubeconfig: Path) -> None:
    """Keyword arguments of its function are flags; what it raises is one line."""
    ran = run("run", file, "--kubeconfig", kubeconfig, "--", "--colour", "blue")
    assert (ran.code, ran.out) == (1, "things are blue round\n")
    assert "pyctrl: setting up things failed: ValueError: no more\n  --> " in ran.err


def test_help_of_a_program_lists_its_own_flags(run: Run, file: Path) -> None:
    """``-- --help`` is about the program, and runs nothing."""
    ran = run("run", file, "--", "--help")
    assert ran.code == 0
    assert "--colour" in ran.out
    assert "things are" not in ran.out


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("missing.py",), 1, "pyctrl: no such file: missing.py"),
        (("{file}", "--", "--size", "1"), 2, "pyctrl run {file} --: Unknown option: --size"),
        (("{file}", "--zap-log-level", "loud"), 2, 'pyctrl run: Invalid value "loud" for --zap-log-level'),
        (("{file}", "--graceful-shutdown-timeout", "soon"), 2, "'soon' is not a duration"),
        (("{file}:nothing",), 1, "has no function 'nothing'; it has add_things"),
        (("{file}", "--metrics-bind-address", "here"), 1, "metrics_bind_address is an address such as"),
        (("{file}", "--no-metrics-secure", "--metrics-cert-dir", "x"), 1, "contradict each other"),
        (("{file}", "--leader-elect", "--leader-election-id", "No"), 1, "a Lease needs a name"),
    ],
)
def test_what_cannot_be_run_is_one_line(
    run: Run, file: Path, kubeconfig: Path, arguments: tuple[str, ...], code: int, told: str
) -> None:
    """1: it cannot be done; 2: the flags were not understood. Never a traceback."""
    first, *rest = (each.format(file=file) for each in arguments)
    ran = run("run", first, "--kubeconfig", kubeconfig, *rest)
    assert ran.code == code
    assert told.format(file=file) in ran.err
    assert "Traceback" not in ran.err


def test_a_program_with_a_main_of_its_own_has_the_same_flags(
    capsys: pytest.CaptureFixture[str], kubeconfig: Path, run: Run
) -> None:
    """Its own flags stand beside the shared ones, and messages begin with its name."""

    def add_thing(manager: object, *, colour: str = "red") -> None:
        """Wire a thing."""
        raise ValueError(f"no {colour} things")

    code = program(add_thing, name="thing-operator", arguments=["--kubeconfig", str(kubeconfig), "--colour", "blue"])
    assert code == 1
    err = capsys.readouterr().err
    assert "thing-operator: setting up thing-operator failed: ValueError: no blue things\n  --> " in err
    assert '|         raise ValueError(f"no {colour} things")\n' in err
    assert program(add_thing, name="thing-operator", arguments=["--color", "blue"]) == 2
    assert "Try 'thing-operator --help'" in capsys.readouterr().err
