"""Server of a simulated kubelet: commands in containers, their logs and their ports, as their scripts say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import Any

from pyctrl._pipes import Pipe
from pyctrl._tasks import end
from pyctrl.api import Key
from pyctrl.apiserver import ContainerStreams, ExecHandler, KubeletError, PodLogOptions, PortForwardHandler
from pyctrl.cluster._kubelet.container_files import with_files
from pyctrl.cluster._kubelet.container_lifecycle import ContainerLifecycle, ContainerStage
from pyctrl.cluster._kubelet.pod_lifecycle import PodLifecycle
from pyctrl.cluster._kubelet.pod_sessions import PodSession
from pyctrl.cluster._kubelet.ports import forward_port
from pyctrl.cluster._kubelet.scripts import ExecFunction, ExecProcess

__all__ = ["SimulatedKubeletServer"]

CANNOT_EXECUTE = 126  # the exit code of a shell for a command that exists and does not run
KILLED = 137  # 128 + SIGKILL: of commands in a container that stops


class SimulatedKubeletServer:
    """The `KubeletServer` of a simulated node.

    Args:
        find: returns the lifecycle of a pod, or None.
    """

    def __init__(self, find: Callable[[Key], PodLifecycle | None]) -> None:
        self._find = find

    def get_exec(self, namespace: str, pod: str, container: str, command: list[str]) -> ExecHandler:
        """Return the function that runs a command in a container, by the ``exec`` of its script."""
        lifecycle = self._get(namespace, pod)
        found = lifecycle.find(container)
        if found is None or found.stage is not ContainerStage.RUNNING:
            raise KubeletError(f'container not found ("{container}")', code=500)
        if not command:
            raise KubeletError("expected the parameter command at least once, got none", code=500)

        async def run(streams: ContainerStreams) -> int:
            process = _process(lifecycle, found, command, streams)
            running = _run_until_exit(found, _program(found)(process))
            code = await lifecycle.sessions.record("exec", container, running, command=command)
            return KILLED if code is None else code

        return run

    def get_attach(self, namespace: str, pod: str, container: str) -> ExecHandler:
        """Return the function that attaches to a container, by the ``attach`` of its script."""
        lifecycle = self._get(namespace, pod)
        found = lifecycle.find(container)
        if found is None or found.stage is not ContainerStage.RUNNING:
            raise KubeletError(f"container {container} not found in pod {pod}_{namespace}", code=500)

        async def attach(streams: ContainerStreams) -> int:
            if not found.spec.stdin:
                streams.stdin.discard()
                streams.stdin.close()
            command = [*found.spec.command, *found.spec.args]
            process = _process(lifecycle, found, command, streams)
            running = _run_until_exit(found, (found.script.attach or _be_silent)(process))
            await lifecycle.sessions.record("attach", container, running)
            return 0

        return attach

    def get_port_forward(self, namespace: str, pod: str) -> PortForwardHandler:
        """Return the function that forwards connections to the ``ports`` of the scripts of a pod's containers."""
        lifecycle = self._get(namespace, pod)
        if not any(each.stage is ContainerStage.RUNNING for each in lifecycle.containers):
            raise KubeletError(f'pod not found ("{pod}_{namespace}")', code=500)

        async def forward(port: int, received: Pipe, sent: Pipe) -> None:
            running = [each for each in lifecycle.containers if each.stage is ContainerStage.RUNNING]
            listening = next((each for each in running if port in (each.script.ports or ())), None)
            connection = _connect(listening, port, received, sent)
            name = "" if listening is None else listening.spec.name
            await lifecycle.sessions.record("portforward", name, connection, port=port)

        return forward

    def get_logs(self, namespace: str, pod: str, container: str, options: PodLogOptions) -> AsyncGenerator[bytes, None]:
        """Return the log of a container: the last run's, or with `previous` that of the last run that ended."""
        lifecycle = self._find(Key(namespace, pod))
        if lifecycle is None:
            raise KubeletError(f'pod "{pod}" does not exist', code=404)
        subject = f'container "{container}" in pod "{pod}"'
        found = lifecycle.find(container)
        if found is None:
            raise KubeletError(f"{subject} is not available")
        status = found.status(asyncio.get_running_loop().time())
        _check_log_status(status, subject, previous=options.previous)
        log = found.find_log(previous=options.previous)
        if log is None:  # of a container that an earlier kubelet has run
            raise KubeletError(f"{subject} has no log: its kubelet was restarted")
        return log.read(options)

    def sessions(self, pod: Key) -> Sequence[PodSession]:
        """Return the latest sessions of clients in a pod; none of a pod that it does not run."""
        lifecycle = self._find(pod)
        return lifecycle.sessions.latest if lifecycle is not None else ()

    def _get(self, namespace: str, pod: str) -> PodLifecycle:
        lifecycle = self._find(Key(namespace, pod))
        if lifecycle is None:
            raise KubeletError("pod does not exist", code=404)
        return lifecycle


def _check_log_status(status: Mapping[str, Any], subject: str, *, previous: bool) -> None:
    """Refuse the log of a container that has none.

    Raises:
        KubeletError: It has not started or, with ``previous``, has not ended before.
    """
    if previous and not status["lastState"]:
        raise KubeletError(f"previous terminated {subject} not found")
    waiting = status["state"].get("waiting")
    if waiting is None or status["lastState"]:
        return
    reason = waiting["reason"]
    why = {
        "ErrImagePull": "image can't be pulled",
        "ImagePullBackOff": "trying and failing to pull image",
    }.get(reason, reason)
    raise KubeletError(f"{subject} is waiting to start: {why}")


def _program(container: ContainerLifecycle) -> ExecFunction:
    """Return the function that runs the commands of a container."""
    script = container.script
    return script.exec or _refuse if script.files is None else with_files(script.files, script.exec)


def _process(
    lifecycle: PodLifecycle, container: ContainerLifecycle, command: list[str], streams: ContainerStreams
) -> ExecProcess:
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


async def _run_until_exit(container: ContainerLifecycle, running: Awaitable[int | None]) -> int | None:
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


async def _connect(container: ContainerLifecycle | None, port: int, received: Pipe, sent: Pipe) -> int | None:
    """Forward a connection to a port of a container, until the connection or the container ends."""
    if container is None or not container.script.ports:
        raise KubeletError(_connection_refused(port))
    return await _run_until_exit(container, forward_port(container.script.ports[port], received, sent))


async def _refuse(process: ExecProcess) -> int:
    why = f"container {process.container.name} is simulated and runs nothing; set exec in the Script of the Kubelet\n"
    stream = process.stdout if process.tty else process.stderr
    await stream.write(why.encode())
    return CANNOT_EXECUTE


async def _be_silent(process: ExecProcess) -> int:
    """Play a process that reads its input and prints nothing."""
    await process.stdin.read_all()
    await asyncio.get_running_loop().create_future()  # cancelled with the container
    return 0


def _connection_refused(port: int) -> str:
    refused = "connect: connection refused"
    return (
        f"failed to connect to localhost:{port} inside the pod, IPv4: dial tcp4 127.0.0.1:{port}: {refused} "
        f"IPv6: dial tcp6 [::1]:{port}: {refused}; the pod is simulated, and no Script of its containers has this port"
    )
