"""The subresource portforward of pods: requests that do not reach a port."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pyctrl._headers import Headers
from pyctrl.apiserver import ApiServer, KubeletError, PodLogOptions

PODS = "/api/v1/namespaces/default/pods"
SPDY = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1", "X-Stream-Protocol-Version": "portforward.k8s.io"}


class NoPods:
    """A kubelet without pods."""

    def get_exec(self, namespace: str, pod: str, container: str, command: list[str]) -> Any:
        raise NotImplementedError

    def get_attach(self, namespace: str, pod: str, container: str) -> Any:
        raise NotImplementedError

    def get_logs(self, namespace: str, pod: str, container: str, options: PodLogOptions) -> Any:
        raise NotImplementedError

    def get_port_forward(self, namespace: str, pod: str) -> Any:
        raise KubeletError("pod does not exist", code=404)


async def with_pod() -> ApiServer:
    """Return a server with a pod that its kubelet does not know."""
    server = ApiServer()
    spec = {"nodeName": "n1", "containers": [{"name": "a", "image": "i"}]}
    await server.handle("POST", PODS, [], {}, json.dumps({"metadata": {"name": "p"}, "spec": spec}).encode())
    server.kubelets["n1"] = NoPods()
    return server


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_plain_request_is_refused(method: str) -> None:
    """The connection must be upgraded."""
    answer = await (await with_pod()).handle(method, f"{PODS}/p/portforward", [], {}, b"")
    assert isinstance(answer.body, bytes)
    assert (answer.status, json.loads(answer.body)["message"]) == (400, "Upgrade request required")


async def test_errors_of_the_kubelet_are_texts() -> None:
    """A kubelet's refusal has its status code and its text."""
    answer = await (await with_pod()).handle("POST", f"{PODS}/p/portforward", [], SPDY, b"")
    assert (answer.status, answer.body) == (404, b"pod does not exist")


async def test_the_log_says_who_opens_a_stream(caplog: pytest.LogCaptureFixture) -> None:
    """The user, the pod and the subresource are logged before the kubelet is asked."""
    caplog.set_level("INFO", "pyctrl.apiserver")
    await (await with_pod()).handle("POST", f"{PODS}/p/portforward", [], SPDY, b"")
    record = next(each for each in caplog.records if each.message == "Opening stream to pod")
    facts = vars(record)
    assert (facts["subresource"], facts["namespace"]) == ("portforward", "default")
    assert facts["user"]


async def test_several_protocols_may_be_in_several_headers() -> None:
    """client-go sends a header for each protocol."""
    pairs = [("Connection", "Upgrade"), ("Upgrade", "SPDY/3.1")]
    server = await with_pod()
    server.kubelets["n1"] = AnyPort()
    versions = [("X-Stream-Protocol-Version", "x"), ("X-Stream-Protocol-Version", "portforward.k8s.io")]
    answer = await server.handle("POST", f"{PODS}/p/portforward", [], Headers([*pairs, *versions]), b"")
    assert answer.status == 101


class AnyPort(NoPods):
    """A kubelet with any pod."""

    def get_port_forward(self, namespace: str, pod: str) -> Any:
        return None
