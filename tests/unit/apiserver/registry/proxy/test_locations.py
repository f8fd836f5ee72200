"""Locations of pods and nodes; the errors of names and addresses were observed on kube-apiserver 1.36."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from pyctrl.apiserver import ApiServer

PODS = "/api/v1/namespaces/default/pods"


def ask(pod_ip: str, path: str, ports: list[dict[str, Any]]) -> tuple[int, str]:
    """Send a request to a pod on a node without a kubelet; return the answer."""
    server = ApiServer()
    container = {"name": "c", "image": "i", "ports": ports}
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [container], "nodeName": "n"}}
    server.handle_nowait("POST", PODS, body=msgspec.json.encode(pod))
    headers = {"content-type": "application/merge-patch+json"}
    status = msgspec.json.encode({"status": {"podIP": pod_ip}})
    server.handle_nowait("PATCH", f"{PODS}/p/status", headers=headers, body=status)
    return answered(server, f"{PODS}/{path}")


def answered(server: ApiServer, path: str) -> tuple[int, str]:
    """Return the code and the message of a response that nothing has to be waited for."""
    pending = server.handle("GET", path, (), {}, b"")
    try:
        pending.send(None)
    except StopIteration as done:
        return done.value.status, msgspec.json.decode(done.value.body)["message"]
    raise AssertionError("the request waits")


@pytest.mark.parametrize(
    ("pod_ip", "path", "ports", "address"),
    [
        ("192.0.2.7", "p/proxy/", [], "192.0.2.7:80"),
        ("192.0.2.7", "https:p:/proxy/", [], "192.0.2.7:443"),
        ("192.0.2.7", "p/proxy/", [{"containerPort": 8081}], "192.0.2.7:8081"),
        ("192.0.2.7", "http:p:99/proxy/", [{"containerPort": 8081}], "192.0.2.7:99"),
        ("fd00::7", "p:99/proxy/", [], "[fd00::7]:99"),
    ],
)
def test_the_port_of_a_pod(pod_ip: str, path: str, ports: list[dict[str, Any]], address: str) -> None:
    """The port is that of the URL, else the first of the pod, else that of the scheme."""
    refused = f"error trying to reach service: dial tcp {address}: connect: connection refused"
    assert ask(pod_ip, path, ports) == (503, refused)


@pytest.mark.parametrize("pod_ip", ["", "127.0.0.1", "169.254.1.1"])
def test_an_address_that_is_not_of_the_cluster(pod_ip: str) -> None:
    """A pod without an address, and local addresses, are refused."""
    assert ask(pod_ip, "p/proxy/", []) == (400, "address not allowed")


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("a:b:c:d", (400, 'invalid node request "a:b:c:d"')),
        ("none", (404, 'nodes "none" not found')),
        ("local", (400, "address not allowed")),
        ("n", (503, "error trying to reach service: dial tcp 192.0.2.1:10250: connect: connection refused")),
        ("n:99", (503, "error trying to reach service: dial tcp 192.0.2.1:99: connect: connection refused")),
    ],
)
def test_nodes(name: str, answer: tuple[int, str]) -> None:
    """The port of a node is that of its kubelet or of the URL."""
    server = ApiServer()
    for node, address in (("local", "127.0.0.1"), ("n", "192.0.2.1")):
        status = {"addresses": [{"type": "InternalIP", "address": address}]}
        body = msgspec.json.encode({"metadata": {"name": node}, "status": status})
        assert server.handle_nowait("POST", "/api/v1/nodes", body=body).status == 201
    assert answered(server, f"/api/v1/nodes/{name}/proxy/") == answer
