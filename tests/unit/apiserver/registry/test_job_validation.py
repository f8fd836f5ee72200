"""Validation of the specs of Jobs."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry.job_validation import validate_job_spec
from tests.unit.apiserver.registry._refusals import refusals


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({}, []),
        ({"parallelism": -1}, ["spec.parallelism: Invalid value: -1: must be greater than or equal to 0"]),
        ({"completionMode": "Indexed"}, ["spec.completions: Required value: when completion mode is Indexed"]),
        (
            {"completionMode": "Some"},
            ['spec.completionMode: Unsupported value: "Some": supported values: "NonIndexed", "Indexed"'],
        ),
        (
            {"maxFailedIndexes": 1},
            [
                "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
                "spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode",
            ],
        ),
        (
            {"managedBy": "a"},
            ['spec.managedBy: Invalid value: "a": must be a domain-prefixed path (such as "acme.io/foo")'],
        ),
        (
            {"podReplacementPolicy": "Always"},
            ['spec.podReplacementPolicy: Unsupported value: "Always": supported values: "Failed", "Terminating'],
        ),
        (
            {
                "podFailurePolicy": {
                    "rules": [
                        {"action": "Ignore"},
                        {
                            "action": "FailIndex",
                            "onExitCodes": {"operator": "In", "values": [1, 0], "containerName": "x"},
                        },
                        {"onPodConditions": [{"type": "a", "status": "b"}]},
                    ]
                }
            },
            [
                "spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions",
                'spec.podFailurePolicy.rules[1].action: Invalid value: "FailIndex": requires the backoffLimitPerI',
                'spec.podFailurePolicy.rules[1].onExitCodes.containerName: Invalid value: "x": must be one of the',
                "spec.podFailurePolicy.rules[1].onExitCodes.values[1]: Invalid value: 0: must not be 0 for the In",
                "spec.podFailurePolicy.rules[1].onExitCodes.values: Invalid value: [1,0]: must be ordered",
                'spec.podFailurePolicy.rules[2].action: Required value: valid values: ["Count" "FailIndex" "FailJ',
                'spec.podFailurePolicy.rules[2].onPodConditions[0].status: Unsupported value: "b": supported valu',
            ],
        ),
        (
            {
                "completionMode": "Indexed",
                "completions": 3,
                "successPolicy": {
                    "rules": [
                        {},
                        {"succeededIndexes": "1,0"},
                        {"succeededIndexes": "0-2", "succeededCount": 4},
                        {"succeededIndexes": "x"},
                        {"succeededIndexes": "5"},
                    ]
                },
            },
            [
                "spec.successPolicy.rules[0]: Required value: at least one of succeededCount or succeededIndexes ",
                'spec.successPolicy.rules[1].succeededIndexes: Invalid value: "1,0": error parsing succeededIndex',
                "spec.successPolicy.rules[2].succeededCount: Invalid value: 4: must be less than or equal to 3 (t",
                "spec.successPolicy.rules[2].succeededCount: Invalid value: 4: must be less than or equal to 3 (t",
                'spec.successPolicy.rules[3].succeededIndexes: Invalid value: "x": error parsing succeededIndexes',
                'spec.successPolicy.rules[4].succeededIndexes: Invalid value: "5": error parsing succeededIndexes',
            ],
        ),
        (
            {"successPolicy": {"rules": []}},
            ['spec.successPolicy: Invalid value: {"Rules":[]}: requires indexed completion mode'],
        ),
    ],
)
def test_job_specs(given: Any, refused: list[str]) -> None:
    """The counts, the completion mode and the policies of a Job fit together."""
    assert (
        refusals(
            validate_job_spec(
                {
                    **given,
                    "template": {
                        "spec": {
                            "containers": [
                                {
                                    "name": "c",
                                    "image": "i",
                                    "terminationMessagePolicy": "File",
                                    "imagePullPolicy": "Always",
                                    "resources": {},
                                }
                            ],
                            "restartPolicy": "Never",
                            "dnsPolicy": "ClusterFirst",
                        }
                    },
                },
                "spec",
            )
        )
        == refused
    )
