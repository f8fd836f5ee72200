"""Replicas and status for each type of metric, in virtual time.

The expected texts were recorded with a kube-apiserver and kube-controller-manager 1.36 and the same metrics.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.cluster._workloads import events_of
from tests.unit.cluster.controllers.podautoscaler._metrics_apis import (
    AVERAGE_5,
    GO_SELECTOR,
    POD_METRIC,
    MetricsApis,
    autoscale,
    cluster_with,
    external,
    of_object,
    replicas_of_web,
    resource,
)

pytestmark = pytest.mark.virtual_time


@pytest.mark.parametrize(
    ("metric", "values", "replicas", "name", "current"),
    [
        (
            resource("cpu", type="Utilization", averageUtilization=50),
            {"pods": ["800m", "800m"]},
            4,
            "cpu resource utilization (percentage of request)",
            {"averageUtilization": 90, "averageValue": "900m"},
        ),
        (
            resource("memory", type="AverageValue", averageValue="100Mi"),
            {"pods": ["149Mi", "149Mi"]},
            3,
            "memory resource",
            {"averageValue": "150Mi"},
        ),
        (POD_METRIC, {"pods/*/qps": ["10", "20"]}, 3, "pods metric qps", {"averageValue": "15"}),
        (
            of_object({"type": "Value", "value": "20"}),
            {"services/s/qps": ["30"]},
            3,
            "Service metric qps",
            {"value": "30"},
        ),
        (
            of_object({"type": "Value", "value": "20"}, "Ingress", "networking.k8s.io/v1"),
            {"ingresses.networking.k8s.io/s/qps": ["30"]},
            3,
            "Ingress metric qps",
            {"value": "30"},
        ),
        (of_object(AVERAGE_5), {"services/s/qps": ["14"]}, 3, "external metric qps(nil)", {"averageValue": "7"}),
        (
            external("queue", **AVERAGE_5),
            {"queue": ["7500m", "4500m"]},
            3,
            f"external metric queue({GO_SELECTOR})",
            {"averageValue": "6"},
        ),
        (
            external("queue", type="Value", value="10"),
            {"queue": ["15"]},
            3,
            f"external metric queue({GO_SELECTOR})",
            {"value": "15"},
        ),
    ],
)
async def test_each_type_of_metric_scales_the_target(
    metric: dict[str, Any], values: dict[str, list[str]], replicas: int, name: str, current: dict[str, Any]
) -> None:
    """A metric above its target adds replicas, and conditions, Event and status name the metric and its value."""
    async with cluster_with(MetricsApis(values)) as client:
        hpa = await autoscale(client, metric)
        assert await replicas_of_web(client) == replicas
        conditions = {each.type: (each.status, each.reason, each.message) for each in hpa.status.conditions}
        rescaled = f"the HPA controller was able to update the target scale to {replicas}"
        assert conditions["AbleToScale"] == ("True", "SucceededRescale", rescaled)
        found = f"the HPA was able to successfully calculate a replica count from {name}"
        assert conditions["ScalingActive"] == ("True", "ValidMetricFound", found)
        assert conditions["ScalingLimited"][:2] == ("False", "DesiredWithinRange")
        (status,) = hpa.status.to_wire()["currentMetrics"]
        (member,) = set(status) - {"type"}
        assert status[member]["current"] == current
        assert await events_of(client, "web") == [
            f"SuccessfulRescale: New size: {replicas}; reason: {name} above target x1"
        ]


@pytest.mark.parametrize(
    ("value", "replicas", "reason"), [("12", 3, "ValidMetricFound"), ("1", 2, "FailedGetExternalMetric")]
)
async def test_a_missing_metric_prevents_only_scaling_down(value: str, replicas: int, reason: str) -> None:
    """With one of two metrics missing, the other one may add replicas but remove none."""
    async with cluster_with(MetricsApis({"queue": [value], "lost": []})) as client:
        hpa = await autoscale(client, external("lost", **AVERAGE_5), external("queue", **AVERAGE_5))
        assert await replicas_of_web(client) == replicas
        assert reason in [each.reason for each in hpa.status.conditions]
        assert [each.type for each in hpa.status.current_metrics] == ["", "External"]
