"""Allocation of cluster IPs and node ports."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._objects import complaints, create


def service(**spec: Any) -> dict[str, Any]:
    """Return a Service."""
    made = {"ports": [{"port": 80}], **spec}
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": made}


def _refused(**spec: Any) -> list[str]:
    with pytest.raises(StatusError) as refused:
        create(ResourceRegistry(), service(**spec))
    return complaints(refused.value)


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        (
            {"clusterIP": "10.9.9.9"},
            'spec.clusterIPs: Invalid value: ["10.9.9.9"]: failed to allocate IP 10.9.9.9',
        ),
        (
            {"type": "NodePort", "ports": [{"port": 80, "nodePort": 80}]},
            "spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid p",
        ),
        ({"ipFamilies": ["IPv6"]}, 'spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster'),
        ({"ipFamilyPolicy": "RequireDualStack"}, 'spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this'),
    ],
)
def test_what_is_not_available_is_refused(spec: dict[str, Any], complaint: str) -> None:
    """IPs and ports are allocated from the ranges of the server, which has IPv4 only."""
    assert _refused(**spec)[0].startswith(complaint)


def test_the_families_of_a_service() -> None:
    """Services have IPv4; headless ones without a selector have both families."""
    for spec, families in (({}, ["IPv4"]), ({"clusterIP": "None"}, ["IPv4", "IPv6"])):
        created, _ = create(ResourceRegistry(), service(**spec))
        assert created["spec"]["ipFamilies"] == families
