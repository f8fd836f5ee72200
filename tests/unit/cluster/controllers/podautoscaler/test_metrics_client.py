"""Requests to the metrics APIs and their errors, in virtual time.

The expected texts were recorded with a kube-apiserver and kube-controller-manager 1.36 and the same metrics.
"""

from __future__ import annotations

import asyncio
import json

import pytest

from pyctrl.apiserver import Response
from tests.unit.cluster._workloads import NAMESPACE, events_of
from tests.unit.cluster.controllers.podautoscaler._metrics_apis import (
    AVERAGE_5,
    GO_SELECTOR,
    POD_METRIC,
    MetricsApis,
    autoscale,
    cluster_with,
    external,
    replicas_of_web,
    resource,
)

pytestmark = pytest.mark.virtual_time


async def test_the_apis_get_the_selectors_of_pods_and_of_metrics() -> None:
    """Requests have the selector of the target's pods and that of the metric."""
    apis = MetricsApis({"pods": ["1"], "pods/*/qps": ["1"], "queue": ["1"]})
    async with cluster_with(apis) as client:
        metric = {"name": "qps", "selector": {"matchLabels": {"verb": "GET"}}}
        of_pods = {"type": "Pods", "pods": {**POD_METRIC["pods"], "metric": metric}}
        metrics = [resource("cpu", type="AverageValue", averageValue="1"), of_pods, external("queue", **AVERAGE_5)]
        await autoscale(client, *metrics)
    assert apis.queries == [
        (f"namespaces/{NAMESPACE}/pods", {"labelSelector": ["app=web"]}),
        (f"namespaces/{NAMESPACE}/pods/*/qps", {"labelSelector": ["app=web"], "metricLabelSelector": ["verb=GET"]}),
        (f"namespaces/{NAMESPACE}/queue", {"labelSelector": ["a=b"]}),
    ]


NOT_FETCHED = "unable to fetch metrics from external metrics API: "
REQUEST = "(get queue.external.metrics.k8s.io)"
DENIED = Response(status=403, body=json.dumps({"kind": "Status", "message": "no such luck", "code": 403}).encode())


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ([], "no metrics returned from external metrics API"),
        (DENIED, f"{NOT_FETCHED}no such luck"),
        (
            Response(status=500, body=b"it broke"),
            f'{NOT_FETCHED}an error on the server ("it broke") has prevented the request from succeeding {REQUEST}',
        ),
        (
            Response(status=404, body=b"404 page not found"),
            f"{NOT_FETCHED}the server could not find the requested resource {REQUEST}",
        ),
        (
            Response(status=200, body=b'{"items": [{"metricName": "queue"}]}'),
            f"{NOT_FETCHED}the server sent an item of another form: KeyError('value') {REQUEST}",
        ),
    ],
)
async def test_why_a_metric_is_missing(answer: list[str] | Response, why: str) -> None:
    """The condition has the error of the metrics API, and the target stays as it is."""
    async with cluster_with(MetricsApis({"queue": answer})) as client:
        hpa = await autoscale(client, external("queue", **AVERAGE_5))
        message = f"unable to get external metric {NAMESPACE}/queue/{GO_SELECTOR}: {why}"
        condition = hpa.status.conditions[-1]
        assert (condition.reason, condition.message) == (
            "FailedGetExternalMetric",
            f"the HPA was unable to compute the replica count: {message}",
        )
        assert await replicas_of_web(client) == 2
        all_metrics = (
            "invalid metrics (1 invalid out of 1), first error is: failed to get queue external metric value: "
        )
        await asyncio.sleep(1)
        assert await events_of(client, "web") == [
            f"FailedGetExternalMetric: {message} x1",
            f"FailedComputeMetricsReplicas: {all_metrics}failed to get queue external metric: {message} x1",
        ]
