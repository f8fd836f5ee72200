"""PersistentVolumes and PersistentVolumeClaims: defaults and validation."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver import ResourceRegistry
from pyctrl.apiserver._errors import StatusError
from tests.unit.apiserver._objects import complaints, create, update


def made(**fields: Any) -> dict[str, Any]:
    """Return an object of the kind."""
    valid: dict[str, Any] = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "a"}, **valid, **fields}


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"spec": {"resources": {"requests": {"storage": "1Gi"}}}}, "spec.accessModes: Required value"),
        (
            {"spec": {"accessModes": ["Any"], "resources": {"requests": {"storage": "1Gi"}}}},
            'spec.accessModes: Unsupported value: "Any"',
        ),
        ({"spec": {"accessModes": ["ReadWriteOnce"]}}, "spec.resources[storage]: Required value"),
        (
            {"kind": "PersistentVolume", "spec": {"accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}},
            "spec.capacity: Required value",
        ),
        (
            {"kind": "PersistentVolume", "spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}}},
            "spec: Required value: must specify a volume type",
        ),
    ],
)
def test_invalid_fields_are_refused(fields: dict[str, Any], complaint: str) -> None:
    """The error names the field, in kube-apiserver's words."""
    with pytest.raises(StatusError) as refused:
        create(ResourceRegistry(), made(**fields))
    assert complaints(refused.value)[0].startswith(complaint)


def test_a_claim_is_a_file_system() -> None:
    """The server sets the volume mode and the phase."""
    created, _ = create(ResourceRegistry(), made())
    assert (created["spec"]["volumeMode"], created["status"]["phase"]) == ("Filesystem", "Pending")


def test_the_spec_of_a_claim_is_immutable() -> None:
    """Access modes are immutable."""
    registry = ResourceRegistry()
    created, _ = create(registry, made())
    with pytest.raises(StatusError, match="spec is immutable after creation"):
        update(registry, made(spec={**made()["spec"], "accessModes": ["ReadWriteMany"]}), created)
