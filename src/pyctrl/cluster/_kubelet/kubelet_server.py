"""Server of a simulated kubelet: commands in containers, their logs and their ports, as their scripts say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any

from pyctrl._pipes import Pipe
from pyctrl.api import Key
from pyctrl.apiserver import ContainerStreams, ExecHandler, KubeletError, PodLogOptions, PortForwardHandler
from pyctrl.cluster._kubelet.container_lifecycle import ContainerStage
from pyctrl.cluster._kubelet.container_processes import (
    connect,
    container_process,
    find_listening,
    program_of,
    run_until_exit,
)
from pyctrl.cluster._kubelet.pod_lifecycle import PodLifecycle
from pyctrl.cluster._kubelet.pod_sessions import PodSession
from pyctrl.cluster._kubelet.ports import split_address
from pyctrl.cluster._kubelet.scripts import ExecProcess

__all__ = ["SimulatedKubeletServer"]

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
            process = container_process(lifecycle, found, command, streams)
            running = run_until_exit(found, program_of(found)(process))
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
            process = container_process(lifecycle, found, command, streams)
            running = run_until_exit(found, (found.script.attach or _be_silent)(process))
            await lifecycle.sessions.record("attach", container, running)
            return 0

        return attach

    def get_port_forward(self, namespace: str, pod: str) -> PortForwardHandler:
        """Return the function that forwards connections to the ``ports`` of the scripts of a pod's containers."""
        lifecycle = self._get(namespace, pod)
        if not any(each.stage is ContainerStage.RUNNING for each in lifecycle.containers):
            raise KubeletError(f'pod not found ("{pod}_{namespace}")', code=500)

        async def forward(port: int, received: Pipe, sent: Pipe) -> None:
            listening = find_listening(lifecycle, port)
            connection = connect(listening, port, received, sent)
            name = "" if listening is None else listening.spec.name
            await lifecycle.sessions.record("portforward", name, connection, port=port)

        return forward

    def find_address(self, namespace: str, pod: str, port: int) -> tuple[str, int] | None:
        """Return host and port of an address in the ``ports`` of a script; None for functions, and where none is."""
        lifecycle = self._find(Key(namespace, pod))
        listening = None if lifecycle is None else find_listening(lifecycle, port)
        target = None if listening is None else (listening.script.ports or {})[port]
        return split_address(target) if isinstance(target, str) else None

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


async def _be_silent(process: ExecProcess) -> int:
    """Play a process that reads its input and prints nothing."""
    await process.stdin.read_all()
    await asyncio.get_running_loop().create_future()  # cancelled with the container
    return 0
