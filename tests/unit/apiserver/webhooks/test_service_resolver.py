"""Resolution of webhooks' services to endpoints."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import WebhookUnreachable
from pyctrl.apiserver._webhooks.caller import ServiceReference
from pyctrl.apiserver._webhooks.service_resolver import EndpointServiceResolver
from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver.registry.pods._kubelet import RefusingKubelet

SERVICES = "/api/v1/namespaces/default/services"
SLICES = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"


def _resolve(ask: Asker, port: int = 443) -> tuple[str, int]:
    return EndpointServiceResolver(ask.server.storage)(ServiceReference("default", "hook", port))


def _service(ask: Asker, **spec: Any) -> None:
    code, made = ask("POST", SERVICES, {"metadata": {"name": "hook"}, "spec": spec})
    assert code == 201, made


def test_a_service_is_its_first_ready_endpoint(ask: Asker) -> None:
    """The port is matched by name; endpoints that are not ready are skipped."""
    _service(ask, ports=[{"name": "https", "port": 443}, {"name": "other", "port": 80}])
    with pytest.raises(WebhookUnreachable, match='no endpoints available for service "hook"'):
        _resolve(ask)
    endpoints = [
        {"addresses": ["10.0.0.1"], "conditions": {"ready": False}},
        {"addresses": ["10.0.0.2"], "conditions": {"ready": True}},
    ]
    body = {
        "metadata": {"name": "hook-x", "labels": {"kubernetes.io/service-name": "hook"}},
        "addressType": "IPv4",
        "ports": [{"name": "other", "port": 8080}, {"name": "https", "port": 9443}],
        "endpoints": endpoints,
    }
    code, made = ask("POST", SLICES, body)
    assert code == 201, made
    assert _resolve(ask) == ("10.0.0.2", 9443)
    with pytest.raises(WebhookUnreachable, match='no service port 81 found for service "hook"'):
        _resolve(ask, 81)


def test_an_external_name_is_used_as_it_is(ask: Asker) -> None:
    """A service that does not exist is an error."""
    with pytest.raises(WebhookUnreachable, match='service "hook" not found'):
        _resolve(ask)
    _service(ask, type="ExternalName", externalName="hooks.example.com")
    assert _resolve(ask, 8443) == ("hooks.example.com", 8443)


class Listening(RefusingKubelet):
    """A kubelet of one pod, of which one port is at this machine."""

    def find_address(self, namespace: str, pod: str, port: int) -> tuple[str, int] | None:
        return ("localhost", 12345) if (namespace, pod, port) == ("default", "hook-a", 9443) else None


def test_a_simulated_pod_is_at_this_machine_or_refuses_connections(ask: Asker) -> None:
    """The server connects to the address in the pod's script, never to that of the pod; other pods are as they are."""
    _service(ask, ports=[{"name": "https", "port": 443}, {"name": "other", "port": 80}])
    body = {
        "metadata": {"name": "hook-x", "labels": {"kubernetes.io/service-name": "hook"}},
        "addressType": "IPv4",
        "ports": [{"name": "other", "port": 8080}, {"name": "https", "port": 9443}],
        "endpoints": [
            {
                "addresses": ["10.0.0.1"],
                "nodeName": "node-1",
                "targetRef": {"kind": "Pod", "namespace": "default", "name": "hook-a"},
            },
        ],
    }
    code, made = ask("POST", SLICES, body)
    assert code == 201, made
    resolve = EndpointServiceResolver(ask.server.storage, {"node-1": Listening("")})
    assert resolve(ServiceReference("default", "hook", 443)) == ("localhost", 12345)
    with pytest.raises(WebhookUnreachable, match="^dial tcp 10.0.0.1:8080: connect: connection refused$"):
        resolve(ServiceReference("default", "hook", 80))
    elsewhere = EndpointServiceResolver(ask.server.storage, {"node-2": Listening("")})
    assert elsewhere(ServiceReference("default", "hook", 80)) == ("10.0.0.1", 8080)
