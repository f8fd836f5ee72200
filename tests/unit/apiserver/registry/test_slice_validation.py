"""Validation of ResourceSlices."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry.slice_validation import validate_slice
from tests.unit.apiserver.registry._refusals import refusals


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({}, []),
        ({"driver": ""}, ["spec.driver: Required value"]),
        (
            {"pool": {"generation": -1}},
            [
                "spec.pool.name: Required value",
                "spec.pool.resourceSliceCount: Invalid value: 0: must be greater than zero",
                "spec.pool.generation: Invalid value: -1: must be greater than or equal to zero",
            ],
        ),
        (
            {"pool": {"name": "a/B", "resourceSliceCount": 1}},
            ['spec.pool.name: Invalid value: "B": a lowercase RFC 1123 subdomain must consist of lower case al'],
        ),
        (
            {"nodeName": None},
            ["spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelec"],
        ),
        (
            {"nodeName": ""},
            [
                'spec.nodeName: Invalid value: "": must be either unset or set to a non-empty string',
                "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelec",
            ],
        ),
        (
            {"allNodes": True},
            ['spec: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSelector`, `all'],
        ),
        (
            {"nodeName": None, "allNodes": False},
            [
                "spec.allNodes: Invalid value: false: must be either unset or set to true",
                "spec: Required value: exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelec",
            ],
        ),
        (
            {"nodeName": None, "nodeSelector": {"nodeSelectorTerms": []}},
            [
                "spec.nodeSelector.nodeSelectorTerms: Required value: must have at least one node selector term",
                "spec.nodeSelector.nodeSelectorTerms: Invalid value: []: must have exactly one node selector term",
            ],
        ),
        (
            {"devices": [], "sharedCounters": []},
            ['spec: Invalid value: "": only one of `sharedCounters` or `devices` is allowed'],
        ),
        ({"devices": [{"name": "d"}, {"name": "d"}]}, ['spec.devices[1]: Duplicate value: "d"']),
        (
            {"sharedCounters": [{"name": "c", "counters": {"a": {"value": "1"}}}, {}]},
            ["spec.sharedCounters[1].name: Required value", "spec.sharedCounters[1].counters: Required value"],
        ),
    ],
)
def test_slices(given: Any, refused: list[str]) -> None:
    """A slice has a driver, a pool and one kind of place."""
    assert (
        refusals(
            validate_slice(
                {"spec": {"driver": "a", "nodeName": "n", "pool": {"name": "p", "resourceSliceCount": 1}, **given}},
                None,
            )
        )
        == refused
    )


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        (
            {
                "attributes": {"a": {"string": "x"}, "b.c/d": {"version": "1.2.3-a.1+b"}},
                "capacity": {"m": {"value": "1"}},
            },
            [],
        ),
        (
            {"name": "D"},
            ['spec.devices[0].name: Invalid value: "D": a lowercase RFC 1123 label must consist of lower case '],
        ),
        (
            {"attributes": {"a b": {"bool": True}}},
            ['spec.devices[0].attributes: Invalid value: "a b": a valid C identifier must start with alphabeti'],
        ),
        (
            {"attributes": {"a": {}}},
            ['spec.devices[0].attributes[a]: Invalid value: "": exactly one value must be specified'],
        ),
        (
            {"attributes": {"a": {"int": 1, "bool": False}}},
            ['spec.devices[0].attributes[a]: Invalid value: {"IntValue":1,"BoolValue":false,"StringValue":null'],
        ),
        (
            {
                "attributes": {
                    "a": {"version": "1.2"},
                    "b": {"string": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
                }
            },
            [
                'spec.devices[0].attributes[a].version: Invalid value: "1.2": must be a string compatible with se',
                "spec.devices[0].attributes[b].string: Too long: may not be more than 64 bytes",
            ],
        ),
        (
            {"taints": [{"key": "k", "value": "a b", "effect": "No"}, {}]},
            [
                'spec.devices[0].taints[0].value: Invalid value: "a b": a valid label must be an empty string or ',
                'spec.devices[0].taints[0].effect: Unsupported value: "No": supported values: "NoExecute", "NoSch',
                'spec.devices[0].taints[1].key: Invalid value: "": name part must be non-empty',
                'spec.devices[0].taints[1].key: Invalid value: "": name part must consist of alphanumeric charact',
                "spec.devices[0].taints[1].effect: Required value",
            ],
        ),
        (
            {"consumesCounters": [{}]},
            [
                "spec.devices[0].consumesCounters[0].counterSet: Required value",
                "spec.devices[0].consumesCounters[0].counters: Required value",
            ],
        ),
        (
            {"allNodes": True},
            ["spec.devices[0]: Invalid value: null: `nodeName`, `nodeSelector` and `allNodes` can only be set "],
        ),
        (
            {"bindingConditions": ["a", "a"], "bindingFailureConditions": ["a"]},
            [
                'spec.devices[0].bindingConditions[1]: Duplicate value: "a"',
                'spec.devices[0].bindingFailureConditions[0]: Invalid value: "a": bindingFailureConditions must n',
            ],
        ),
        (
            {"bindingConditions": ["a"]},
            ["spec.devices[0].bindingFailureConditions: Invalid value: null: bindingFailureConditions are requ"],
        ),
        (
            {"bindingFailureConditions": ["a"]},
            ["spec.devices[0].bindingConditions: Invalid value: null: bindingConditions are required to use bi"],
        ),
    ],
)
def test_devices(given: Any, refused: list[str]) -> None:
    """The attributes, capacities, taints and conditions of a device are valid."""
    assert (
        refusals(
            validate_slice(
                {
                    "spec": {
                        "driver": "a",
                        "nodeName": "n",
                        "pool": {"name": "p", "resourceSliceCount": 1},
                        "devices": [{"name": "d", **given}],
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
        ({"allNodes": True}, []),
        ({"nodeName": "n"}, []),
        ({}, ["spec.devices[0]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` is req"]),
        (
            {"nodeName": ""},
            [
                'spec.devices[0].nodeName: Invalid value: "": must not be empty',
                "spec.devices[0]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` is req",
            ],
        ),
        (
            {"allNodes": False},
            [
                "spec.devices[0].allNodes: Invalid value: false: must be either unset or set to true",
                "spec.devices[0]: Required value: exactly one of `nodeName`, `nodeSelector`, or `allNodes` is req",
            ],
        ),
        (
            {"nodeName": "n", "allNodes": True},
            ['spec.devices[0]: Invalid value: "{`nodeName`, `allNodes`}": exactly one of `nodeName`, `nodeSele'],
        ),
    ],
)
def test_places_of_devices(given: Any, refused: list[str]) -> None:
    """A device has a place of its own exactly if the slice says so."""
    assert (
        refusals(
            validate_slice(
                {
                    "spec": {
                        "driver": "a",
                        "perDeviceNodeSelection": True,
                        "pool": {"name": "p", "resourceSliceCount": 1},
                        "devices": [{"name": "d", **given}],
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
        ({"default": "2", "validValues": ["1", "2"]}, []),
        ({"default": "2", "validRange": {"min": "2", "max": "8", "step": "2"}}, []),
        (
            {"validValues": ["1"]},
            ["spec.devices[0].capacity[m].requestPolicy.default: Required value: required when validValues is "],
        ),
        (
            {"validValues": ["1"], "validRange": {}},
            ["spec.devices[0].capacity[m].requestPolicy: Forbidden: exactly one policy can be specified, canno"],
        ),
        (
            {"default": "3", "validValues": ["2", "1", "11", "11"]},
            [
                'spec.devices[0].capacity[m].requestPolicy.validValues[1]: Invalid value: "1": values must be sor',
                'spec.devices[0].capacity[m].requestPolicy.validValues[2]: Invalid value: "11": option is larger ',
                'spec.devices[0].capacity[m].requestPolicy.validValues[3]: Invalid value: "11": option is larger ',
                'spec.devices[0].capacity[m].requestPolicy.validValues[3]: Duplicate value: "11"',
                'spec.devices[0].capacity[m].requestPolicy.validValues: Invalid value: "3": default value is not ',
            ],
        ),
        (
            {"validRange": {"min": "1"}},
            ["spec.devices[0].capacity[m].requestPolicy.default: Required value: required when validRange is d"],
        ),
        (
            {"default": "1", "validRange": {}},
            ["spec.devices[0].capacity[m].requestPolicy.validRange.min: Required value: required when validRan"],
        ),
        (
            {"default": "1", "validRange": {"min": "2", "max": "11", "step": "2"}},
            [
                'spec.devices[0].capacity[m].requestPolicy.validRange.min: Invalid value: "1": default is less th',
                'spec.devices[0].capacity[m].requestPolicy.validRange.max: Invalid value: "11": max is larger tha',
                'spec.devices[0].capacity[m].requestPolicy.validRange.step: Invalid value: "1": value is not a mu',
                'spec.devices[0].capacity[m].requestPolicy.validRange.step: Invalid value: "11": value is not a m',
            ],
        ),
    ],
)
def test_request_policies(given: Any, refused: list[str]) -> None:
    """The policy of a shared capacity has options or a range that fit it and its default."""
    assert (
        refusals(
            validate_slice(
                {
                    "spec": {
                        "driver": "a",
                        "allNodes": True,
                        "pool": {"name": "p", "resourceSliceCount": 1},
                        "devices": [
                            {
                                "name": "d",
                                "allowMultipleAllocations": True,
                                "capacity": {"m": {"value": "10", "requestPolicy": given}},
                            }
                        ],
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
        ({"driver": "a", "nodeName": "n", "pool": {"name": "p"}}, []),
        (
            {"driver": "b", "pool": {"name": "q"}},
            [
                'spec.pool.name: Invalid value: "p": field is immutable',
                'spec.driver: Invalid value: "a": field is immutable',
                'spec.nodeName: Invalid value: "n": field is immutable',
            ],
        ),
    ],
)
def test_changes(given: Any, refused: list[str]) -> None:
    """The pool, the driver and the node of a slice do not change."""
    assert (
        refusals(
            validate_slice(
                {"spec": {"driver": "a", "nodeName": "n", "pool": {"name": "p", "resourceSliceCount": 1}}},
                {"spec": given},
            )
        )
        == refused
    )
