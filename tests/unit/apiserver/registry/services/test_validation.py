"""Validation of services."""

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
        ({"ports": []}, "spec.ports: Required value"),
        ({"ports": [{"port": 0}]}, "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535"),
        ({"ports": [{"port": 1}, {"name": "b", "port": 2}]}, "spec.ports[0].name: Required value"),
        ({"ports": [{"name": "a", "port": 1}, {"name": "a", "port": 2}]}, 'spec.ports[1].name: Duplicate value: "a"'),
        ({"type": "Any"}, 'spec.type: Unsupported value: "Any"'),
        ({"type": "ExternalName"}, "spec.externalName: Required value"),
        ({"type": "NodePort", "clusterIP": "None"}, 'spec.clusterIPs[0]: Invalid value: "None": may not be set to'),
        ({"sessionAffinity": "Always"}, 'spec.sessionAffinity: Unsupported value: "Always"'),
        ({"loadBalancerClass": "a/b"}, "spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadB"),
        ({"externalTrafficPolicy": "Local"}, 'spec.externalTrafficPolicy: Invalid value: "Local": may only be set for'),
    ],
)
def test_invalid_services_are_refused(spec: dict[str, Any], complaint: str) -> None:
    """The error names the field, in kube-apiserver's words."""
    assert _refused(**spec)[0].startswith(complaint)


def test_ignored_fields_have_warnings() -> None:
    """Deprecated and ignored fields are accepted with a warning."""
    _, warnings = create(ResourceRegistry(), service(externalName="x.example", trafficDistribution="PreferClose"))
    assert warnings == [
        'spec.externalName is ignored when spec.type is not "ExternalName"',
        'spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"',
    ]
