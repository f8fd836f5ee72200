"""Commands and attached processes, in this process, and with servers that do not keep to the protocol."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pyctrl._websocket import Opcode, encode_frame
from pyctrl.api import Key
from pyctrl.apiserver import ApiServer, Response, Upgrade, UpgradedConnection
from pyctrl.client import Client, ExecResult, InProcessTransport, attach, exec_command, exec_process, wait_for
from pyctrl.cluster import Cluster, ExecProcess, Kubelet, Script
from pyctrl.errors import ApiError, StreamBroken
from pyctrl.kinds.core.v1 import Pod
from pyctrl.testing import run_virtual


class Server(ApiServer):
    """Answers exec with any connection."""

    def __init__(self, serve: Callable[[UpgradedConnection], Awaitable[None]] | None) -> None:
        super().__init__()
        self._serve = serve

    async def handle(self, *_: Any, **__: Any) -> Response:
        return Response(status=200) if self._serve is None else Response(status=101, body=Upgrade(self._serve))


async def leave(connection: UpgradedConnection) -> None:
    """Send some output and no status."""
    await connection.write(encode_frame(Opcode.BINARY, b"\x01out"))


async def babble(connection: UpgradedConnection) -> None:
    """Send bytes that are no frame."""
    await connection.write(b"\xff\xff")


@pytest.mark.parametrize(
    ("serve", "message"),
    [(None, "instead of a WebSocket"), (leave, "ended before the command"), (babble, "is no WebSocket")],
)
def test_a_broken_connection_is_an_error(serve: Any, message: str) -> None:
    """A command whose exit code is not known raises instead of returning a part of the output."""

    async def main() -> None:
        async with Client(InProcessTransport(Server(serve))) as client:
            with pytest.raises(StreamBroken, match=message):
                await exec_command(client, Key("default", "p"), ["ls"])

    run_virtual(main())


DB = Key("default", "db")


async def shell(process: ExecProcess) -> int:
    """Echo lines in upper case, print the sizes of a terminal, end with `exit`."""
    if process.tty:
        async for size in process.sizes:
            await process.stdout.write(f"{size.width}x{size.height}".encode())
    while (line := await process.stdin.read()) and line != b"exit":
        await process.stdout.write(line.upper())
        await process.stderr.write(b"!")
    return 3


@asynccontextmanager
async def with_pod(**container: Any) -> AsyncIterator[Client]:
    """Run a pod whose container plays a shell."""
    kubelet = Kubelet(script=lambda *_: Script(exec=shell, attach=shell))
    async with Cluster(kubelet=kubelet) as cluster, cluster.client() as client:
        spec = {"containers": [{"name": "main", "image": "i", **container}]}
        await client.create(Pod.from_wire({"metadata": {"name": "db", "namespace": "default"}, "spec": spec}))
        await wait_for(client, Pod, DB, lambda pod: pod.status.phase == "Running")
        yield client


def test_a_client_talks_to_a_command_while_it_runs() -> None:
    """Each line is answered before the next one is sent; then there is an exit code."""

    async def main() -> None:
        async with with_pod() as client, exec_process(client, DB, ["sh"], stdin=True) as process:
            for line in (b"one", b"two"):
                await process.write(line)
                assert await process.stdout.read() == line.upper()
            await process.write(b"exit")
            assert await process.wait() == 3
            assert await process.stderr.read_all() == b"!!"

    run_virtual(main())


def test_the_end_of_the_input_and_the_size_of_a_terminal() -> None:
    """A command reads the end of its input; a terminal has a size."""

    async def main() -> None:
        async with with_pod() as client:
            async with exec_process(client, DB, ["sh"], stdin=True) as process:
                await process.close_stdin()
                assert await process.wait() == 3
            async with exec_process(client, DB, ["sh"], tty=True) as process:
                await process.resize(80, 24)
                assert await process.stdout.read() == b"80x24"

    run_virtual(main())


def test_a_client_attaches_to_a_process() -> None:
    """It has the input and output of the process; its end is no exit code."""

    async def main() -> None:
        async with with_pod(stdin=True) as client, attach(client, DB, stdin=True) as process:
            await process.write(b"hi")
            assert await process.stdout.read() == b"HI"
            await process.write(b"exit")
            assert await process.wait() == 0
            with pytest.raises(StreamBroken):
                await process.write(b"late")

    run_virtual(main())


def test_much_input_and_output() -> None:
    """Input is sent while output is received, and a command that reads none still has its result."""

    async def main() -> None:
        async with with_pod() as client:
            result = await exec_command(client, DB, ["sh"], stdin=b"x" * 1_000_000)
            assert (result.exit_code, len(result.stdout)) == (3, 1_000_000)
            assert await exec_command(client, DB, ["sh"]) == ExecResult(3)

    run_virtual(main())


def test_a_container_that_is_not_there() -> None:
    """The error of the kubelet is raised when the process is awaited."""

    async def main() -> None:
        async with with_pod(command=["sh", "-c", "sleep 5; exit 0"]) as client:
            await wait_for(client, Pod, DB, lambda pod: not pod.status.container_statuses[0].ready)
            async with attach(client, DB) as process:
                with pytest.raises(ApiError, match="container main not found in pod db_default"):
                    await process.wait()

    run_virtual(main())
