"""A pod on a node whose kubelet refuses everything, and requests for it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

from pyctrl.apiserver import ApiServer, ExecHandler, KubeletError, PodLogOptions, PortForwardHandler

PODS = "/api/v1/namespaces/default/pods"


class RefusingKubelet:
    """A kubelet that refuses each request with one error."""

    def __init__(self, message: str, *, code: int = 400) -> None:
        self._error = KubeletError(message, code=code)

    def get_exec(self, namespace: str, pod: str, container: str, command: list[str]) -> ExecHandler:
        """Refuse."""
        raise self._error

    def get_attach(self, namespace: str, pod: str, container: str) -> ExecHandler:
        """Refuse."""
        raise self._error

    def get_port_forward(self, namespace: str, pod: str) -> PortForwardHandler:
        """Refuse."""
        raise self._error

    def find_address(self, namespace: str, pod: str, port: int) -> tuple[str, int] | None:
        """Return None."""
        return None

    def get_logs(self, namespace: str, pod: str, container: str, options: PodLogOptions) -> AsyncGenerator[bytes, None]:
        """Refuse."""
        raise self._error


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
