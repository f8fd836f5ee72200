"""Commands and connections in simulated containers, without a cluster."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl._pipes import Pipe
from pyctrl.apiserver import ContainerStreams, KubeletError
from pyctrl.cluster import ExecProcess, Script
from pyctrl.cluster._kubelet.container_processes import (
    connect,
    container_process,
    find_listening,
    program_of,
    run_until_exit,
)
from pyctrl.cluster._kubelet.pod_lifecycle import PodLifecycle
from pyctrl.cluster._kubelet.scripts import PodScript
from tests.unit.cluster._pods import pod


async def _listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(await reader.read(5))


def running(**scripts: Script) -> PodLifecycle:
    """Return a pod whose containers with these scripts run."""
    containers = [{"name": name, "image": "i"} for name in scripts]
    lifecycle = PodLifecycle(pod(containers=containers), PodScript(scripts), 0.0)
    lifecycle.advance(0.0)
    return lifecycle


def test_containers_of_a_pod_share_their_ports() -> None:
    """The container that listens at a port is found, unless it has ended."""
    lifecycle = running(a=Script(), b=Script(ports={80: _listen}))
    found = [each and each.spec.name for each in (find_listening(lifecycle, port) for port in (80, 81))]
    lifecycle.stop(1.0, 0)
    lifecycle.advance(1.0)
    assert [*found, find_listening(lifecycle, 80)] == ["b", None, None]


async def test_a_connection_is_served_by_the_function_of_its_port() -> None:
    """The bytes of a client reach the function, and its answer the client."""
    lifecycle, sent, received = running(a=Script(ports={80: _listen})), Pipe(), Pipe()
    await sent.write(b"hello")
    await connect(find_listening(lifecycle, 80), 80, sent, received)
    assert await received.read_all() == b"hello"


async def test_a_port_at_which_nothing_listens_refuses_connections() -> None:
    """The error names the port."""
    with pytest.raises(KubeletError, match="dial tcp4 127.0.0.1:81: connect: connection refused"):
        await connect(None, 81, Pipe(), Pipe())


async def test_a_command_ends_with_its_container() -> None:
    """A function that runs in a container is cancelled when the container exits, and has no exit code then."""

    async def forever(process: ExecProcess) -> int:
        await asyncio.get_running_loop().create_future()
        return 0

    lifecycle = running(a=Script(exec=forever))
    (container,) = lifecycle.containers
    process = container_process(lifecycle, container, ["x"], ContainerStreams(Pipe(), Pipe(), Pipe()))
    async with asyncio.TaskGroup() as tasks:
        code = tasks.create_task(run_until_exit(container, program_of(container)(process)))
        await asyncio.sleep(1)
        lifecycle.stop(1.0, 0)
        lifecycle.advance(1.0)
    assert code.result() is None


async def test_a_container_without_a_function_runs_no_command() -> None:
    """The exit code is 126, and stderr says what to set."""
    lifecycle, streams = running(a=Script()), ContainerStreams(Pipe(), Pipe(), Pipe())
    (container,) = lifecycle.containers
    process = container_process(lifecycle, container, ["x"], streams)
    assert await program_of(container)(process) == 126
    assert b"set exec in the Script" in await streams.stderr.read()
