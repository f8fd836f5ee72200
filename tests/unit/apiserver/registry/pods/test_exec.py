"""The subresources exec and attach of pods: requests that do not reach a process."""

from __future__ import annotations

import pytest

from tests.unit.apiserver.registry.pods._kubelet import PODS, RefusingKubelet, ask, with_pod


@pytest.mark.parametrize("subresource", ["exec", "attach"])
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_plain_request_is_refused(method: str, subresource: str) -> None:
    """The connection must be upgraded."""
    server = await with_pod(nodeName="n1")
    server.kubelets["n1"] = RefusingKubelet('container not found ("a")', code=500)
    assert await ask(server, method, f"{PODS}/p/{subresource}") == (400, "Upgrade request required")


async def test_errors_of_the_kubelet_are_texts() -> None:
    """A kubelet's refusal is its text; in a WebSocket of v5 it is the status of the command."""
    server = await with_pod(nodeName="n1")
    server.kubelets["n1"] = RefusingKubelet('container not found ("a")', code=500)
    spdy = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1", "X-Stream-Protocol-Version": "v4.channel.k8s.io"}
    answer = await server.handle("POST", f"{PODS}/p/exec", [("stdout", "1")], spdy, b"")
    assert (answer.status, answer.body) == (500, b'container not found ("a")')
    answer = await server.handle("POST", f"{PODS}/p/exec", [], spdy, b"")
    assert (answer.status, answer.body) == (400, b"you must specify at least 1 of stdin, stdout, stderr")
    websocket = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    websocket |= {"Sec-WebSocket-Key": "k", "Sec-WebSocket-Protocol": "v5.channel.k8s.io"}
    answer = await server.handle("GET", f"{PODS}/p/exec", [("stdout", "1")], websocket, b"")
    assert answer.status == 101
