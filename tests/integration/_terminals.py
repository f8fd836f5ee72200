"""A shell that keeps its folder and variables, and a terminal with a screen."""

from __future__ import annotations

import asyncio
import fcntl
import os
import pty
import re
import struct
import termios
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path

PATIENCE = 60.0  # seconds for one command; starting Python on a loaded machine is slow
LINES, COLUMNS = 40, 120

_END = "--- end of command"


class Shell:
    """A bash process that runs commands one after the other."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def run(self, command: str) -> str:
        """Run a command, and return its output, errors included; folder and variables persist."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{{ {command}\n}} </dev/null; echo '{_END}'\n".encode())
        async with asyncio.timeout(PATIENCE):
            printed = await self._process.stdout.readuntil(f"{_END}\n".encode())
        return printed.decode().removesuffix(f"{_END}\n")

    async def environment(self) -> dict[str, str]:
        """Return the variables of a command, including its folder."""
        lines = (await self.run("env --null | tr '\\0' '\\n'")).splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line)


@asynccontextmanager
async def shell(folder: Path, environment: Mapping[str, str]) -> AsyncIterator[Shell]:
    """Open a shell in a folder, until the block ends."""
    process = await asyncio.create_subprocess_exec(
        *("bash", "--norc", "--noprofile"),
        cwd=folder,
        env=environment,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        limit=2**22,  # bytes of one command's output
    )
    try:
        yield Shell(process)
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.communicate()


class Terminal:
    """A terminal that shows a program's screens, each drawn from the upper left corner."""

    def __init__(self, master: int) -> None:
        self._master = master
        self._written = b""

    def read(self) -> None:
        """Read the program's output."""
        with suppress(OSError):  # the program has ended, or has no output yet
            self._written = (self._written + os.read(self._master, 65536))[-200_000:]

    @property
    def screen(self) -> str:
        """The last complete screen as text; before the first one, the raw output."""
        text, *rest = self._written.decode(errors="replace").split("\x1b[H")
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", rest[-2] if len(rest) > 1 else text)
        return "\n".join(line.rstrip() for line in text.split("\n")).rstrip()

    def press(self, key: str) -> None:
        """Type a key."""
        os.write(self._master, key.encode())


@asynccontextmanager
async def terminal(command: str, environment: Mapping[str, str]) -> AsyncIterator[Terminal]:
    """Run a command in its own terminal; when the block ends, `q` must quit it."""
    master, slave = pty.openpty()
    os.set_blocking(master, False)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    process = await asyncio.create_subprocess_exec(
        *("bash", "--norc", "--noprofile", "-c", f"exec {command}"),
        cwd=environment["PWD"],
        env=environment,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    shown, loop = Terminal(master), asyncio.get_running_loop()
    loop.add_reader(master, shown.read)
    try:
        yield shown
        shown.press("q")
        async with asyncio.timeout(PATIENCE):
            assert await process.wait() == 0
    finally:
        loop.remove_reader(master)
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        os.close(master)
