"""Validation of ResourceClaims, their templates and DeviceClasses."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry.device_validation import (
    qualified_device_name,
    validate_claim,
    validate_claim_template,
    validate_device_class,
)
from tests.unit.apiserver.registry._refusals import refusals


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ([{"name": "a", "exactly": {"deviceClassName": "c", "allocationMode": "ExactCount", "count": 1}}], []),
        (
            [{"name": "a"}],
            ["spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is requir"],
        ),
        (
            [{"name": "a", "exactly": {"allocationMode": "All", "count": 1}}],
            [
                "spec.devices.requests[0].exactly.deviceClassName: Required value",
                "spec.devices.requests[0].exactly.count: Invalid value: 1: must not be specified when allocationM",
            ],
        ),
        (
            [
                {
                    "name": "a",
                    "exactly": {
                        "deviceClassName": "c",
                        "allocationMode": "Some",
                        "tolerations": [{"key": "k"}, {"operator": "Exists", "value": "v", "effect": "No"}],
                    },
                }
            ],
            [
                'spec.devices.requests[0].exactly.allocationMode: Unsupported value: "Some": supported values: "A',
                "spec.devices.requests[0].exactly.tolerations[0].operator: Required value",
                'spec.devices.requests[0].exactly.tolerations[1].value: Invalid value: "v": must be empty for ope',
                'spec.devices.requests[0].exactly.tolerations[1].effect: Unsupported value: "No": supported value',
            ],
        ),
        (
            [{"name": "A", "firstAvailable": [{"name": "x", "deviceClassName": "c", "allocationMode": "ExactCount"}]}],
            [
                'spec.devices.requests[0].name: Invalid value: "A": a lowercase RFC 1123 label must consist of lo',
                "spec.devices.requests[0].firstAvailable[0].count: Invalid value: 0: must be greater than zero",
            ],
        ),
        (
            [{"name": "a", "exactly": {}, "firstAvailable": [{"name": "x"}]}],
            ["spec.devices.requests[0]: Invalid value: null: exactly one of `exactly` or `firstAvailable` is r"],
        ),
        (
            [
                {"name": "a", "exactly": {"deviceClassName": "c", "allocationMode": "All"}},
                {"name": "a", "exactly": {"deviceClassName": "c", "allocationMode": "All"}},
            ],
            ['spec.devices.requests[1]: Duplicate value: "a"'],
        ),
    ],
)
def test_requests(given: Any, refused: list[str]) -> None:
    """A request has a name and one form, of a class and of a number of devices."""
    assert refusals(validate_claim({"spec": {"devices": {"requests": given}}}, None)) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"constraints": [{"requests": ["a", "a/x"], "matchAttribute": "d.example.com/x"}]}, []),
        (
            {"constraints": [{"requests": ["b", "a/y", "a/x/z"], "matchAttribute": "x"}]},
            [
                'spec.devices.constraints[0].requests[0]: Invalid value: "b": must be the name of a request in th',
                'spec.devices.constraints[0].requests[1]: Invalid value: "a/y": must be the name of a request in ',
                'spec.devices.constraints[0].requests[2]: Invalid value: "a/x/z": must be the name of a request i',
                'spec.devices.constraints[0].matchAttribute: Invalid value: "x": a fully qualified name must be a',
            ],
        ),
        (
            {"constraints": [{}]},
            ['spec.devices.constraints[0]: Required value: exactly one of "matchAttribute" or "distinctAttribu'],
        ),
        ({"config": [{"requests": ["a"], "opaque": {"driver": "d.example.com", "parameters": {"a": 1}}}]}, []),
        (
            {"config": [{"opaque": {"parameters": [1]}}, {}]},
            [
                "spec.devices.config[0].opaque.driver: Required value",
                'spec.devices.config[0].opaque.parameters: Invalid value: "<value omitted>": must be a valid JSON',
                "spec.devices.config[1].opaque: Required value",
            ],
        ),
    ],
)
def test_references(given: Any, refused: list[str]) -> None:
    """A constraint or a configuration refers to requests of the claim."""
    assert (
        refusals(
            validate_claim(
                {
                    "spec": {
                        "devices": {
                            "requests": [
                                {
                                    "name": "a",
                                    "firstAvailable": [{"name": "x", "deviceClassName": "c", "allocationMode": "All"}],
                                }
                            ],
                            **given,
                        }
                    }
                },
                None,
            )
        )
        == refused
    )


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"metadata": {"labels": {"a": "b"}}, "spec": {}}, []),
        (
            {"metadata": {"name": "a"}, "spec": {"devices": {"requests": [{"name": "a"}]}}},
            [
                "spec.metadata.name: Forbidden: cannot be set",
                "spec.spec.devices.requests[0]: Required value: exactly one of `exactly` or `firstAvailable` is r",
            ],
        ),
    ],
)
def test_templates(given: Any, refused: list[str]) -> None:
    """The metadata of a template has labels and annotations only."""
    assert refusals(validate_claim_template({"spec": given}, None)) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({}, []),
        (
            {"devices": {"requests": []}},
            ['spec: Invalid value: {"Devices":{"Requests":[],"Constraints":null,"Config":null}}: field is immu'],
        ),
    ],
)
def test_specs_do_not_change(given: Any, refused: list[str]) -> None:
    """The spec of a claim or of a template does not change."""
    assert refusals(validate_claim({"spec": given}, {"spec": {}})) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        (
            {
                "selectors": [{"cel": {"expression": "device.attributes['a'].b && device.capacity['a'].c.sign() > 0"}}],
                "config": [{"opaque": {"driver": "d.example.com", "parameters": {"a": 1}}}],
                "extendedResourceName": "example.com/gpu",
            },
            ["spec.selectors[0].cel.expression: Invalid value: \"device.attributes['a'].b && device.capacity['a"],
        ),
        (
            {"selectors": [{"cel": {"expression": "device.size"}}]},
            ['spec.selectors[0].cel.expression: Invalid value: "device.size": compilation failed: ERROR: <inpu'],
        ),
        (
            {"selectors": [{"cel": {"expression": "device.driver"}}, {}]},
            [
                'spec.selectors[0].cel.expression: Invalid value: "device.driver": must evaluate to bool or the u',
                "spec.selectors[1].cel: Required value",
            ],
        ),
        ({"selectors": [{"cel": {"expression": "cel.bind(a, device.attributes['a'], a.b)"}}]}, []),
        (
            {"extendedResourceName": "cpu"},
            ['spec.extendedResourceName: Invalid value: "cpu": must be a valid extended resource name'],
        ),
    ],
)
def test_classes(given: Any, refused: list[str]) -> None:
    """A class has valid selectors and configurations."""
    assert refusals(validate_device_class({"spec": given}, None)) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ("a_B1", []),
        ("example.com/a", []),
        ("", ["a: Invalid value: \"\": a valid C identifier must start with alphabetic character or '_', followed"]),
        (
            "/",
            ['a: Invalid value: "": the domain must not be empty', 'a: Invalid value: "": the name must not be empty'],
        ),
        ("1a", ["a: Invalid value: \"1a\": a valid C identifier must start with alphabetic character or '_', follow"]),
        ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", ["a: Too long: may not be more than 32 bytes"]),
        ("é", ["a: Invalid value: \"é\": a valid C identifier must start with alphabetic character or '_', followe"]),
    ],
)
def test_names_of_attributes(given: Any, refused: list[str]) -> None:
    """The name of an attribute is an identifier, with a domain or without one."""
    assert refusals(qualified_device_name(given, "a")) == refused
