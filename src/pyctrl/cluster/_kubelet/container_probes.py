"""Probes of the containers on simulated nodes: runs those of the containers whose scripts ask for it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import timedelta

from pyctrl._pipes import Pipe
from pyctrl._tasks import unwrapped
from pyctrl.apiserver import ContainerStreams, KubeletError
from pyctrl.cluster._kubelet.container_lifecycle import ContainerLifecycle
from pyctrl.cluster._kubelet.container_processes import (
    connect,
    container_process,
    find_listening,
    program_of,
    run_until_exit,
)
from pyctrl.cluster._kubelet.pod_lifecycle import PodLifecycle
from pyctrl.cluster._kubelet.probe_results import ProbeKind, ProbeResults
from pyctrl.controller import Request, RequestSink, Source
from pyctrl.kinds.core.v1 import HTTPGetAction, Probe

__all__ = ["ContainerProbes"]

log = logging.getLogger("pyctrl.cluster")

DEFAULT_PERIOD, DEFAULT_TIMEOUT = 10, 1  # seconds; those of a probe that has none
MOST_OUTPUT = 10 * 1024  # bytes of a command's output in an Event, as in a kubelet


class _ProbeFailed(Exception):
    """A probe failed, with the kubelet's message."""


@dataclass(frozen=True, slots=True)
class _Run:
    """One run of a container, and the request and the address of its pod."""

    request: Request
    pod_ip: str
    lifecycle: PodLifecycle
    container: ContainerLifecycle
    results: ProbeResults


class ContainerProbes(Source):
    """Runs the probes of containers, each from the start of its container to its end.

    It is a source to run with the kubelet's controller, which owns its tasks. It enqueues a pod after each result that
    may change its state.
    """

    def __init__(self) -> None:
        super().__init__()
        self._started: asyncio.Queue[_Run] = asyncio.Queue()

    def start(self, request: Request, lifecycle: PodLifecycle, pod_ip: str) -> None:
        """Run the probes of the containers of a pod that have started."""
        for container, results in lifecycle.take_runs_to_probe():
            self._started.put_nowait(_Run(request, pod_ip, lifecycle, container, results))

    async def run(self, queue: RequestSink) -> None:
        """Run the probes until cancelled."""
        self.synced.set()
        async with asyncio.TaskGroup() as tasks:
            while True:
                run = await self._started.get()
                name = f"probes {run.lifecycle.pod.key} {run.container.spec.name}"
                tasks.create_task(_probe_until_exit(run, queue), name=name)


async def _probe_until_exit(run: _Run, queue: RequestSink) -> None:
    if run.container.is_running(run.results):
        await run_until_exit(run.container, _probe_all(run, queue))


async def _probe_all(run: _Run, queue: RequestSink) -> None:
    """Run the startup probe until it is settled, then the others."""
    began = asyncio.get_running_loop().time()
    if ProbeKind.STARTUP in run.results.probes:
        await _probe(run, ProbeKind.STARTUP, began, queue)
    async with asyncio.TaskGroup() as tasks:
        for kind in (ProbeKind.LIVENESS, ProbeKind.READINESS):
            if kind in run.results.probes:
                tasks.create_task(_probe(run, kind, began, queue))


async def _probe(run: _Run, kind: ProbeKind, began: float, queue: RequestSink) -> None:
    """Run one probe until it is settled. A container that is being stopped is probed for readiness only."""
    probe = run.results.probes[kind]
    now = asyncio.get_running_loop().time()
    await asyncio.sleep(max(0.0, began + (probe.initial_delay_seconds or 0) - now))
    while not (run.container.is_stopping and kind is not ProbeKind.READINESS):
        failure = await _find_failure(run, probe)
        if run.container.record_probe(kind, failure):
            queue.add(run.request)
        if run.results.is_settled(kind):
            return
        await asyncio.sleep(probe.period_seconds or DEFAULT_PERIOD)


