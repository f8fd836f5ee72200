"""The API of simulated kubelets, through the proxy of nodes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pyctrl._headers import Headers
from pyctrl._websocket import Opcode
from pyctrl._websocket_connection import WebSocketConnection
from pyctrl.api import Key
from pyctrl.client import Client, HttpRequest, HttpResponse, wait_for
from pyctrl.cluster import Cluster, ExecProcess, Kubelet, Script
from pyctrl.errors import ApiError
from pyctrl.kinds.core.v1 import Node, Pod

PROXY = "/api/v1/nodes/{node}/proxy"
WEBSOCKET = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")]
WEBSOCKET += [("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")]


async def cat(process: ExecProcess) -> int:
    """Print the command and the input; fail without a command."""
    await process.stdout.write(" ".join(process.command).encode())
    while data := await process.stdin.read():
        await process.stdout.write(data)
    await process.stderr.write(b"!")
    return 0 if process.command != [""] else 3


class Kubelets:
    """A client of the kubelet on which pod p runs, with the container c."""

    def __init__(self, client: Client, pod: Pod) -> None:
        self.client, self.pod, self.node = client, pod, pod.spec.node_name or ""

    def request(self, method: str, path: str, headers: Sequence[tuple[str, str]] = (), **query: str) -> HttpRequest:
        """Return a request through the proxy."""
        path = PROXY.format(node=self.node) + path
        return HttpRequest(method=method, path=path, query=tuple(query.items()), headers=Headers(headers))

    async def ask(self, method: str, path: str, **query: str) -> HttpResponse:
        """Send a request."""
        return await self.client.connection.transport.request(self.request(method, path, (), **query))

    async def read(self, path: str) -> Any:
        """Return a document."""
        response = await self.ask("GET", path)
        assert response.status == 200
        return json.loads(response.body)


@asynccontextmanager
async def serving() -> AsyncIterator[Kubelets]:
    """Run the pod."""
    script = Script(exec=cat, attach=cat, logs="one\ntwo\n")
    async with Cluster(kubelet=Kubelet(script=lambda *_: script)) as cluster, cluster.client() as client:
        spec = {"containers": [{"name": "c", "image": "i", "stdin": True}]}
        await client.create(Pod.from_wire({"metadata": {"name": "p", "namespace": "default"}, "spec": spec}))
        pod = await wait_for(client, Pod, Key("default", "p"), lambda each: each.status.phase == "Running")
        yield Kubelets(client, pod)


async def test_a_command_runs_with_its_input() -> None:
    """By WebSocket, with the names that kubelets give the streams: input and output."""
    async with serving() as kubelet:
        query = {"command": "cat", "input": "1", "output": "1"}
        headers = [*WEBSOCKET, ("Sec-WebSocket-Protocol", "v4.channel.k8s.io")]
        for path in ("/exec/default/p/c", f"/exec/default/p/{kubelet.pod.metadata.uid}/c"):
            request = kubelet.request("GET", path, headers, **query)
            received: list[bytes] = []
            async with kubelet.client.connection.transport.stream(request) as stream:
                assert stream.status == 101
                socket = WebSocketConnection(_Bytes(stream))
                messages = socket.messages()
                await socket.send(Opcode.BINARY, b"\x00hello")
                while not received or not received[-1].endswith(b"hello"):
                    received.append((await anext(messages)).data)
            assert b"".join(each[1:] for each in received) == b"cathello"


class _Bytes:
    """The bytes of an upgraded stream."""

    def __init__(self, stream: Any) -> None:
        self._stream, self._chunks = stream, stream.chunks()

    async def read(self) -> bytes:
        return await anext(self._chunks, b"")

    async def write(self, data: bytes) -> None:
        await self._stream.write(data)


async def test_run_returns_the_output() -> None:
    """Without a WebSocket; a command that fails is 500."""
    async with serving() as kubelet:
        found = await kubelet.ask("POST", "/run/default/p/c", cmd="ls -l")
        assert (found.status, found.body) == (200, b"ls -l!")
        failed = await kubelet.ask("POST", "/run/default/p/c")
        assert (failed.status, failed.body) == (500, b"command '' exited with 3: !")


async def test_the_log_of_a_container() -> None:
    """With the options of logs."""
    async with serving() as kubelet:
        found = await kubelet.ask("GET", "/containerLogs/default/p/c", tailLines="1")
        assert (found.status, found.body) == (200, b"two\n")
        for query, answer in (({"tailLines": "x"}, (400, "decode query")), ({"tailLines": "-1"}, (422, "Invalid"))):
            found = await kubelet.ask("GET", "/containerLogs/default/p/c", **query)
            assert (found.status, answer[1] in found.body.decode()) == (answer[0], True)


async def test_documents_of_the_node() -> None:
    """Its pods, its configuration and its statistics."""
    async with serving() as kubelet:
        pods = await kubelet.read("/pods")
        assert (pods["kind"], [each["metadata"]["name"] for each in pods["items"]]) == ("PodList", ["p"])
        assert "kind" not in pods["items"][0]
        (running,) = (await kubelet.read("/runningpods/"))["items"]
        assert running["spec"] == {"containers": [{"name": "c", "image": "docker.io/library/i:latest"}]}
        assert (await kubelet.read("/configz"))["kubeletconfig"]["port"] == 10250
        summary = await kubelet.read("/stats/summary")
        assert summary["node"]["nodeName"] == kubelet.node
        assert summary["pods"][0]["containers"][0]["name"] == "c"
        for path in ("/healthz", "/healthz/syncloop"):
            assert (await kubelet.ask("GET", path)).body == b"ok"
        assert (await kubelet.ask("GET", "/logs/")).body.startswith(b"<!doctype html>")


async def test_metrics_of_the_node() -> None:
    """The counts of pods and containers, the size of the node, the start of containers."""
    async with serving() as kubelet:
        metrics = (await kubelet.ask("GET", "/metrics")).body.decode()
        assert f'kubelet_node_name{{node="{kubelet.node}"}} 1\n' in metrics
        assert "kubelet_running_pods 1\n" in metrics
        assert 'kubelet_running_containers{container_state="running"} 1\n' in metrics
        node = await kubelet.client.get(Node, Key("", kubelet.node))
        cores = int(node.status.capacity["cpu"].value)
        assert "machine_cpu_cores{" in (found := (await kubelet.ask("GET", "/metrics/cadvisor")).body.decode())
        assert f'system_uuid=""}} {cores}\n' in found
        found = (await kubelet.ask("GET", "/metrics/resource")).body.decode()
        assert 'container_start_time_seconds{container="c",namespace="default",pod="p"} ' in found
        assert (await kubelet.ask("GET", "/metrics/probes")).status == 200


@pytest.mark.parametrize(
    ("method", "path", "answer"),
    [
        ("GET", "/none", (404, "404: Page Not Found")),
        ("GET", "/exec/default/p", (404, "404: Page Not Found")),
        ("GET", "/run/default/p/c", (405, "405: Method Not Allowed")),
        ("POST", "/pods", (405, "405: Method Not Allowed")),
        ("GET", "/exec/default/none/c", (404, "pod does not exist")),
        ("GET", "/containerLogs/default/none/c", (404, 'pod "none" does not exist')),
        ("GET", "/attach/default/p/other-uid/c", (404, "pod not found")),
        ("GET", "/exec/default/p/c", (500, "Upgrade request required\n")),
        ("POST", "/run/default/p/none", (500, 'container not found ("none")')),
        ("GET", "/logs/syslog", (404, "404 page not found\n")),
    ],
)
async def test_what_a_kubelet_refuses(method: str, path: str, answer: tuple[int, str]) -> None:
    """The errors are kubelet's texts."""
    async with serving() as kubelet:
        found = await kubelet.ask(method, path)
        assert (found.status, found.body.decode()) == answer


