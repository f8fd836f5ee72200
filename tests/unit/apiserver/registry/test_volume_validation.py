"""Validation of the specs of PersistentVolumes."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry.volume_validation import validate_inline_volume, validate_volume_spec
from tests.unit.apiserver.registry._refusals import refusals


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/a"}}, []),
        (
            {},
            [
                "spec.accessModes: Required value",
                "spec.capacity: Required value",
                'spec.capacity: Unsupported value: null: supported values: "storage"',
                "spec: Required value: must specify a volume type",
            ],
        ),
        (
            {
                "accessModes": ["A"],
                "capacity": {"storage": "-1", "cpu": "1"},
                "hostPath": {"path": "/"},
                "nfs": {},
                "persistentVolumeReclaimPolicy": "Recycle",
            },
            [
                'spec.accessModes: Unsupported value: "A": supported values: "ReadOnlyMany", "ReadWriteMany", "Re',
                'spec.capacity: Unsupported value: {"cpu":"1","storage":"-1"}: supported values: "storage"',
                "spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity",
                'spec.capacity[storage]: Invalid value: "-1": must be greater than zero',
                "spec.nfs: Forbidden: may not specify more than 1 volume type",
                "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
            ],
        ),
        (
            {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "local": {"path": "/a"}},
            ["spec.nodeAffinity: Required value: Local volume requires node affinity"],
        ),
        (
            {
                "accessModes": ["ReadWriteOnce"],
                "capacity": {"storage": "1Gi"},
                "csi": {"driver": "a", "nodeStageSecretRef": {}, "nodePublishSecretRef": {"name": "a"}},
                "nodeAffinity": {},
            },
            [
                "spec.nodeAffinity.required: Required value: must specify required node constraints",
                "spec.csi.volumeHandle: Required value",
                "spec.csi.nodePublishSecretRef.namespace: Required value",
            ],
        ),
        (
            {
                "accessModes": ["ReadWriteOnce"],
                "capacity": {"storage": "1Gi"},
                "glusterfs": {"endpoints": "a", "path": "b", "endpointsNamespace": ""},
                "volumeAttributesClassName": "",
            },
            [
                'spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set, it must b',
                "spec.volumeAttributesClassName: Required value: an empty string is disallowed",
                "spec.csi: Required value: has to be specified when using volumeAttributesClassName",
            ],
        ),
    ],
)
def test_specs(given: Any, refused: list[str]) -> None:
    """A volume has access modes, a capacity and one source."""
    assert refusals(validate_volume_spec(given, "spec", "v")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        (
            {
                "accessModes": ["ReadWriteOnce"],
                "csi": {"driver": "a", "volumeHandle": "b"},
                "persistentVolumeReclaimPolicy": "Retain",
            },
            [],
        ),
        (
            {"claimRef": {}, "capacity": {"a": "1"}, "storageClassName": "a", "volumeMode": "Block"},
            [
                "s.claimRef: Forbidden: may not be specified in the context of inline volumes",
                "s.capacity: Forbidden: may not be specified in the context of inline volumes",
                "s.csi: Required value: has to be specified in the context of inline volumes",
                "s.accessModes: Required value",
                "s.persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes",
                "s: Required value: must specify a volume type",
                "s.storageClassName: Forbidden: may not be specified in the context of inline volumes",
                "s.volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context of inli",
            ],
        ),
    ],
)
def test_inline_volumes(given: Any, refused: list[str]) -> None:
    """The volume of an attachment is a CSI volume without a claim."""
    assert refusals(validate_inline_volume(given, "s")) == refused
