"""What a person at a computer has: a shell that keeps its folder and variables, and a terminal that shows a screen."""

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
    """A bash that commands are typed into, one after the other."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def run(self, command: str) -> str:
        """Run a command, with its changes of folder and variables; give what it prints, errors included."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{{ {command}\n}} </dev/null; echo '{_END}'\n".encode())
        async with asyncio.timeout(PATIENCE):
            printed = await self._process.stdout.readuntil(f"{_END}\n".encode())
        return printed.decode().removesuffix(f"{_END}\n")

    async def environment(self) -> dict[str, str]:
        """Return the variables that a command gets, the folder among them."""
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
    """A terminal that shows what a program draws: pictures that each begin in the upper left corner."""

    def __init__(self, master: int) -> None:
        self._master = master
        self._written = b""

    def read(self) -> None:
        """Take in what the program writes."""
        with suppress(OSError):  # it has ended, or there is nothing yet
            self._written = (self._written + os.read(self._master, 65536))[-200_000:]

    @property
    def screen(self) -> str:
        """The last picture that is whole, as text; before the first one, what was written."""
        text, *rest = self._written.decode(errors="replace").split("\x1b[H")
        text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", rest[-2] if len(rest) > 1 else text)
        return "\n".join(line.rstrip() for line in text.split("\n")).rstrip()

    def press(self, key: str) -> None:
        """Type a key."""
        os.write(self._master, key.encode())


@asynccontextmanager
async def terminal(command: str, environment: Mapping[str, str]) -> AsyncIterator[Terminal]:
    """Run a command in a terminal of its own; when the block ends it is asked to quit with `q`, and has to."""
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
