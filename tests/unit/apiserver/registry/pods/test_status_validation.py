"""Validation of the status of pods."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry._pods.status_validation import validate_pod_status

OLD = {"qosClass": "BestEffort", "podIPs": [{"ip": "odd"}]}


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"conditions": [{"type": "Ready"}, {"type": "example.com/Mine"}]}, []),
        ({"conditions": [{"type": "not a name", "observedGeneration": -1}]}, ["conditions[0].observedGeneration"]),
        ({"nominatedNodeName": "Bad_"}, ["nominatedNodeName"]),
        ({"observedGeneration": -1}, ["observedGeneration"]),
        ({"qosClass": "Guaranteed"}, ["qosClass"]),
        ({"resourceClaimStatuses": [{"name": "gpu"}, {"name": "gpu"}]}, ["resourceClaimStatuses[1].name"]),
        ({"resourceClaimStatuses": [{"name": "other"}]}, ["resourceClaimStatuses[0].name"]),
        ({"podIPs": [{"ip": "odd"}]}, []),
        ({"podIPs": [{"ip": "new"}]}, ["podIPs[0]"]),
        ({"podIPs": [{"ip": "10.0.0.1"}, {"ip": "fd00::1"}]}, []),
        ({"podIPs": [{"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}]}, ["podIPs"]),
        ({"hostIP": "10.0.0.1", "hostIPs": [{"ip": "10.0.0.2"}]}, ["hostIPs[0].ip"]),
    ],
)
def test_a_status_of_a_pod_is_consistent(status: dict[str, Any], expected: list[str]) -> None:
    """A status with a wrong condition, node, claim or address is refused; what was stored already is not."""
    spec = {"resourceClaims": [{"name": "gpu"}]}
    new, old = {"spec": spec, "status": {"qosClass": "BestEffort", **status}}, {"spec": spec, "status": OLD}
    found = [each.field for each in validate_pod_status(new, old)]
    assert found[: len(expected)] == [f"status.{each}" for each in expected]
    assert bool(found) == bool(expected)


def test_a_bound_pod_is_not_nominated() -> None:
    """A pod that has a node cannot be nominated for another one."""
    new = {"spec": {"nodeName": "a"}, "status": {"nominatedNodeName": "b"}}
    assert [each.field for each in validate_pod_status(new, {"spec": {}})] == ["status.nominatedNodeName"]
