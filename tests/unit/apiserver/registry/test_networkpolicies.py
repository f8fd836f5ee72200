"""NetworkPolicies: defaults and validation."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._objects import complaints, create, update


def made(**fields: Any) -> dict[str, Any]:
    """Return an object of the kind."""
    valid: dict[str, Any] = {"spec": {"podSelector": {}}}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {"name": "a"}, **valid, **fields}


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"spec": {"podSelector": {}, "policyTypes": ["Both"]}}, 'spec.policyTypes[0]: Unsupported value: "Both"'),
        (
            {"spec": {"podSelector": {}, "ingress": [{"from": [{}]}]}},
            "spec.ingress[0].from[0]: Required value: must specify a peer",
        ),
        (
            {"spec": {"podSelector": {}, "egress": [{"ports": [{"endPort": 5}]}]}},
            "spec.egress[0].ports[0].endPort: Invalid value: 5: may not be specified when `port` is not",
        ),
        (
            {
                "spec": {
                    "podSelector": {},
                    "egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["11.0.0.0/9"]}}]}],
                }
            },
            'spec.egress[0].to[0].ipBlock.except[0]: Invalid value: "11.0.0.0/9": must be a strict subset',
        ),
    ],
)
def test_invalid_fields_are_refused(fields: dict[str, Any], complaint: str) -> None:
    """The error names the field, in kube-apiserver's words."""
    with pytest.raises(StatusError) as refused:
        create(ResourceRegistry(), made(**fields))
    assert complaints(refused.value)[0].startswith(complaint)


@pytest.mark.parametrize(("egress", "types"), [([], ["Ingress"]), ([{}], ["Ingress", "Egress"])])
def test_policy_types_follow_from_the_rules(egress: list[Any], types: list[str]) -> None:
    """Egress is a type by default only with egress rules; an update increments the generation."""
    registry = ResourceRegistry()
    created, _ = create(registry, made(spec={"podSelector": {}, "egress": egress}))
    assert created["spec"]["policyTypes"] == types
    changed = made(spec={"podSelector": {"matchLabels": {"a": "b"}}})
    assert update(registry, changed, created)["metadata"]["generation"] == 2
