"""Probes of simulated containers, in virtual time: `Script(probes=True)`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from pyctrl.client import Client
from pyctrl.cluster import Cluster, ExecProcess, Kubelet, Script
from pyctrl.kinds.core.v1 import ContainerStatus, Event, Pod
from tests.unit.cluster._pods import conditions, pod, reasons, scripted, until

FAST = {"periodSeconds": 1, "failureThreshold": 1}
TEST = {"exec": {"command": ["test", "-f", "/ready"]}, **FAST}


class Program:
    """The program of a container: a file that commands test, and the status of its web server."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.status = 200
        self.delay = 0.0
        self.paths: list[bytes] = []

    async def exec(self, process: ExecProcess) -> int:
        """Run ``test -f FILE``."""
        await asyncio.sleep(self.delay)
        await process.stderr.write(b"no such file")
        return 0 if process.command[2] in self.files else 1

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request with the status."""
        head = await reader.readuntil(b"\r\n\r\n")
        self.paths.append(head)
        await asyncio.sleep(self.delay)
        writer.write(b"HTTP/1.1 %d x\r\nContent-Length: 0\r\n\r\n" % self.status)
        await writer.drain()

    def cluster(self) -> Cluster:
        """Return a cluster whose containers are this program, with probes."""
        script = Script(probes=True, exec=self.exec, ports={80: self.serve})
        return Cluster(kubelet=Kubelet(script=lambda _pod, _container: script))


@pytest.fixture
def program() -> Program:
    """A program."""
    return Program()


def probed(*, policy: str = "Always", ports: bool = False, **probes: dict[str, Any]) -> Pod:
    """Return pod p, whose container has these probes."""
    container: dict[str, Any] = {f"{kind}Probe": probe for kind, probe in probes.items()}
    if ports:
        container["ports"] = [{"name": "web", "containerPort": 80}]
    return pod(containers=[{"name": "c", "image": "busybox", **container}], restartPolicy=policy)


def status(found: Pod) -> ContainerStatus:
    """Return the status of the container."""
    return found.status.container_statuses[0]


def is_ready(found: Pod) -> bool:
    """Return whether the pod is ready."""
    return conditions(found).get("Ready", ("", None))[0] == "True"


async def messages(client: Client, reason: str) -> list[str | None]:
    """Return the messages of the Events of a reason."""
    await asyncio.sleep(1)
    return [each.message for each in await client.list(Event) if each.reason == reason]


async def test_a_command_decides_about_readiness(program: Program) -> None:
    """A pod is ready while the command of its readiness probe succeeds; its output is in an Event."""
    async with program.cluster() as cluster, cluster.client() as client:
        await client.create(probed(readiness=TEST))
        found = await until(client, "p", lambda found: found.status.phase == "Running")
        assert (is_ready(found), status(found).started) == (False, True)
        assert "Readiness probe failed: no such file" in await messages(client, "Unhealthy")
        program.files.add("/ready")
        await until(client, "p", is_ready)
        program.files.clear()
        found = await until(client, "p", lambda found: not is_ready(found))
        assert (status(found).restart_count, conditions(found)["Ready"][1]) == (0, "ContainersNotReady")


@pytest.mark.parametrize("port", [80, "web"])
async def test_an_http_status_decides_about_readiness(program: Program, port: int | str) -> None:
    """The web server of the script gets the path and the headers of the probe; below 400 its status is a success."""
    get = {"path": "/healthz", "port": port, "httpHeaders": [{"name": "X-Probe", "value": "yes"}]}
    program.status = 301
    async with program.cluster() as cluster, cluster.client() as client:
        await client.create(probed(readiness={"httpGet": get, **FAST}, ports=True))
        found = await until(client, "p", is_ready)
        assert program.paths[-1].startswith(b"GET /healthz HTTP/1.1\r\n")
        assert b"\r\nX-Probe: yes\r\n" in program.paths[-1]
        assert f"Host: {found.status.pod_ip}:80".encode() in program.paths[-1]
        program.status = 500
        await until(client, "p", lambda found: not is_ready(found))
        assert await messages(client, "Unhealthy") == ["Readiness probe failed: HTTP probe failed with statuscode: 500"]


@pytest.mark.parametrize(
    ("probe", "message"),
    [
        (
            {"httpGet": {"path": "x", "port": 81}},
            'Get "http://{ip}:81/x": dial tcp {ip}:81: connect: connection refused',
        ),
        ({"tcpSocket": {"port": 81}}, "dial tcp {ip}:81: connect: connection refused"),
        ({"grpc": {"port": 81}}, "dial tcp {ip}:81: connect: connection refused"),
        ({"httpGet": {"port": "web"}}, "couldn't find port 'web' in container c"),
    ],
    ids=["http", "tcp", "grpc", "name"],
)
async def test_a_port_at_which_nothing_listens_fails_a_probe(
    program: Program, probe: dict[str, Any], message: str
) -> None:
    """The Event has the message of a kubelet whose connection is refused."""
    async with program.cluster() as cluster, cluster.client() as client:
        await client.create(probed(readiness={**probe, **FAST}))
        found = await until(client, "p", lambda found: bool(found.status.pod_ip))
        await asyncio.sleep(3)
        expected = "Readiness probe failed: " + message.format(ip=found.status.pod_ip)
        assert expected in await messages(client, "Unhealthy")


async def test_an_open_port_is_enough(program: Program) -> None:
    """A probe of a socket succeeds at a port of the script."""
    async with program.cluster() as cluster, cluster.client() as client:
        await client.create(probed(readiness={"tcpSocket": {"port": 80}, **FAST}))
        await until(client, "p", is_ready)


@pytest.mark.parametrize(
    ("probe", "message"),
    [
        (TEST, 'command timed out: "test -f /ready" timed out after 2s'),
        (
            {"httpGet": {"port": 80}, **FAST},
            'Get "http://{ip}:80/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)',
        ),
    ],
    ids=["exec", "http"],
)
async def test_a_probe_times_out(program: Program, probe: dict[str, Any], message: str) -> None:
    """A probe fails after timeoutSeconds."""
    program.files.add("/ready")
    program.delay = 3
    async with program.cluster() as cluster, cluster.client() as client:
        await client.create(probed(readiness={**probe, "timeoutSeconds": 2}))
        found = await until(client, "p", lambda found: bool(found.status.pod_ip))
        await asyncio.sleep(5)
        expected = "Readiness probe failed: " + message.format(ip=found.status.pod_ip)
        assert expected in await messages(client, "Unhealthy")


async def test_a_liveness_probe_that_fails_restarts_the_container(program: Program) -> None:
    """The container is killed, with an Event, and started again; the pod stays."""
    program.files.add("/ready")
    async with program.cluster() as cluster, cluster.client() as client:
        await client.create(probed(liveness=TEST))
        await until(client, "p", is_ready)
        await asyncio.sleep(5)
        program.files.clear()
        found = await until(client, "p", lambda found: status(found).restart_count == 1)
        ended = status(found).last_state.terminated
        assert ended is not None
        assert (ended.exit_code, ended.reason) == (137, "Error")
        assert await messages(client, "Killing") == ["Container c failed liveness probe, will be restarted"]


async def test_a_pod_that_never_restarts_fails_with_its_liveness_probe(program: Program) -> None:
    """With the restart policy Never the pod fails."""
    async with program.cluster() as cluster, cluster.client() as client:
        await client.create(probed(liveness=TEST, policy="Never"))
        await until(client, "p", lambda found: found.status.phase == "Failed")
        assert await messages(client, "Killing") == ["Container c failed liveness probe"]


async def test_a_startup_probe_holds_the_others_back(program: Program) -> None:
    """Neither liveness nor readiness is probed before the startup probe succeeds."""
    startup = {"exec": {"command": ["test", "-f", "/started"]}, "periodSeconds": 1, "failureThreshold": 100}
    async with program.cluster() as cluster, cluster.client() as client:
        await client.create(probed(startup=startup, liveness=TEST, readiness=TEST))
        await until(client, "p", lambda found: found.status.phase == "Running")
        await asyncio.sleep(20)
        found = await until(client, "p", lambda found: status(found).started is False)
        assert (is_ready(found), status(found).restart_count) == (False, 0)
        program.files |= {"/started", "/ready"}
        found = await until(client, "p", is_ready)
        assert status(found).started is True


async def test_a_sidecar_has_started_with_its_startup_probe(program: Program) -> None:
    """The containers of a pod wait for the startup probe of a sidecar."""
    sidecar = {"name": "s", "image": "i", "restartPolicy": "Always", "startupProbe": TEST | {"failureThreshold": 100}}
    async with program.cluster() as cluster, cluster.client() as client:
        await client.create(pod(initContainers=[sidecar]))
        await asyncio.sleep(10)
        await until(client, "p", lambda found: conditions(found)["Initialized"][0] == "False")
        program.files.add("/ready")
        await until(client, "p", is_ready)


async def test_a_probe_begins_after_its_delay(program: Program) -> None:
    """No probe runs within initialDelaySeconds."""
    async with program.cluster() as cluster, cluster.client() as client:
        await client.create(probed(readiness={**TEST, "initialDelaySeconds": 30}))
        await until(client, "p", lambda found: found.status.phase == "Running")
        await asyncio.sleep(25)
        assert await messages(client, "Unhealthy") == []
        await asyncio.sleep(6)
        assert await messages(client, "Unhealthy") != []


async def test_a_function_that_raises_fails_a_probe(program: Program) -> None:
    """An exception in the function of a container is the message of a failed probe."""
    program.files = None  # type: ignore[assignment]
    async with program.cluster() as cluster, cluster.client() as client:
        await client.create(probed(readiness=TEST))
        await asyncio.sleep(3)
        assert any("Readiness probe failed: TypeError" in (each or "") for each in await messages(client, "Unhealthy"))


@pytest.mark.parametrize(("annotation", "ready"), [("true", False), ("false", True), ("yes", True)])
async def test_probes_run_on_request(annotation: str, ready: bool) -> None:
    """Probes succeed without running unless the script or the annotation asks for them."""
    async with Cluster() as cluster, cluster.client() as client:
        made = probed(readiness=TEST)
        made.metadata.annotations = scripted(probes=annotation)
        await client.create(made)
        await asyncio.sleep(5)
        found = await until(client, "p", lambda found: found.status.phase == "Running")
        assert is_ready(found) is ready
        assert ("InvalidScript" in await reasons(client, "p")) is (annotation == "yes")


async def test_a_deleted_pod_is_not_probed(program: Program) -> None:
    """The probes end with their pod; a container that is being stopped is not restarted for its liveness."""
    program.files.add("/ready")
    waits: Callable[[Pod], bool] = is_ready
    async with program.cluster() as cluster, cluster.client() as client:
        made = probed(liveness=TEST)
        made.metadata.annotations = scripted(stop_seconds="20")
        created = await client.create(made)
        await until(client, "p", waits)
        await client.delete(created)
        program.files.clear()
        await asyncio.sleep(10)
        assert await messages(client, "Killing") == ["Stopping container c"]
        await asyncio.sleep(20)
        assert await client.list(Pod) == []
