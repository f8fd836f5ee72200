"""Output of the containers on simulated nodes: runs the functions that write their logs."""

from __future__ import annotations

import asyncio
import logging
import traceback
from dataclasses import dataclass

from pyctrl.cluster._kubelet.container_log import ContainerLog
from pyctrl.cluster._kubelet.scripts import ContainerOutput, LogFunction
from pyctrl.controller import RequestSink, Source

__all__ = ["ContainerOutputs"]

log = logging.getLogger("pyctrl.cluster")


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of a container that a function writes the log of."""

    function: LogFunction
    output: ContainerOutput
    log: ContainerLog


class ContainerOutputs(Source):
    """Runs the log functions of containers, each from the start of its container to its end.

    It is a source to run with the kubelet's controller, which owns its tasks. It enqueues nothing.
    """

    def __init__(self) -> None:
        super().__init__()
        self._started: asyncio.Queue[_Run] = asyncio.Queue()

    def start(self, function: LogFunction, output: ContainerOutput, log: ContainerLog) -> None:
        """Run the function of a container that has started."""
        self._started.put_nowait(_Run(function, output, log))

    async def run(self, queue: RequestSink) -> None:
        """Run the functions until cancelled."""
        self.synced.set()
        async with asyncio.TaskGroup() as tasks:
            while True:
                run = await self._started.get()
                tasks.create_task(_follow(run), name=f"logs {run.output.pod.key} {run.output.container.name}")


async def _follow(run: _Run) -> None:
    """Run a function until its container has ended."""
    async with asyncio.TaskGroup() as group:
        writing = group.create_task(_write(run))
        await run.log.wait_until_ended()
        writing.cancel()


async def _write(run: _Run) -> None:
    """Run a function. An error is output of the container, as that of a program."""
    output = run.output
    try:
        await run.function(output)
    except Exception as error:
        log.exception("Log function failed", extra={"pod": str(output.pod.key), "container": output.container.name})
        output.stderr.write("".join(traceback.format_exception(error)))
