"""The objects that a new server has."""

from __future__ import annotations

import msgspec

from pyctrl.apiserver import ApiServer


def _names(server: ApiServer, path: str) -> set[str]:
    answer = server.handle_nowait("GET", path)
    assert isinstance(answer.body, bytes)
    return {each["metadata"]["name"] for each in msgspec.json.decode(answer.body)["items"]}


def test_a_new_server_has_system_objects() -> None:
    """Served group versions have an APIService; the priority classes of system pods exist."""
    server = ApiServer()
    services = _names(server, "/apis/apiregistration.k8s.io/v1/apiservices")
    assert {"v1.", "v1.apps", "v2.autoscaling"} <= services
    assert "v1.apiregistration.k8s.io" not in services
    assert _names(server, "/apis/scheduling.k8s.io/v1/priorityclasses") == {
        "system-node-critical",
        "system-cluster-critical",
    }
