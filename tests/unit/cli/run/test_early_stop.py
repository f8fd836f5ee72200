"""SIGTERM before an operator's manager runs: the operator stops in order with exit code 0."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from pyctrl.cli import program
from pyctrl.client import Config
from tests.unit.cli.conftest import Run

TERM = "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n"
TURNED = """\
import os, signal
try:
    os.kill(os.getpid(), signal.SIGTERM)
except SystemExit as error:
    raise KeyError from error
"""
FUNCTION = """\
import os, signal

def add_things(manager) -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    print("wired")
"""


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Path:
    """A kubeconfig of an unreachable server."""
    path = tmp_path / "kubeconfig"
    path.write_text(Config.from_token("http://127.0.0.1:1", "t").to_kubeconfig())
    return path


@pytest.mark.parametrize(
    "text",
    [TERM, TURNED],
    ids=["imports", "turned into another error"],
)
def test_sigterm_while_the_program_is_imported_ends_with_0(
    run: Run, tmp_path: Path, kubeconfig: Path, text: str
) -> None:
    """One line reports the signal, without an error of the program, and the former handler is restored."""
    before = signal.getsignal(signal.SIGTERM)
    (tmp_path / "things.py").write_text(text)
    ran = run("run", tmp_path / "things.py", "--kubeconfig", kubeconfig)
    assert (ran.code, ran.err) == (0, "pyctrl: stopped by SIGTERM before it ran\n")
    assert signal.getsignal(signal.SIGTERM) is before


def test_sigterm_while_it_is_wired_ends_with_0(run: Run, tmp_path: Path, kubeconfig: Path) -> None:
    """The event loop handles the signal by then: the manager stops as soon as it runs."""
    (tmp_path / "things.py").write_text(FUNCTION)
    addresses = ("--health-probe-bind-address", "0", "--metrics-bind-address", "0")
    ran = run("run", tmp_path / "things.py", "--kubeconfig", kubeconfig, *addresses)
    assert (ran.code, ran.out) == (0, "wired\n")
    assert "Signal received, stopping" in ran.err


def test_sigterm_while_definitions_are_installed_ends_with_0(run: Run, tmp_path: Path, kubeconfig: Path) -> None:
    """The installation of CRDs is cancelled."""
    (tmp_path / "things.py").write_text(INSTALLED)
    addresses = ("--health-probe-bind-address", "0", "--metrics-bind-address", "0")
    ran = run("run", tmp_path / "things.py", "--kubeconfig", kubeconfig, "--install-crds", *addresses)
    assert ran.code == 0
    assert "Signal received before the manager ran, stopping" in ran.err


INSTALLED = """\
import asyncio, os, signal
from pyctrl import Builder, CustomResource, Model, Reconciler

class Thing(CustomResource[Model], group="a.example.com", version="v1"):
    "A thing."

class ThingReconciler(Reconciler[Thing]):
    async def reconcile(self, request) -> None: ...

def add_things(manager) -> None:
    Builder(manager).reconciles(Thing).build(ThingReconciler())
    asyncio.get_running_loop().call_soon(os.kill, os.getpid(), signal.SIGTERM)
"""


def test_other_commands_are_ended_by_the_signal(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that run no program do not handle SIGTERM."""
    handlers: list[object] = []
    real: Callable[..., object] = signal.signal

    def install(number: int, handler: object) -> object:
        handlers.append(number)
        return real(number, handler)

    monkeypatch.setattr(signal, "signal", install)
    assert run("--help").code == 0
    assert signal.SIGTERM not in handlers


def test_a_program_of_its_own_stops_in_order_too(
    run: Run, capsys: pytest.CaptureFixture[str], kubeconfig: Path
) -> None:
    """`program` handles SIGTERM as `pyctrl run` does."""

    def add_thing(manager: object) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    arguments = ["--kubeconfig", str(kubeconfig), "--health-probe-bind-address", "0", "--metrics-bind-address", "0"]
    assert program(add_thing, name="thing-operator", arguments=arguments) == 0
    assert "Signal received, stopping" in capsys.readouterr().err
