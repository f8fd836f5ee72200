"""Commands of simulated containers as processes of this machine, for those who allow it."""

from __future__ import annotations

import asyncio
import os
import signal
import struct
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pyctrl._pipes import Pipe
from pyctrl._tasks import unwrapped
from pyctrl.apiserver import TerminalSize
from pyctrl.cluster._kubelet.scripts import ExecFunction, ExecProcess, Script
from pyctrl.kinds.core.v1 import Container, Pod

__all__ = ["host_process", "host_script"]

COMMAND_NOT_FOUND, CANNOT_EXECUTE = 127, 126  # a shell's exit codes
KILLED = 128  # plus the signal
READ = 64 * 1024
SIZE_SECONDS = 0.5  # for the first size of the terminal, which some clients do not send


def host_process(*, cwd: Path | str | None = None, env: Mapping[str, str] | None = None) -> ExecFunction:
    """Return a function that runs the commands of clients on this machine, with the rights of this program.

    Every user with the permission to create `pods/exec` can then run any program on this machine. Pass it to
    ``Script(exec=...)``. With a terminal the command gets a pseudo-terminal, whose size is the client's.

    Args:
        cwd: the directory in which commands run; by default that of this program.
        env: the environment of the commands; by default that of this program.
    """

    async def run(process: ExecProcess) -> int:
        try:
            return await (_run_with_terminal if process.tty else _run_with_pipes)(process, cwd, env)
        except FileNotFoundError:
            await _output(process).write(f"{process.command[0]}: not found\n".encode())
            return COMMAND_NOT_FOUND
        except PermissionError:
            await _output(process).write(f"{process.command[0]}: permission denied\n".encode())
            return CANNOT_EXECUTE

    return run


def host_script(_pod: Pod, _container: Container) -> Script:
    """Run the commands in all containers on this machine, for ``--pod-script pyctrl.cluster:host_script``."""
    return Script(exec=host_process())


def _output(process: ExecProcess) -> Pipe:
    return process.stdout if process.tty else process.stderr


async def _run_with_pipes(process: ExecProcess, cwd: Path | str | None, env: Mapping[str, str] | None) -> int:
    pipe = asyncio.subprocess.PIPE
    child = await asyncio.create_subprocess_exec(
        *process.command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=cwd, env=env, start_new_session=True
    )
    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    try:
        with unwrapped():
            async with asyncio.TaskGroup() as tasks:
                feeding = tasks.create_task(_feed(process.stdin, child.stdin))
                tasks.create_task(_drain(child.stdout, process.stdout))
                tasks.create_task(_drain(child.stderr, process.stderr))
                code = await child.wait()
                feeding.cancel()
    finally:
        _kill(child)
        await child.wait()
    return code if code >= 0 else KILLED - code


async def _feed(source: Pipe, target: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):  # the command reads no more
        while data := await source.read():
            target.write(data)
            await target.drain()
    target.close()


async def _drain(source: asyncio.StreamReader, target: Pipe) -> None:
    while data := await source.read(READ):
        await target.write(data)


def _kill(child: asyncio.subprocess.Process) -> None:
    """Kill a command and what it has started."""
    if child.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)


async def _run_with_terminal(process: ExecProcess, cwd: Path | str | None, env: Mapping[str, str] | None) -> int:
    near, far = os.openpty()
    try:
        if process.sizes.current is None:  # it comes right after the request
            with suppress(TimeoutError):
                async with asyncio.timeout(SIZE_SECONDS):
                    await process.sizes.next()
        if process.sizes.current is not None:
            _resize(near, process.sizes.current)
        child = await asyncio.create_subprocess_exec(
            *process.command, stdin=far, stdout=far, stderr=far, cwd=cwd, env=env, start_new_session=True
        )
    except BaseException:
        os.close(near)
        raise
    finally:
        os.close(far)
    os.set_blocking(near, False)
    try:
        with unwrapped():
            async with asyncio.TaskGroup() as tasks:
                helpers = [tasks.create_task(_type(process.stdin, near)), tasks.create_task(_follow(process, near))]
                reading = tasks.create_task(_read_terminal(near, process.stdout))
                code = await child.wait()
                await reading
                for helper in helpers:
                    helper.cancel()
    finally:
        _kill(child)
        await child.wait()
        os.close(near)
    return code if code >= 0 else KILLED - code


async def _read_terminal(terminal: int, target: Pipe) -> None:
    """Pass what is printed on a terminal, until no process has it open."""
    loop, readable = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(terminal, readable.set)
    try:
        while True:
            await readable.wait()
            readable.clear()
            try:
                data = os.read(terminal, READ)
            except BlockingIOError:
                continue
            except OSError:  # EIO: the last process has closed it
                return
            await target.write(data)
    finally:
        loop.remove_reader(terminal)


async def _type(source: Pipe, terminal: int) -> None:
    while data := await source.read():
        while data:
            try:
                data = data[os.write(terminal, data) :]
            except BlockingIOError:  # the command does not read; a terminal holds 4 KB
                await _until_writable(terminal)
            except OSError:
                return


async def _until_writable(terminal: int) -> None:
    loop, writable = asyncio.get_running_loop(), asyncio.Event()
    loop.add_writer(terminal, writable.set)
    try:
        await writable.wait()
    finally:
        loop.remove_writer(terminal)


async def _follow(process: ExecProcess, terminal: int) -> None:
    async for size in process.sizes:
        _resize(terminal, size)


def _resize(terminal: int, size: TerminalSize) -> None:
    import fcntl  # here: Windows has neither, and can import the package
    import termios

    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", size.height, size.width, 0, 0))
