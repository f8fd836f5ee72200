"""Test of the call path of `pyctrl run` from the arguments to `Manager.run`: cli is entered and left once."""

from __future__ import annotations

import subprocess
import sys
from itertools import groupby
from pathlib import Path

import pytest

from pyctrl.client import Config

ROOT = Path(__file__).parents[4]

# Prints the package of each function of pyctrl that is called, in order; module bodies and their callees do not count.
TRACE = """
import os, sys
import pyctrl
from pyctrl.cli import main

SOURCES = os.path.dirname(pyctrl.__file__) + os.sep
called = []


def is_import(frame):
    while frame is not None:
        code = frame.f_code
        if code.co_name == "<module>" and code.co_filename.startswith(SOURCES) or "importlib" in code.co_filename:
            return True
        frame = frame.f_back
    return False


def trace(frame, event, argument):
    code = frame.f_code
    if event != "call" or not code.co_filename.startswith(SOURCES) or is_import(frame):
        return
    if not code.co_filename.endswith(("_settings.py", "_pyproject.py")):
        called.append(code.co_filename.removeprefix(SOURCES).split(os.sep)[0])
    if code.co_qualname == "Manager.run":
        print(*called)
        sys.stdout.flush()
        os._exit(0)


sys.setprofile(trace)
main(sys.argv[1:])
"""


@pytest.mark.parametrize(
    ("arguments", "blocks"),
    [
        (("examples/podset",), 1),
        (("examples/evc", "--", "--storage-class", "fast"), 2),
    ],
    ids=["no own flags", "own flags"],
)
def test_cli_is_left_once(tmp_path: Path, arguments: tuple[str, ...], blocks: int) -> None:
    """After its settings are read, the command calls `program`; from then on, cli only parses the program's flags."""
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(Config.from_token("http://127.0.0.1:1", "t").to_kubeconfig())
    program, *own = arguments
    options = ("--kubeconfig", str(kubeconfig), "--metrics-bind-address", "0")
    command = [sys.executable, "-c", TRACE, "run", program, *options, *own]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    packages = [package for package, _ in groupby(ran.stdout.split())]
    assert packages[0] == "cli"
    assert packages.count("cli") == blocks
    assert "program" in packages
