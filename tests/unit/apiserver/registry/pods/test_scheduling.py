"""Validation of affinity, tolerations, spread and gates."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry._pods.scheduling import (
    validate_affinity,
    validate_gates,
    validate_node_selector,
    validate_spread,
    validate_tolerations,
)
from tests.unit.apiserver.registry._refusals import refusals


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"operator": "Exists"}, []),
        ({"key": "a", "value": "b", "effect": "NoExecute", "tolerationSeconds": 3}, []),
        ({}, ['t[0].operator: Invalid value: "": operator must be Exists when `key` is empty, which means "matc']),
        (
            {"key": "a", "operator": "Exists", "value": "b"},
            ["t[0].operator: Invalid value: \"b\": value must be empty when `operator` is 'Exists'"],
        ),
        (
            {"key": "a", "operator": "In"},
            ['t[0].operator: Unsupported value: "In": supported values: "Equal", "Exists"'],
        ),
        (
            {"key": "a", "effect": "No"},
            ['t[0].effect: Unsupported value: "No": supported values: "NoSchedule", "PreferNoSchedule", "NoExe'],
        ),
        (
            {"key": "a", "effect": "NoSchedule", "tolerationSeconds": 3},
            ["t[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is"],
        ),
    ],
)
def test_tolerations(given: Any, refused: list[str]) -> None:
    """A toleration has a key or tolerates all, and seconds only with NoExecute."""
    assert refusals(validate_tolerations([given], "t")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"schedulingGates": [{"name": "a.b/c"}]}, []),
        ({"schedulingGates": [{"name": "a"}, {"name": "a"}]}, ['spec.schedulingGates[1]: Duplicate value: "a"']),
        (
            {"readinessGates": [{"conditionType": "a b"}]},
            ['spec.readinessGates[0].conditionType: Invalid value: "a b": name part must consist of alphanumer'],
        ),
    ],
)
def test_gates(given: Any, refused: list[str]) -> None:
    """Gates have qualified names, and scheduling gates different ones."""
    assert refusals(validate_gates(given, "spec")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        (None, []),
        (
            {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {}}},
            ["a.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value:"],
        ),
        (
            {
                "nodeAffinity": {
                    "preferredDuringSchedulingIgnoredDuringExecution": [
                        {
                            "weight": 0,
                            "preference": {
                                "matchExpressions": [
                                    {"key": "a", "operator": "Exists", "values": ["b"]},
                                    {"key": "a", "operator": "Is"},
                                    {"key": "a", "operator": "Gt"},
                                ]
                            },
                        }
                    ]
                }
            },
            [
                "a.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must",
                "a.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0]",
                "a.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[1]",
                "a.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[2]",
            ],
        ),
        (
            {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{}]}},
            [
                "a.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can",
                'a.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": ',
                'a.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": ',
            ],
        ),
        (
            {
                "podAntiAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "a", "matchLabelKeys": ["b"]}]
                }
            },
            ["a.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].matchLabelKeys: Forbidden: m"],
        ),
    ],
)
def test_affinity(given: Any, refused: list[str]) -> None:
    """Node terms have valid operators, pod terms a topology key, and weights are from 1 to 100."""
    assert refusals(validate_affinity(given, "a")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}]}, []),
        ({}, ["s.nodeSelectorTerms: Required value: must have at least one node selector term"]),
        (
            {"nodeSelectorTerms": [{"matchFields": [{"key": "a", "operator": "In", "values": []}]}]},
            [
                "s.nodeSelectorTerms[0].matchFields[0].values: Required value: must be only one value when `opera",
                's.nodeSelectorTerms[0].matchFields[0].key: Invalid value: "a": not a valid field selector key',
            ],
        ),
    ],
)
def test_node_selectors(given: Any, refused: list[str]) -> None:
    """A node selector has terms, and selects fields by the name of a node only."""
    assert refusals(validate_node_selector(given, "s")) == refused


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ([{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 1}], []),
        (
            [{}],
            [
                "s[0].maxSkew: Invalid value: 0: must be greater than zero",
                "s[0].topologyKey: Required value: can not be empty",
                's[0].whenUnsatisfiable: Unsupported value: "": supported values: "DoNotSchedule", "ScheduleAnywa',
            ],
        ),
        (
            [{"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "ScheduleAnyway", "minDomains": 0}],
            [
                "s[0].minDomains: Invalid value: 0: must be greater than zero",
                "s[0].minDomains: Invalid value: 0: can only use minDomains if whenUnsatisfiable=DoNotSchedule, n",
            ],
        ),
        (
            [
                {"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"},
                {"maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule"},
            ],
            ['s[0].{topologyKey, whenUnsatisfiable}: Duplicate value: "{a, DoNotSchedule}"'],
        ),
    ],
)
def test_spread(given: Any, refused: list[str]) -> None:
    """A spread constraint has a positive skew, a topology key and an action, once."""
    assert refusals(validate_spread(given, "s")) == refused
