"""Connections to the kubelets of pods: their addresses, and nodes that cannot be reached."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from pyctrl.apiserver import ApiServer
from pyctrl.apiserver._errors import StatusError
from pyctrl.apiserver._registry._pods.kubelet_connection import dial_error, kubelet_address
from tests.unit.apiserver.registry.pods._kubelet import PODS, ask, with_pod


def with_node(*addresses: tuple[str, str], **status: Any) -> ApiServer:
    """Return a server with node n."""
    server = ApiServer()
    status["addresses"] = [{"type": kind, "address": address} for kind, address in addresses]
    body = msgspec.json.encode({"metadata": {"name": "n"}, "status": status})
    assert server.handle_nowait("POST", "/api/v1/nodes", body=body).status == 201
    return server


def test_a_host_name_is_preferred_to_an_ip() -> None:
    """The order is that of kube-apiserver's --kubelet-preferred-address-types; the port is that of the node."""
    addresses = ("ExternalIP", "1.2.3.4"), ("InternalIP", "10.0.0.1"), ("Hostname", "host")
    assert kubelet_address(with_node(*addresses).storage, "n") == "host:10250"
    assert kubelet_address(with_node(*addresses[:2]).storage, "n") == "10.0.0.1:10250"
    endpoints = {"kubeletEndpoint": {"Port": 7}}
    assert (
        kubelet_address(with_node(("InternalIP", "fd00::1"), daemonEndpoints=endpoints).storage, "n") == "[fd00::1]:7"
    )


@pytest.mark.parametrize(
    ("node", "message"), [("n", "no preferred addresses found; known addresses: []"), ("x", 'pods "x" not found')]
)
def test_a_node_without_an_address_is_an_error(node: str, message: str) -> None:
    """A node that does not exist or has no address is kube-apiserver's error."""
    with pytest.raises(StatusError, match="^" + message.replace("[", r"\[")):
        kubelet_address(with_node().storage, node)


def test_nothing_listens() -> None:
    """The error is that of Go's dialer."""
    assert str(dial_error("h:1", "Get: ")) == "Get: dial tcp h:1: connect: connection refused"


@pytest.mark.parametrize("subresource", ["exec", "attach", "portforward"])
@pytest.mark.parametrize(
    ("spec", "answer"),
    [
        ({}, (400, "pod p does not have a host assigned")),
        ({"nodeName": "none"}, (404, 'pods "none" not found')),
        ({"nodeName": "n1"}, (500, "error dialing backend: dial tcp 192.0.2.1:10250: connect: connection refused")),
        ({"nodeName": "n2"}, (500, "no preferred addresses found; known addresses: []")),
    ],
)
async def test_a_node_without_a_kubelet_cannot_be_reached(
    spec: dict[str, str], answer: tuple[int, str], subresource: str
) -> None:
    """The error is that of a node that is not assigned, does not exist, does not answer or has no address."""
    assert await ask(await with_pod(**spec), "GET", f"{PODS}/p/{subresource}") == answer
