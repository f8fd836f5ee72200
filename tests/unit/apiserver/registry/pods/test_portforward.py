"""The subresource portforward of pods: requests that do not reach a port."""

from __future__ import annotations

import json

import pytest

from pyctrl._headers import Headers
from pyctrl._pipes import Pipe
from pyctrl.apiserver import ApiServer, PortForwardHandler
from tests.unit.apiserver.registry.pods._kubelet import PODS, RefusingKubelet
from tests.unit.apiserver.registry.pods._kubelet import with_pod as with_pod_on

SPDY = {"Connection": "Upgrade", "Upgrade": "SPDY/3.1", "X-Stream-Protocol-Version": "portforward.k8s.io"}


async def with_pod() -> ApiServer:
    """Return a server with a pod that its kubelet does not know."""
    server = await with_pod_on(nodeName="n1")
    server.kubelets["n1"] = RefusingKubelet("pod does not exist", code=404)
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
    server.kubelets["n1"] = AnyPort("no commands")
    versions = [("X-Stream-Protocol-Version", "x"), ("X-Stream-Protocol-Version", "portforward.k8s.io")]
    answer = await server.handle("POST", f"{PODS}/p/portforward", [], Headers([*pairs, *versions]), b"")
    assert answer.status == 101


class AnyPort(RefusingKubelet):
    """A kubelet with any pod."""

    def get_port_forward(self, namespace: str, pod: str) -> PortForwardHandler:
        async def forward(port: int, received: Pipe, sent: Pipe) -> None:
            sent.close()

        return forward
