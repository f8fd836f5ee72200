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

import pyte

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
    """A terminal that shows a program's screen.

    Args:
        master: the file descriptor of its other end.
    """

    def __init__(self, master: int, *, lines: int = LINES, columns: int = COLUMNS) -> None:
        self._master = master
        self._screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self._screen)
        #: Everything that the program wrote.
        self.written: bytes = b""

    def read(self) -> None:
        """Read the program's output, and draw it."""
        with suppress(OSError):  # the program has ended, or has no output yet
            read = os.read(self._master, 65536)
            self.written += read
            # pyte does not know private sequences with < > =, of the protocols for keyboards, and would print them.
            self._stream.feed(re.sub(rb"\x1b\[[<>=][0-9;]*[a-zA-Z]|\x1b\[[0-9;?]*\$[a-z]", b"", read))

    @property
    def screen(self) -> str:
        """The screen as text, with one empty line in place of several."""
        return re.sub(r"\n{3,}", "\n\n", "\n".join(line.rstrip() for line in self._screen.display).rstrip())

    @property
    def cells(self) -> list[list[pyte.screens.Char]]:
        """The characters of the screen by line, with their colours."""
        buffer = self._screen.buffer
        return [[buffer[line][column] for column in range(self._screen.columns)] for line in range(self._screen.lines)]

    def press(self, key: str) -> None:
        """Type a key."""
        os.write(self._master, key.encode())

    def resize(self, lines: int, columns: int) -> None:
        """Change the size."""
        self._screen.resize(lines, columns)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


@asynccontextmanager
async def terminal(
    command: str, environment: Mapping[str, str], *, end: str | int = "q", lines: int = LINES, columns: int = COLUMNS
) -> AsyncIterator[Terminal]:
    """Run a command in its own terminal; when the block ends, a key or a signal must end it with exit code 0."""
    master, slave = pty.openpty()
    os.set_blocking(master, False)
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
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
    shown, loop = Terminal(master, lines=lines, columns=columns), asyncio.get_running_loop()
    loop.add_reader(master, shown.read)
    try:
        yield shown
        if isinstance(end, str):
            shown.press(end)
        else:
            process.send_signal(end)
        async with asyncio.timeout(PATIENCE):
            assert await process.wait() == 0
        shown.read()
    finally:
        loop.remove_reader(master)
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        os.close(master)
