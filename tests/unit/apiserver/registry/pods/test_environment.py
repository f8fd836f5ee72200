"""Validation of environment variables and references to fields of the pod."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry._pods.environment import validate_environment, validate_field_reference
from tests.unit.apiserver.registry._refusals import refusals


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"env": [{"name": "A.b-c", "value": "x"}]}, []),
        ({"env": [{"value": "x"}]}, ["c.env[0].name: Required value"]),
        (
            {"env": [{"name": "a=b"}]},
            ['c.env[0].name: Invalid value: "a=b": a valid environment variable name must consist only of prin'],
        ),
        (
            {"envFrom": [{"prefix": "ü", "secretRef": {"name": "s"}}]},
            ['c.envFrom[0].prefix: Invalid value: "ü": a valid environment variable name must consist only of '],
        ),
    ],
)
def test_names_of_variables(given: Any, refused: list[str]) -> None:
    """The name of a variable is required and has printable characters except =."""
    assert refusals(validate_environment(given, "c")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]}, []),
        (
            {"env": [{"name": "A", "valueFrom": {}}]},
            ['c.env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, `resourceFieldRef`, `con'],
        ),
        (
            {
                "env": [
                    {
                        "name": "A",
                        "valueFrom": {
                            "secretKeyRef": {"name": "s", "key": "k"},
                            "configMapKeyRef": {"name": "s", "key": "k"},
                        },
                    }
                ]
            },
            ['c.env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time'],
        ),
        (
            {"env": [{"name": "A", "value": "x", "valueFrom": {"configMapKeyRef": {"name": "s", "key": "k"}}}]},
            ['c.env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'],
        ),
        ({"envFrom": [{}]}, ['c.envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`']),
    ],
)
def test_a_variable_has_one_source(given: Any, refused: list[str]) -> None:
    """A variable from a source has one source, and no value."""
    assert refusals(validate_environment(given, "c")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        (
            {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {"name": "S", "key": ""}}}]},
            [
                'c.env[0].valueFrom.secretKeyRef.name: Invalid value: "S": a lowercase RFC 1123 subdomain must co',
                "c.env[0].valueFrom.secretKeyRef.key: Required value",
            ],
        ),
        (
            {"env": [{"name": "A", "valueFrom": {"fileKeyRef": {"path": "../x"}}}]},
            [
                "c.env[0].valueFrom.fileKeyRef.key: Required value",
                "c.env[0].valueFrom.fileKeyRef.volumeName: Required value",
                "c.env[0].valueFrom.fileKeyRef.path: Invalid value: \"../x\": must not contain '..'",
            ],
        ),
        (
            {"env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.gpu"}}}]},
            ['c.env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.gpu": supported values:'],
        ),
        (
            {"env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "2"}}}]},
            ['c.env[0].valueFrom.resourceFieldRef.divisor: Invalid value: "limits.cpu": only divisor\'s values '],
        ),
    ],
)
def test_references_of_variables(given: Any, refused: list[str]) -> None:
    """A reference names an object and a valid key of it."""
    assert refusals(validate_environment(given, "c")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"apiVersion": "v1", "fieldPath": "metadata.name"}, []),
        ({"apiVersion": "v1", "fieldPath": "metadata.labels['a']"}, []),
        ({"fieldPath": "metadata.name"}, ["f.apiVersion: Required value"]),
        ({"apiVersion": "v1"}, ["f.fieldPath: Required value"]),
        (
            {"apiVersion": "v2", "fieldPath": "metadata.name"},
            ['f.fieldPath: Invalid value: "metadata.name": error converting fieldPath: unsupported pod version'],
        ),
        (
            {"apiVersion": "v1", "fieldPath": "spec.volumes"},
            ['f.fieldPath: Invalid value: "spec.volumes": error converting fieldPath: field label not supporte'],
        ),
        (
            {"apiVersion": "v1", "fieldPath": "spec.nodeName"},
            ['f.fieldPath: Unsupported value: "spec.nodeName": supported values: "metadata.name"'],
        ),
    ],
)
def test_references_to_fields(given: Any, refused: list[str]) -> None:
    """A field reference names a field that the kind of reference supports, in version v1."""
    assert refusals(validate_field_reference(given, ["metadata.name"], "f")) == refused
