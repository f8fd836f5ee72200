"""Conversion of HorizontalPodAutoscalers between their versions."""

from __future__ import annotations

from typing import Any

from pyctrl.apiserver._registry.autoscaler_conversion import to_v1, to_v2
from tests.unit.apiserver._kit import Asker

PREFIX = "autoscaling.alpha.kubernetes.io/"
UTILIZATION = {"type": "Utilization", "averageUtilization": 50}
METRICS: list[dict[str, Any]] = [
    {"type": "Resource", "resource": {"name": "cpu", "target": UTILIZATION}},
    {"type": "Pods", "pods": {"metric": {"name": "m"}, "target": {"type": "AverageValue", "averageValue": "10"}}},
    {"type": "External", "external": {"metric": {"name": "e"}, "target": {"type": "Value", "value": "30"}}},
]
BEHAVIOR = {"scaleDown": {"policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}], "selectPolicy": "Max"}}
CURRENT = {"name": "cpu", "current": {"averageUtilization": 40, "averageValue": "7m"}}
CONDITION = {
    "type": "AbleToScale",
    "status": "True",
    "lastTransitionTime": "2026-01-01T00:00:00Z",
    "reason": "R",
    "message": "<m>",
}
MORE_METRICS: list[dict[str, Any]] = [
    {"type": "Resource", "resource": {"name": "memory", "target": {"type": "AverageValue", "averageValue": "5Mi"}}},
    {
        "type": "ContainerResource",
        "containerResource": {"name": "cpu", "container": "c", "target": {**UTILIZATION, "averageUtilization": 9}},
    },
    {
        "type": "Object",
        "object": {
            "metric": {"name": "o"},
            "describedObject": {"kind": "Ingress", "name": "i", "apiVersion": "networking.k8s.io/v1"},
            "target": {"type": "Value", "value": "2k"},
        },
    },
    *METRICS[1:],
    METRICS[0],
]


def test_an_autoscaler_keeps_everything_in_the_older_version() -> None:
    """What v1 has no fields for is in annotations there, and is the same when it is read in v2 again."""
    obj = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h", "annotations": {"a": "b"}},
        "spec": {
            "maxReplicas": 3,
            "scaleTargetRef": {"kind": "Deployment", "name": "d"},
            "metrics": MORE_METRICS,
            "behavior": BEHAVIOR,
        },
        "status": {
            "currentMetrics": [{"type": "Resource", "resource": CURRENT}],
            "conditions": [CONDITION],
            "desiredReplicas": 1,
        },
    }
    old = to_v1(obj)
    annotations = old["metadata"]["annotations"]
    assert list(annotations) == [
        "a",
        *(f"{PREFIX}{each}" for each in ("behavior", "conditions", "current-metrics", "metrics")),
    ]
    assert annotations[f"{PREFIX}conditions"].endswith('"message":"\\u003cm\\u003e"}]')
    assert annotations[f"{PREFIX}metrics"].startswith(
        '[{"type":"Resource","resource":{"name":"memory","targetAverageValue":"5Mi"}}'
    )
    assert (old["spec"]["targetCPUUtilizationPercentage"], old["status"]["currentCPUUtilizationPercentage"]) == (50, 40)
    assert to_v2(old) == obj | {"apiVersion": "autoscaling/v2"}


def test_annotations_of_conversions_are_not_kept_in_the_newer_version(ask: Asker) -> None:
    """A client cannot write them, and one that is no list is ignored."""
    path = "/apis/autoscaling/{}/namespaces/default/horizontalpodautoscalers"
    spec = {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}
    metadata = {"name": "h", "annotations": {f"{PREFIX}metrics": "nope", "k": "v"}}
    assert ask("POST", path.format("v1"), {"metadata": metadata, "spec": spec})[0] == 201
    for version in ("v1", "v2"):
        assert ask("GET", f"{path.format(version)}/h")[1]["metadata"]["annotations"] == {"k": "v"}