async def _find_failure(run: _Run, probe: Probe) -> str | None:
    """Run a probe once; return the message of its failure, or None."""
    timeout = timedelta(seconds=probe.timeout_seconds or DEFAULT_TIMEOUT)
    try:
        if probe.exec is not None:
            await _exec(run, probe.exec.command, timeout)
        elif probe.http_get is not None:
            await _get(run, probe.http_get, timeout)
        elif probe.tcp_socket is not None:
            _check_port(run, probe.tcp_socket.port)
        elif probe.grpc is not None:
            _check_port(run, probe.grpc.port)
    except (_ProbeFailed, KubeletError) as error:
        return str(error)
    except Exception as error:
        log.exception("Probe failed", extra={"pod": str(run.lifecycle.pod.key), "container": run.container.spec.name})
        return f"{type(error).__name__}: {error}"
    return None


async def _exec(run: _Run, command: list[str], timeout: timedelta) -> None:
    """Run a command in the container.

    Raises:
        _ProbeFailed: its exit code is not 0, or it takes too long.
    """
    stdin, output = Pipe(), Pipe()
    stdin.close()
    process = container_process(run.lifecycle, run.container, command, ContainerStreams(stdin, output, output))
    try:
        async with asyncio.timeout(timeout.total_seconds()):
            code, printed = await _output_of(program_of(run.container)(process), output)
    except TimeoutError:
        text = " ".join(command)
        message = f'command timed out: "{text}" timed out after {timeout.total_seconds():g}s'
        raise _ProbeFailed(message) from None
    if code:
        raise _ProbeFailed(printed[:MOST_OUTPUT].decode(errors="replace"))


async def _output_of(running: Awaitable[int | None], output: Pipe) -> tuple[int, bytes]:
    """Wait for a command; return its exit code and what it has printed."""
    with unwrapped():
        async with asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(output.read_all())
            code = await running
            output.close()
    return code or 0, reading.result()


async def _get(run: _Run, action: HTTPGetAction, timeout: timedelta) -> None:
    """Send an HTTP request to a port of the container, without TLS also for HTTPS.

    Raises:
        _ProbeFailed: the status code is not between 200 and 399, or there is no answer in time.
    """
    port = _number(run, action.port)
    address, path = f"{run.pod_ip}:{port}", f"/{(action.path or '').removeprefix('/')}"
    url = f"{(action.scheme or 'HTTP').lower()}://{address}{path}"
    if find_listening(run.lifecycle, port) is None:
        raise _ProbeFailed(f'Get "{url}": dial tcp {address}: connect: connection refused')
    headers = {"Host": address, "User-Agent": "kube-probe/1.36", "Accept": "*/*", "Connection": "close"}
    headers |= {each.name: each.value for each in action.http_headers}
    lines = [f"GET {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    try:
        async with asyncio.timeout(timeout.total_seconds()):
            status = await _status_of(run, port, "\r\n".join(lines).encode())
    except TimeoutError:
        why = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
        raise _ProbeFailed(f'Get "{url}": {why}') from None
    if status is None:
        raise _ProbeFailed(f'Get "{url}": EOF')
    if not 200 <= status < 400:
        raise _ProbeFailed(f"HTTP probe failed with statuscode: {status}")


async def _status_of(run: _Run, port: int, request: bytes) -> int | None:
    """Send a request to a port of the container; return the status code of the response, None without one."""
    sent, received = Pipe(), Pipe()
    with unwrapped():
        async with asyncio.TaskGroup() as tasks:
            serving = tasks.create_task(connect(find_listening(run.lifecycle, port), port, sent, received))
            await sent.write(request)
            head = b""
            while b"\r\n" not in head and (data := await received.read()):
                head += data
            serving.cancel()
    version, _, rest = head.partition(b" ")
    return int(rest[:3]) if version.startswith(b"HTTP/") and rest[:3].isdigit() else None


def _check_port(run: _Run, port: int | str) -> None:
    """Check that a container of the pod listens at a port.

    Raises:
        _ProbeFailed: none does.
    """
    number = _number(run, port)
    if find_listening(run.lifecycle, number) is None:
        raise _ProbeFailed(f"dial tcp {run.pod_ip}:{number}: connect: connection refused")


def _number(run: _Run, port: int | str) -> int:
    """Return the number of a port that is given by number or by name."""
    if isinstance(port, int):
        return port
    found = next((each.container_port for each in run.container.spec.ports if each.name == port), None)
    if found is None:
        raise _ProbeFailed(f"couldn't find port {port!r} in container {run.container.spec.name}")
    return found
