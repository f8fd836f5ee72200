"""Validation of HorizontalPodAutoscalers."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry.autoscaler_validation import validate_autoscaler_spec
from tests.unit.apiserver.registry._refusals import refusals


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({}, []),
        ({"maxReplicas": 0}, ["spec.maxReplicas: Required value: must be set and greater than 0"]),
        ({"minReplicas": 3}, ["spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`"]),
        (
            {"minReplicas": 0},
            [
                "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1",
                "spec.metrics: Forbidden: must specify at least one Object or External metric to support scaling ",
            ],
        ),
        (
            {"scaleTargetRef": {"apiVersion": "v1"}},
            [
                "spec.scaleTargetRef.kind: Required value",
                "spec.scaleTargetRef.name: Required value",
                'spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group',
            ],
        ),
        (
            {
                "metrics": [
                    {
                        "type": "Resource",
                        "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 0}},
                    }
                ]
            },
            ["spec.metrics[0].resource.target.averageUtilization: Invalid value: 0: must be greater than 0"],
        ),
        (
            {"metrics": [{"type": "Pods"}]},
            ["spec.metrics[0].pods: Required value: must populate information for the given metric source"],
        ),
        (
            {
                "metrics": [
                    {
                        "type": "Other",
                        "pods": {"metric": {"name": "a"}, "target": {"type": "Value", "averageValue": "0"}},
                    }
                ]
            },
            [
                'spec.metrics[0].type: Unsupported value: "Other": supported values: "ContainerResource", "Extern',
                'spec.metrics[0].pods.target.averageValue: Invalid value: "0": must be positive',
                'spec.metrics[0].type: Unsupported value: "Other": supported values: "ContainerResource", "Extern',
            ],
        ),
        (
            {
                "metrics": [
                    {
                        "type": "External",
                        "external": {
                            "metric": {"name": "a"},
                            "target": {"type": "Value", "value": "1", "averageValue": "1"},
                        },
                    }
                ]
            },
            ["spec.metrics[0].external.target.value: Forbidden: may not set both a target value for metric and"],
        ),
        (
            {"metrics": [{"type": "ContainerResource", "containerResource": {"target": {}}}]},
            [
                "spec.metrics[0].containerResource.name: Required value: must specify a resource name",
                "spec.metrics[0].containerResource.container: Required value: must specify a container",
                "spec.metrics[0].containerResource.target.type: Required value: must specify a metric target type",
                'spec.metrics[0].containerResource.target.type: Invalid value: "": must be either Utilization, Va',
                "spec.metrics[0].containerResource.target.averageUtilization: Required value: must set either a t",
            ],
        ),
        (
            {
                "metrics": [
                    {
                        "type": "Object",
                        "object": {"describedObject": {"kind": "A", "name": "b"}, "target": {"type": "Value"}},
                    }
                ]
            },
            [
                "spec.metrics[0].object.metric.name: Required value: must specify a metric name",
                "spec.metrics[0].object.target.averageValue: Required value: must set either a target value or av",
            ],
        ),
    ],
)
def test_specs(given: Any, refused: list[str]) -> None:
    """An autoscaler has a range of replicas, a target and complete metrics."""
    assert (
        refusals(
            validate_autoscaler_spec(
                {
                    "maxReplicas": 2,
                    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
                    **given,
                },
                "spec",
            )
        )
        == refused
    )


@pytest.mark.parametrize(
    ("given", "refused"),
    [
        ({"policies": [{"type": "Pods", "value": 1, "periodSeconds": 1}]}, []),
        (
            {"stabilizationWindowSeconds": 3601},
            [
                "spec.behavior.scaleUp.stabilizationWindowSeconds: Invalid value: 3601: must be less than or equa",
                "spec.behavior.scaleUp.policies: Required value: must specify at least one Policy",
            ],
        ),
        (
            {"selectPolicy": "Any", "policies": [{"type": "All", "value": 0, "periodSeconds": 1801}]},
            [
                'spec.behavior.scaleUp.selectPolicy: Unsupported value: "Any": supported values: "Disabled", "Max',
                'spec.behavior.scaleUp.policies[0].type: Unsupported value: "All": supported values: "Percent", "',
                "spec.behavior.scaleUp.policies[0].value: Invalid value: 0: must be greater than zero",
                "spec.behavior.scaleUp.policies[0].periodSeconds: Invalid value: 1801: must be less than or equal",
            ],
        ),
        (
            {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 1}], "tolerance": "-1"},
            ['spec.behavior.scaleUp.tolerance: Invalid value: "-1": must be greater than or equal to 0'],
        ),
    ],
)
def test_behaviors(given: Any, refused: list[str]) -> None:
    """The rules of a behavior have policies with positive values and short periods."""
    assert (
        refusals(
            validate_autoscaler_spec(
                {
                    "maxReplicas": 2,
                    "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"},
                    "behavior": {"scaleUp": given},
                },
                "spec",
            )
        )
        == refused
    )


def test_a_scale_target_needs_a_group_unless_it_is_a_replication_controller() -> None:
    """The API version of the target has a group, but for ReplicationControllers; an update need not mend an old one."""
    refused = ['spec.scaleTargetRef.apiVersion: Invalid value: "v1": apiVersion must specify API group']
    pod = {"apiVersion": "v1", "kind": "Pod", "name": "a"}
    controller = {**pod, "kind": "ReplicationController"}
    for target, old, expected in (
        (pod, None, refused),
        (controller, None, []),
        (pod, {**pod, "name": "b"}, []),
        (pod, controller, refused),
    ):
        spec = {"maxReplicas": 2, "scaleTargetRef": target}
        assert refusals(validate_autoscaler_spec(spec, "spec", old)) == expected
