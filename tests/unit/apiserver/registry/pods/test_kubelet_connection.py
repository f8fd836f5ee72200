"""Connections to the kubelets of pods: nodes that cannot be reached, and users who may not use them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pyctrl.apiserver import ApiServer

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


@pytest.mark.parametrize("subresource", ["exec", "attach", "portforward"])
@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        ({}, (400, "pod p does not have a host assigned")),
        ({"nodeName": "none"}, (404, 'nodes "none" not found')),
        ({"nodeName": "n1"}, (500, "error dialing backend: dial tcp 192.0.2.1:10250: connect: connection refused")),
        ({"nodeName": "n2"}, (500, "Internal error occurred: no preferred addresses found; known addresses: []")),
    ],
)
async def test_a_node_without_a_kubelet_cannot_be_reached(
    spec: dict[str, str], answer: tuple[int, str], subresource: str
) -> None:
    """The error is that of a node that is not assigned, does not exist, does not answer or has no address."""
    assert await ask(await with_pod(**spec), "GET", f"{PODS}/p/{subresource}") == answer
