"""Validation of FlowSchemas and PriorityLevelConfigurations."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry.flow_validation import validate_flow_schema, validate_priority_level
from tests.unit.apiserver.registry._refusals import refusals


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({}, []),
        ({"matchingPrecedence": 0}, ["spec.matchingPrecedence: Invalid value: 0: must be a positive value"]),
        (
            {"matchingPrecedence": 1},
            ["spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrece"],
        ),
        (
            {"matchingPrecedence": 10001},
            ["spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000"],
        ),
        (
            {"priorityLevelConfiguration": {}},
            ["spec.priorityLevelConfiguration.name: Required value: must reference a priority level"],
        ),
        (
            {"distinguisherMethod": {"type": "A"}},
            ['spec.distinguisherMethod.type: Unsupported value: {"Type":"A"}: supported values: "ByNamespace",'],
        ),
        (
            {"rules": [{}]},
            [
                "spec.rules[0].subjects: Required value: subjects must contain at least one value",
                "spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-",
            ],
        ),
        (
            {
                "rules": [
                    {
                        "subjects": [
                            {"kind": "User"},
                            {"kind": "A"},
                            {"kind": "ServiceAccount", "serviceAccount": {"name": "*"}},
                            {"kind": "Group", "group": {"name": "a"}, "user": {"name": "b"}},
                        ],
                        "resourceRules": [
                            {"verbs": ["*", "get"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["A"]}
                        ],
                    }
                ]
            },
            [
                "spec.rules[0].subjects[0].user: Required value: user is required when subject kind is 'User'",
                'spec.rules[0].subjects[1].kind: Unsupported value: "A": supported values: "Group", "ServiceAccou',
                "spec.rules[0].subjects[2].serviceAccount.namespace: Required value: must specify namespace for s",
                "spec.rules[0].subjects[3].user: Forbidden: user is forbidden when subject kind is not 'User'",
                'spec.rules[0].resourceRules[0].verbs: Invalid value: ["*","get"]: if \'*\' is present, must not sp',
                'spec.rules[0].resourceRules[0].namespaces[0]: Invalid value: "A": each member of this list must ',
            ],
        ),
        (
            {
                "rules": [
                    {
                        "subjects": [{"kind": "User", "user": {"name": "*"}}],
                        "nonResourceRules": [
                            {"verbs": ["a"], "nonResourceURLs": ["a", "", "/a b", "//", "/a*b", "/a/*"]}
                        ],
                    }
                ]
            },
            [
                'spec.rules[0].nonResourceRules[0].verbs: Unsupported value: ["a"]: supported values: "create", "',
                'spec.rules[0].nonResourceRules[0].nonResourceURLs[0]: Invalid value: "a": must start with slash',
                'spec.rules[0].nonResourceRules[0].nonResourceURLs[1]: Invalid value: "": must not be empty',
                'spec.rules[0].nonResourceRules[0].nonResourceURLs[2]: Invalid value: "/a b": must not contain wh',
                'spec.rules[0].nonResourceRules[0].nonResourceURLs[3]: Invalid value: "//": must not contain doub',
                'spec.rules[0].nonResourceRules[0].nonResourceURLs[4]: Invalid value: "/a*b": wildcard can only d',
            ],
        ),
    ],
)
def test_flow_schemas(given: Any, refused: list[str]) -> None:
    """A flow schema has a precedence, a priority level and complete rules."""
    assert (
        refusals(
            validate_flow_schema(
                {
                    "metadata": {"name": "n"},
                    "spec": {"matchingPrecedence": 2, "priorityLevelConfiguration": {"name": "p"}, **given},
                },
                None,
            )
        )
        == refused
    )


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}, []),
        ({}, ['spec.type: Unsupported value: "": supported values: "Exempt", "Limited"']),
        (
            {"type": "Exempt", "limited": {}},
            [
                "spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'",
                "spec.limited: Forbidden: must be nil if the type is not Limited",
            ],
        ),
        ({"type": "Limited"}, ["spec.limited: Required value: must not be empty when type is Limited"]),
        (
            {
                "type": "Limited",
                "exempt": {},
                "limited": {
                    "nominalConcurrencyShares": -1,
                    "lendablePercent": 101,
                    "borrowingLimitPercent": -1,
                    "limitResponse": {"type": "Queue"},
                },
            },
            [
                "spec.exempt: Forbidden: must be nil if the type is Limited",
                "spec.limited.nominalConcurrencyShares: Invalid value: -1: must be a non-negative integer",
                "spec.limited.limitResponse.queuing: Required value: must not be empty if limited.limitResponse.t",
                "spec.limited.lendablePercent: Invalid value: 101: must be between 0 and 100, inclusive",
                "spec.limited.borrowingLimitPercent: Invalid value: -1: if specified, must be a non-negative inte",
            ],
        ),
        (
            {
                "type": "Limited",
                "limited": {"limitResponse": {"type": "Queue", "queuing": {"queues": 1, "handSize": 2}}},
            },
            [
                "spec.limited.limitResponse.queuing.queueLengthLimit: Invalid value: 0: must be positive",
                "spec.limited.limitResponse.queuing.handSize: Invalid value: 2: should not be greater than queues",
            ],
        ),
        (
            {
                "type": "Limited",
                "limited": {
                    "limitResponse": {"type": "Queue", "queuing": {"queues": 512, "handSize": 7, "queueLengthLimit": 1}}
                },
            },
            ["spec.limited.limitResponse.queuing.handSize: Invalid value: 7: required entropy bits of deckSize"],
        ),
    ],
)
def test_priority_levels(given: Any, refused: list[str]) -> None:
    """A limited level says how requests wait, and only the level exempt is exempt."""
    assert refusals(validate_priority_level({"metadata": {"name": "n"}, "spec": given}, None)) == refused
