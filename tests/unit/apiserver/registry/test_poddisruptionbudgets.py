"""PodDisruptionBudgets: validation."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._objects import complaints, create, update


def made(**fields: Any) -> dict[str, Any]:
    """Return an object of the kind."""
    valid: dict[str, Any] = {"spec": {"minAvailable": 1}}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "a"}, **valid, **fields}


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"spec": {"minAvailable": 1, "maxUnavailable": 1}}, "spec: Invalid value: "),
        ({"spec": {"minAvailable": -1}}, "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0"),
        (
            {"spec": {"maxUnavailable": "101%"}},
            'spec.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
        ),
        ({"spec": {"maxUnavailable": "many"}}, 'spec.maxUnavailable: Invalid value: "many": a valid percent string'),
        ({"spec": {"unhealthyPodEvictionPolicy": "No"}}, 'spec.unhealthyPodEvictionPolicy: Unsupported value: "No"'),
    ],
)
def test_invalid_fields_are_refused(fields: dict[str, Any], complaint: str) -> None:
    """The error names the field, in kube-apiserver's words."""
    with pytest.raises(StatusError) as refused:
        create(ResourceRegistry(), made(**fields))
    assert complaints(refused.value)[0].startswith(complaint)


def test_an_update_needs_a_version() -> None:
    """A change of the budget increments the generation."""
    registry = ResourceRegistry()
    created, _ = create(registry, made())
    assert update(registry, made(spec={"minAvailable": 2}), created)["metadata"]["generation"] == 2
    found = registry.find("policy", "v1", "poddisruptionbudgets")
    assert found is not None
    assert not found.allows_unconditional_update
