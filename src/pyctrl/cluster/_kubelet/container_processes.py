"""Commands and connections in containers of simulated nodes, for clients and for probes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable

from pyctrl._pipes import Pipe
from pyctrl._tasks import end
from pyctrl.apiserver import ContainerStreams, KubeletError
from pyctrl.cluster._kubelet.container_files import with_files
from pyctrl.cluster._kubelet.container_lifecycle import ContainerLifecycle, ContainerStage
from pyctrl.cluster._kubelet.pod_lifecycle import PodLifecycle
from pyctrl.cluster._kubelet.ports import forward_port
from pyctrl.cluster._kubelet.scripts import ExecFunction, ExecProcess

__all__ = ["connect", "container_process", "find_listening", "program_of", "run_until_exit"]

CANNOT_EXECUTE = 126  # the exit code of a shell for a command that exists and does not run


def program_of(container: ContainerLifecycle) -> ExecFunction:
    """Return the function that runs the commands of a container."""
    script = container.script
    return script.exec or _refuse if script.files is None else with_files(script.files, script.exec)


def container_process(
    lifecycle: PodLifecycle, container: ContainerLifecycle, command: list[str], streams: ContainerStreams
) -> ExecProcess:
    """Return a command in a container, with the streams of a client."""
    return ExecProcess(
        pod=lifecycle.pod,
        container=container.spec,
        command=command,
        stdin=streams.stdin,
        stdout=streams.stdout,
        stderr=streams.stderr,
        tty=streams.tty,
        sizes=streams.sizes,
    )


async def run_until_exit(container: ContainerLifecycle, running: Awaitable[int | None]) -> int | None:
    """Wait for a function, and cancel it when the container exits; return its exit code, None if it was cancelled."""
    exited: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def on_exit() -> None:
        if not exited.done():
            exited.set_result(None)

    container.on_exit.append(on_exit)
    task = asyncio.ensure_future(running)
    try:
        await asyncio.wait((task, exited), return_when=asyncio.FIRST_COMPLETED)
    finally:
        exited.cancel()
        if on_exit in container.on_exit:
            container.on_exit.remove(on_exit)
        await end([task])
    return None if task.cancelled() else task.result() or 0


def find_listening(lifecycle: PodLifecycle, port: int) -> ContainerLifecycle | None:
    """Return the container of a pod that listens at a port, or None."""
    running = [each for each in lifecycle.containers if each.stage is ContainerStage.RUNNING]
    return next((each for each in running if port in (each.script.ports or ())), None)


async def connect(container: ContainerLifecycle | None, port: int, received: Pipe, sent: Pipe) -> int | None:
    """Forward a connection to a port of a container, until the connection or the container ends.

    Raises:
        KubeletError: Nothing listens at the port.
    """
    if container is None or not container.script.ports:
        raise KubeletError(_connection_refused(port))
    return await run_until_exit(container, forward_port(container.script.ports[port], received, sent))


async def _refuse(process: ExecProcess) -> int:
    why = f"container {process.container.name} is simulated and runs nothing; set exec in the Script of the Kubelet\n"
    stream = process.stdout if process.tty else process.stderr
    await stream.write(why.encode())
    return CANNOT_EXECUTE


def _connection_refused(port: int) -> str:
    refused = "connect: connection refused"
    return (
        f"failed to connect to localhost:{port} inside the pod, IPv4: dial tcp4 127.0.0.1:{port}: {refused} "
        f"IPv6: dial tcp6 [::1]:{port}: {refused}; the pod is simulated, and no Script of its containers has this port"
    )
