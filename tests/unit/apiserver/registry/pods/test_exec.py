"""The subresource exec of pods: requests that cannot reach a container."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pyctrl.apiserver import ApiServer, PodLogOptions

PODS = "/api/v1/namespaces/default/pods"


async def ask(server: ApiServer, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """Send a request; return the code and the message of the response."""
    data = b"" if body is None else json.dumps(body).encode()
    answer = await server.handle(method, path, [("command", "ls"), ("stdout", "1")], headers, data)
    assert isinstance(answer.body, bytes)
    return answer.status, json.loads(answer.body).get("message")


async def with_pod(**spec: object) -> ApiServer:
    """Return a server with a pod on the node n1, which has an address, and another node without one."""
    server = ApiServer()
    status = {"addresses": [{"type": "InternalIP", "address": "192.0.2.1"}]}
    await ask(server, "POST", "/api/v1/nodes", {"metadata": {"name": "n1"}, "status": status})
    await ask(server, "POST", "/api/v1/nodes", {"metadata": {"name": "n2"}})
    spec = {"containers": [{"name": "a", "image": "i"}], **spec}
    await ask(server, "POST", PODS, {"metadata": {"name": "p"}, "spec": spec})
    return server


@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        ({}, (400, "pod p does not have a host assigned")),
        ({"nodeName": "none"}, (404, 'nodes "none" not found')),
        ({"nodeName": "n1"}, (500, "error dialing backend: dial tcp 192.0.2.1:10250: connect: connection refused")),
        ({"nodeName": "n2"}, (500, "Internal error occurred: no preferred addresses found; known addresses: []")),
    ],
)
async def test_a_node_without_a_kubelet_cannot_be_reached(spec: dict[str, str], answer: tuple[int, str]) -> None:
    """The error is that of a node that is not assigned, does not exist, does not answer or has no address."""
    assert await ask(await with_pod(**spec), "GET", f"{PODS}/p/exec") == answer


@pytest.mark.parametrize(
    ("headers", "message"),
    [
        ({}, "Upgrade request required"),
        ({"Connection": "Upgrade", "Upgrade": "SPDY/3.1"}, "SPDY is not supported; use WebSockets"),
        ({"Connection": "Upgrade", "Upgrade": "h2c"}, "Upgrade request required"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_exec_needs_a_websocket(method: str, headers: dict[str, str], message: str) -> None:
    """A plain request and other protocols are refused."""
    server = await with_pod(nodeName="n1")
    server.kubelets["n1"] = NoContainers()
    assert await ask(server, method, f"{PODS}/p/exec", **headers) == (400, message)


class NoContainers:
    """A kubelet that is not asked."""

    def get_exec(self, namespace: str, pod: str, container: str, command: list[str]) -> Any:
        raise NotImplementedError

    def get_logs(self, namespace: str, pod: str, container: str, options: PodLogOptions) -> Any:
        raise NotImplementedError
