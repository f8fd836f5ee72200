"""Server of a simulated kubelet: runs commands in containers as their scripts say."""

from __future__ import annotations

from collections.abc import Callable

from pyctrl.api import Key
from pyctrl.apiserver import ContainerStreams, ExecHandler, KubeletError
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
