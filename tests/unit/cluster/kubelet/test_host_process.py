"""Commands of simulated containers as processes of this machine."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from pyctrl._pipes import Pipe
from pyctrl._tasks import end
from pyctrl.apiserver import TerminalSize, TerminalSizeQueue
from pyctrl.cluster import ExecProcess, host_process
from pyctrl.kinds.core.v1 import Container, Pod

pytestmark = pytest.mark.real_time  # processes


def process(*command: str, tty: bool = False, sizes: TerminalSizeQueue | None = None) -> ExecProcess:
    return ExecProcess(
        pod=Pod(),
        container=Container(name="a"),
        command=list(command),
        stdin=Pipe(),
        stdout=Pipe(),
        stderr=Pipe(),
        tty=tty,
        sizes=sizes or TerminalSizeQueue(),
    )


async def test_a_command_runs_on_this_machine(tmp_path: Path) -> None:
    """It has the input, the directory and the environment, and its output and exit code reach the client."""
    running = process("/bin/sh", "-c", 'cat; pwd; echo "$X" >&2; exit 3')
    await running.stdin.write(b"in\n")
    running.stdin.close()
    assert await host_process(cwd=tmp_path, env={"X": "y"})(running) == 3
    assert await running.stdout.read() == f"in\n{tmp_path.resolve()}\n".encode()
    assert await running.stderr.read() == b"y\n"


async def test_a_command_that_does_not_read() -> None:
    """Its end does not wait for the end of the input."""
    running = process("/bin/echo", "hi")
    assert await host_process()(running) == 0


@pytest.mark.parametrize("tty", [False, True])
async def test_a_command_that_cannot_run(tmp_path: Path, tty: bool) -> None:
    """The exit codes and messages are those of a shell."""
    missing = process("no-such-program", tty=tty)
    assert await host_process()(missing) == 127
    assert await (missing.stdout if tty else missing.stderr).read() == b"no-such-program: not found\n"
    plain = tmp_path / "plain"
    plain.write_text("")
    assert await host_process()(process(str(plain), tty=tty)) == 126


@pytest.mark.parametrize("tty", [False, True])
async def test_a_client_that_leaves_kills_the_command(tmp_path: Path, tty: bool) -> None:
    """Also what the command has started is gone."""
    running = process("/bin/sh", "-c", "echo started; sleep 1000 & wait", tty=tty)
    task = asyncio.ensure_future(host_process()(running))
    async with asyncio.timeout(10):
        assert (await running.stdout.read()).split() == [b"started"]
        await end([task])
    assert task.cancelled()


async def test_a_signal_is_an_exit_code() -> None:
    """As in a shell, it is 128 and the number of the signal."""
    assert await host_process()(process("/bin/sh", "-c", "kill -TERM $$")) == 143


async def test_a_command_with_a_terminal() -> None:
    """It sees a terminal of the client's size, and changes of it, and reads what is typed."""
    sizes = TerminalSizeQueue()
    sizes.put(TerminalSize(100, 30))
    code = (
        "import os, signal, sys; print(os.get_terminal_size().columns, sys.stdin.isatty(), flush=True);"
        "signal.signal(signal.SIGWINCH, lambda *_: None); print(input(), os.get_terminal_size().columns)"
    )
    running = process(sys.executable, "-c", code, tty=True, sizes=sizes)
    task = asyncio.ensure_future(host_process()(running))
    async with asyncio.timeout(20):
        shown = b""
        while not shown.endswith(b"\n"):
            shown += await running.stdout.read()
        assert shown == b"100 True\r\n"
        sizes.put(TerminalSize(120, 30))
        await asyncio.sleep(0)
        await running.stdin.write(b"typed\n")
        assert await task == 0
        assert (await running.stdout.read()).endswith(b"typed 120\r\n")
