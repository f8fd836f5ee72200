"""Validation of the specs of PersistentVolumeClaims."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry.volume_claims import validate_claim_spec, validate_claim_template
from tests.unit.apiserver.registry._refusals import refusals


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}, []),
        (
            {},
            [
                "spec.accessModes: Required value: at least 1 access mode is required",
                "spec.resources[storage]: Required value",
            ],
        ),
        (
            {
                "accessModes": ["ReadWriteOncePod", "ReadOnlyMany", "A"],
                "resources": {"requests": {"storage": "0"}},
                "volumeMode": "Tape",
                "storageClassName": "A",
            },
            [
                'spec.accessModes: Unsupported value: "A": supported values: "ReadOnlyMany", "ReadWriteMany", "Re',
                "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes",
                'spec.resources[storage]: Invalid value: "0": must be greater than zero',
                'spec.storageClassName: Invalid value: "A": a lowercase RFC 1123 subdomain must consist of lower ',
                'spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"',
            ],
        ),
        (
            {
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
                "dataSource": {"kind": "A", "name": "b"},
                "dataSourceRef": {"kind": "PersistentVolumeClaim", "name": "b"},
            },
            [
                "spec.dataSource: Invalid value: \"A\": must be 'PersistentVolumeClaim' when referencing the defaul",
                "spec: Invalid value: {}: must match dataSourceRef",
            ],
        ),
    ],
)
def test_claims(given: Any, refused: list[str]) -> None:
    """A claim has access modes and a request for storage."""
    assert refusals(validate_claim_spec(given, "spec")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"labels": {"a": "b"}}, []),
        (
            {"name": "a", "uid": "b", "labels": {"a b": "c"}},
            [
                "t.metadata.labels: Invalid value: \"a b\": name part must consist of alphanumeric characters, '-',",
                "t.metadata.name: Forbidden: cannot be set",
                "t.metadata.uID: Forbidden: cannot be set",
            ],
        ),
    ],
)
def test_templates(given: Any, refused: list[str]) -> None:
    """The metadata of a template has labels and annotations only."""
    assert (
        refusals(
            validate_claim_template(
                {
                    "metadata": given,
                    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
                },
                "t",
            )
        )
        == refused
    )
