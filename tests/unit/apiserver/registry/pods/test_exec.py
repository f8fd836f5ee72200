"""The subresources exec and attach of pods: requests that do not reach a process."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pyctrl.apiserver import ApiServer, KubeletError, PodLogOptions

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


@pytest.mark.parametrize("subresource", ["exec", "attach"])
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_plain_request_is_refused(method: str, subresource: str) -> None:
    """The connection must be upgraded."""
    server = await with_pod(nodeName="n1")
    server.kubelets["n1"] = NoContainers()
    assert await ask(server, method, f"{PODS}/p/{subresource}") == (400, "Upgrade request required")


async def test_errors_of_the_kubelet_are_texts() -> None:
    """A kubelet's refusal is its text; in a WebSocket of v5 it is the status of the command."""
    server = await with_pod(nodeName="n1")
    server.kubelets["n1"] = NoContainers()
    spdy = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1", "X-Stream-Protocol-Version": "v4.channel.k8s.io"}
    answer = await server.handle("POST", f"{PODS}/p/exec", [("stdout", "1")], spdy, b"")
    assert (answer.status, answer.body) == (500, b'container not found ("a")')
    answer = await server.handle("POST", f"{PODS}/p/exec", [], spdy, b"")
    assert (answer.status, answer.body) == (400, b"you must specify at least 1 of stdin, stdout, stderr")
    websocket = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    websocket |= {"Sec-WebSocket-Key": "k", "Sec-WebSocket-Protocol": "v5.channel.k8s.io"}
    answer = await server.handle("GET", f"{PODS}/p/exec", [("stdout", "1")], websocket, b"")
    assert answer.status == 101


class NoContainers:
    """A kubelet whose pods do not run."""

    def get_exec(self, namespace: str, pod: str, container: str, command: list[str]) -> Any:
        raise KubeletError('container not found ("a")', code=500)

    def get_attach(self, namespace: str, pod: str, container: str) -> Any:
        raise NotImplementedError

    def get_port_forward(self, namespace: str, pod: str) -> Any:
        raise NotImplementedError

    def get_logs(self, namespace: str, pod: str, container: str, options: PodLogOptions) -> Any:
        raise NotImplementedError
