"""The tutorial as a session: the test types its commands, makes its edits and compares the outputs."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from difflib import unified_diff
from pathlib import Path

import pytest

from tests.integration._processes import REPOSITORY
from tests.integration._terminals import Shell, shell
from tests.integration._walk import Walk, comparable, steps_of

PAGE = REPOSITORY / "docs" / "tutorial.md"
STAND_IN = Path(__file__).with_name("_kubectl_stand_in.py")

#: Commands with other results than on a newcomer's machine: the test runs in the virtual
#: environment, in which everything is installed, and a stand-in replaces a missing kubectl.
ANSWERED = {
    "python3": 'test "$1 $2" = "-m venv" && mkdir -p "$3/bin" && touch "$3/bin/activate"',
    "pip": "",
    "pyctrl": f'exec "{sys.executable}" -m pyctrl "$@"',
    "pytest": f'exec "{sys.executable}" -m pytest "$@"',
}


@asynccontextmanager
async def newcomer(home: Path, *, has_kubectl: bool) -> AsyncIterator[Shell]:
    """Open a shell in an empty home directory."""
    answered = ANSWERED if has_kubectl else ANSWERED | {"kubectl": f'exec "{sys.executable}" "{STAND_IN}" "$@"'}
    for name, script in answered.items():
        file = home / ".bin" / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
    variables = {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ}
    variables |= {"HOME": str(home), "TERM": "xterm-256color", "PATH": f"{home / '.bin'}:{variables['PATH']}"}
    variables |= {"PYTHONPATH": f"{REPOSITORY / 'src'}:{variables.get('PYTHONPATH', '')}"}
    async with shell(home, variables) as opened:
        yield opened


@pytest.mark.slow(reason="it is what somebody types in five minutes")
@pytest.mark.timeout(300)
async def test_the_tutorial_is_what_happens(tmp_path: Path) -> None:
    """Each command prints the output on the page, from an empty folder to checked manifests.

    After an intended change, ``python tools/record_tutorial.py`` updates the outputs in the page.
    """
    has_kubectl = shutil.which("kubectl") is not None
    async with (
        newcomer(tmp_path, has_kubectl=has_kubectl) as opened,
        aclosing(Walk(opened).outcomes(steps_of(PAGE.read_text()))) as outcomes,
    ):
        async for step, told in outcomes:
            seen, expected = comparable(told).splitlines(), comparable(step.text).splitlines()
            difference = "\n".join(
                unified_diff(expected, seen, "docs/tutorial.md", step.what or "the terminal", lineterm="")
            )
            assert not difference, f"{difference}\n\nall of it:\n{told}"