async def test_a_kubelet_knows_the_pods_of_its_node_only() -> None:
    """Those of other nodes do not exist for it."""
    async with Cluster(nodes=2) as cluster, cluster.client() as client:
        spec = {"nodeName": "node-1", "containers": [{"name": "c", "image": "i"}]}
        await client.create(Pod.from_wire({"metadata": {"name": "p", "namespace": "default"}, "spec": spec}))
        pod = await wait_for(client, Pod, Key("default", "p"), lambda each: each.status.phase == "Running")
        pod.spec.node_name = "node-2"
        other = Kubelets(client, pod)
        assert (await other.read("/pods"))["items"] == []
        assert (await other.ask("GET", "/containerLogs/default/p/c")).status == 404


async def test_a_node_without_a_kubelet() -> None:
    """Nothing listens there, nor at another port of a simulated node."""
    async with serving() as kubelet:
        rest = kubelet.client.connection.rest
        status = {"addresses": [{"type": "InternalIP", "address": "192.0.2.1"}]}
        await kubelet.client.create(Node.from_wire({"metadata": {"name": "real"}, "status": status}))
        for node in ("real", f"{kubelet.node}:80"):
            with pytest.raises(ApiError, match=r"dial tcp .*: connect: connection refused"):
                await rest.send(HttpRequest(method="GET", path=f"/api/v1/nodes/{node}/proxy/healthz"))
