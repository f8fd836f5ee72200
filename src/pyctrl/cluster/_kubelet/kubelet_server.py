"""Server of a simulated kubelet: commands in containers and their logs, as their scripts say."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

from pyctrl.api import Key
from pyctrl.apiserver import ContainerStreams, ExecHandler, KubeletError, PodLogOptions
from pyctrl.cluster._kubelet.container_lifecycle import ContainerLifecycle, ContainerStage
from pyctrl.cluster._kubelet.pod_lifecycle import PodLifecycle
from pyctrl.cluster._kubelet.scripts import ExecProcess

__all__ = ["SimulatedKubeletServer"]

CANNOT_EXECUTE = 126  # the exit code of a shell for a command that exists and does not run


class SimulatedKubeletServer:
    """The `KubeletServer` of a simulated node.

    Args:
        find: returns the lifecycle of a pod, or None.
    """

    def __init__(self, find: Callable[[Key], PodLifecycle | None]) -> None:
        self._find = find

    def get_exec(self, namespace: str, pod: str, container: str, command: list[str]) -> ExecHandler:
        """Return the function that runs a command in a container, by the ``exec`` of its script."""
        lifecycle = self._find(Key(namespace, pod))
        if lifecycle is None:
            raise KubeletError("pod does not exist")
        found = lifecycle.find(container)
        if found is None or found.stage is not ContainerStage.RUNNING:
            raise KubeletError(f'container not found ("{container}")')

        async def run(streams: ContainerStreams) -> int:
            return await _run(lifecycle, found, command, streams)

        return run

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


async def _run(
    lifecycle: PodLifecycle, container: ContainerLifecycle, command: list[str], streams: ContainerStreams
) -> int:
    function = container.script.exec
    if function is None:
        why = f"container {container.spec.name} is simulated and runs nothing; set exec in the Script of the Kubelet\n"
        await streams.stderr.write(why.encode())
        return CANNOT_EXECUTE
    process = ExecProcess(
        pod=lifecycle.pod,
        container=container.spec,
        command=command,
        stdin=streams.stdin,
        stdout=streams.stdout,
        stderr=streams.stderr,
        tty=streams.tty,
    )
    return await function(process) or 0
