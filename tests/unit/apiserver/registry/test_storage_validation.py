"""Validation of the kinds of storage.k8s.io."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry.storage_validation import (
    validate_attachment,
    validate_attributes_class,
    validate_capacity,
    validate_csi_driver,
    validate_csi_node,
    validate_storage_class,
)
from tests.unit.apiserver.registry._refusals import refusals


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({}, []),
        ({"provisioner": ""}, ["provisioner: Required value"]),
        (
            {"reclaimPolicy": "Recycle"},
            ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"'],
        ),
        (
            {"volumeBindingMode": None},
            ['volumeBindingMode: Unsupported value: null: supported values: "Immediate", "WaitForFirstConsumer'],
        ),
        ({"parameters": {"": "a"}}, ['parameters: Invalid value: "": field can not be empty.']),
        (
            {
                "allowedTopologies": [
                    {"matchLabelExpressions": [{"key": "a", "values": ["b", "b"]}, {"key": "a", "values": []}]}
                ]
            },
            [
                'allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "b"',
                "allowedTopologies[0].matchLabelExpressions[1].values: Required value",
                'allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "a"',
            ],
        ),
    ],
)
def test_storage_classes(given: Any, refused: list[str]) -> None:
    """A storage class has a provisioner, a policy and a binding mode."""
    assert (
        refusals(validate_storage_class({"volumeBindingMode": "Immediate", "provisioner": "a/b", **given}, None))
        == refused
    )


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        (
            {"volumeBindingMode": "Immediate", "provisioner": "a/c", "reclaimPolicy": "Retain"},
            [
                'provisioner: Invalid value: "a/c": field is immutable',
                'reclaimPolicy: Invalid value: "Retain": field is immutable',
            ],
        ),
    ],
)
def test_changes_of_storage_classes(given: Any, refused: list[str]) -> None:
    """A storage class does not change."""
    assert (
        refusals(
            validate_storage_class(
                given, {"volumeBindingMode": "Immediate", "provisioner": "a/b", "reclaimPolicy": "Delete"}
            )
        )
        == refused
    )


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"driverName": "a", "parameters": {"b": "c"}}, []),
        (
            {"driverName": "", "parameters": {}},
            [
                "driverName: Forbidden: updates to driverName are forbidden.",
                "parameters: Forbidden: updates to parameters are forbidden.",
                "driverName: Required value",
                "parameters: Required value: must contain at least one key/value pair",
            ],
        ),
    ],
)
def test_attributes_classes(given: Any, refused: list[str]) -> None:
    """A volume attributes class has parameters, and does not change."""
    assert refusals(validate_attributes_class(given, {"driverName": "a", "parameters": {"b": "c"}})) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        (
            {"attacher": "a", "source": {"persistentVolumeName": "v"}},
            ['spec.nodeName: Invalid value: "": a lowercase RFC 1123 subdomain must consist of lower case alph'],
        ),
        (
            {},
            [
                "spec.attacher: Required value",
                "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeNa",
                'spec.nodeName: Invalid value: "": a lowercase RFC 1123 subdomain must consist of lower case alph',
            ],
        ),
        (
            {"attacher": "a", "source": {"persistentVolumeName": ""}},
            [
                "spec.source.persistentVolumeName: Required value: must specify non empty persistentVolumeName",
                'spec.nodeName: Invalid value: "": a lowercase RFC 1123 subdomain must consist of lower case alph',
                'spec.source.persistentVolumeName: Invalid value: "": a lowercase RFC 1123 subdomain must consist',
            ],
        ),
        (
            {"attacher": "a", "source": {"inlineVolumeSpec": {}}},
            [
                "spec.source.inlineVolumeSpec.csi: Required value: has to be specified in the context of inline v",
                "spec.source.inlineVolumeSpec.accessModes: Required value",
                "spec.source.inlineVolumeSpec.persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the",
                "spec.source.inlineVolumeSpec: Required value: must specify a volume type",
                'spec.nodeName: Invalid value: "": a lowercase RFC 1123 subdomain must consist of lower case alph',
            ],
        ),
    ],
)
def test_attachments(given: Any, refused: list[str]) -> None:
    """An attachment has one source."""
    assert refusals(validate_attachment({"spec": given}, None)) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"drivers": [{"name": "a", "nodeID": "b", "topologyKeys": ["c"]}]}, []),
        (
            {
                "drivers": [
                    {"name": "a", "nodeID": ""},
                    {"name": "a", "nodeID": "b", "topologyKeys": ["c", "c"], "allocatable": {"count": -1}},
                ]
            },
            [
                "spec.drivers[0].nodeID: Required value",
                "spec.drivers[1].allocatable.count: Invalid value: -1: must be greater than or equal to 0",
                'spec.drivers[1].name: Duplicate value: "a"',
                'spec.drivers[1]: Duplicate value: "c"',
            ],
        ),
    ],
)
def test_nodes(given: Any, refused: list[str]) -> None:
    """The drivers of a node have names and different ones."""
    assert refusals(validate_csi_node({"spec": given}, None)) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({}, []),
        ({"attachRequired": None}, ["spec.attachedRequired: Required value"]),
        (
            {"fsGroupPolicy": "A"},
            ['spec.fsGroupPolicy: Unsupported value: "A": supported values: "File", "None", "ReadWriteOnceWith'],
        ),
        (
            {"volumeLifecycleModes": ["A"]},
            ['spec.volumeLifecycleModes: Unsupported value: "A": supported values: "Persistent", "Ephemeral"'],
        ),
        (
            {"nodeAllocatableUpdatePeriodSeconds": 9},
            ["spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 s"],
        ),
        (
            {"tokenRequests": [{"audience": "a", "expirationSeconds": 1}, {"audience": "a"}]},
            [
                "spec.tokenRequests[0].expirationSeconds: Invalid value: 1: may not specify a duration less than ",
                'spec.tokenRequests[1].audience: Duplicate value: "a"',
            ],
        ),
        (
            {"serviceAccountTokenInSecrets": True},
            ["spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but "],
        ),
    ],
)
def test_drivers(given: Any, refused: list[str]) -> None:
    """A driver has known policies and no short updates."""
    assert (
        refusals(
            validate_csi_driver(
                {"spec": {"attachRequired": True, "podInfoOnMount": False, "storageCapacity": False, **given}}, None
            )
        )
        == refused
    )


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"storageClassName": "a", "capacity": "1"}, []),
        (
            {"storageClassName": "", "capacity": "-1"},
            [
                'storageClassName: Invalid value: "": a lowercase RFC 1123 subdomain must consist of lower case a',
                'capacity: Invalid value: "-1": must be greater than or equal to 0',
            ],
        ),
    ],
)
def test_capacities(given: Any, refused: list[str]) -> None:
    """A capacity is not negative."""
    assert refusals(validate_capacity(given, None)) == refused
