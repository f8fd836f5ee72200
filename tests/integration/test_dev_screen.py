"""`pyctrl dev` in a terminal: its screen, its keys and its end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.integration._processes import REPOSITORY
from tests.integration._terminals import PATIENCE, Terminal, terminal

pytestmark = pytest.mark.slow("starts a process with a cluster and a screen")

LEAVES_SCREEN = b"\x1b[?1049l"  # back to the lines of the shell
SHOWS_CURSOR = b"\x1b[?25h"


async def shows(opened: Terminal, text: str) -> None:
    """Wait until a text is on the screen."""
    until = asyncio.get_running_loop().time() + PATIENCE
    while text not in opened.screen:
        assert asyncio.get_running_loop().time() < until, f"{text!r} is not on the screen:\n{opened.screen}"
        await asyncio.sleep(0.05)


@asynccontextmanager
async def dev(home: Path, *arguments: str, end: str | int = "q", **variables: str) -> AsyncIterator[Terminal]:
    """Run `pyctrl dev` with the example podset in a terminal."""
    environment: Mapping[str, str] = {
        **{name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ},
        "HOME": str(home),
        "PWD": str(REPOSITORY),
        "TERM": "xterm-256color",
        "LC_ALL": "C.UTF-8",
        **variables,
    }
    command = f'"{sys.executable}" -m pyctrl dev {" ".join(arguments) or "examples/podset"}'
    async with terminal(command, environment, end=end) as opened:
        yield opened


@pytest.mark.parametrize("end", ["q", "\x03", signal.SIGTERM, signal.SIGINT], ids=["q", "ctrl-c", "SIGTERM", "SIGINT"])
async def test_the_screen_shows_an_example_and_ends_cleanly(tmp_path: Path, end: str | int) -> None:
    """The screen shows controllers and objects; a key or a signal ends it and restores the terminal."""
    async with dev(tmp_path, end=end) as opened:
        await shows(opened, "● running")
        await shows(opened, "PODSET")
        await shows(opened, "done (")
        assert "export KUBECONFIG=~/.cache/pyctrl/podset.kubeconfig" in opened.screen
        opened.press("\r")
        await shows(opened, "└─ Pod")
    assert LEAVES_SCREEN in opened.written
    assert opened.written.rindex(SHOWS_CURSOR) > opened.written.rindex(b"\x1b[?25l")
    assert b"Traceback" not in opened.written


async def test_a_resized_terminal_is_drawn_again(tmp_path: Path) -> None:
    """In a terminal of 30 columns the screen still shows the state and the objects."""
    async with dev(tmp_path) as opened:
        await shows(opened, "CAUSES")
        opened.resize(20, 30)
        await shows(opened, "\n     done (")  # below its object
        assert "CAUSES" not in opened.screen


@pytest.mark.parametrize(("arguments", "variables"), [(("--no-live",), {}), ((), {"TERM": "dumb"})])
async def test_lines_instead_of_a_screen(tmp_path: Path, arguments: tuple[str, ...], variables: dict[str, str]) -> None:
    """With --no-live, or on a terminal that cannot move its cursor, the command prints lines."""
    async with dev(tmp_path, "examples/podset", *arguments, end=signal.SIGTERM, **variables) as opened:
        await shows(opened, "export KUBECONFIG=")
        assert LEAVES_SCREEN not in opened.written
        assert b"ready http://127.0.0.1:" in opened.written


async def test_without_the_extra_a_line_says_what_to_install(tmp_path: Path) -> None:
    """Without textual the command says in a line what to install, and prints lines."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text("import sys\nsys.modules['textual'] = None\n")
    path = os.pathsep.join(filter(None, (str(hidden), os.environ.get("PYTHONPATH", ""))))
    async with dev(tmp_path, end=signal.SIGTERM, PYTHONPATH=path) as opened:
        await shows(opened, "export KUBECONFIG=")
        lines = opened.written.decode().replace("\r", "").split("\n")
        assert lines[0] == (
            "pyctrl: the screen needs `pip install 'pyctrl-runtime[dev]'`; without it, pyctrl dev prints lines"
        )


async def test_a_crash_of_the_screen_does_not_end_the_program(tmp_path: Path) -> None:
    """If the screen fails, its error is one line after the log, and the program runs on until a signal."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "sitecustomize.py").write_text(
        "import textual.content\n"
        "def fail(*arguments, **options):\n    raise ValueError('cannot draw')\n"
        "textual.content.Content.assemble = fail\n"
    )
    path = os.pathsep.join(filter(None, (str(hidden), os.environ.get("PYTHONPATH", ""))))
    async with dev(tmp_path, end=signal.SIGTERM, PYTHONPATH=path) as opened:
        await shows(opened, "export KUBECONFIG=")
        assert b"pyctrl: the screen failed: ValueError: cannot draw;" in opened.written
        assert LEAVES_SCREEN in opened.written
        assert b"Traceback" not in opened.written
