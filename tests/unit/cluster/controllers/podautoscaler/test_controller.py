"""HorizontalPodAutoscalers with and without metrics, in virtual time.

The expected results were recorded with a kube-apiserver and kube-controller-manager 1.36.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from pyctrl.api import ObjectMeta
from pyctrl.client import Client, wait_for
from pyctrl.cluster import Cluster
from pyctrl.cluster._controllers.podautoscaler.controller import PERIOD
from pyctrl.kinds.apps.v1 import Deployment, DeploymentSpec
from pyctrl.kinds.autoscaling.v2 import HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec
from pyctrl.kinds.meta.v1 import LabelSelector
from tests.unit.cluster._workloads import LABELS, NAMESPACE, events_of, key, template
from tests.unit.cluster.controllers.podautoscaler._metrics_apis import (
    AVERAGE_5,
    MetricsApis,
    autoscale,
    cluster_with,
    external,
    replicas_of_web,
)

pytestmark = pytest.mark.virtual_time


async def autoscaler(client: Client, **spec: Any) -> None:
    """Create an autoscaler of the Deployment `web`."""
    wire = {"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}, "maxReplicas": 5, **spec}
    metadata = ObjectMeta(name="web", namespace=NAMESPACE)
    await client.create(HorizontalPodAutoscaler(metadata=metadata, spec=HorizontalPodAutoscalerSpec.from_wire(wire)))


async def deployment(client: Client, replicas: int) -> None:
    """Create the Deployment `web`."""
    spec = DeploymentSpec(replicas=replicas, selector=LabelSelector(match_labels=LABELS), template=template())
    await client.create(Deployment(metadata=ObjectMeta(name="web", namespace=NAMESPACE), spec=spec))


async def reasons(client: Client) -> list[str | None]:
    """Wait for the conditions, and return their reasons."""
    found = await wait_for(client, HorizontalPodAutoscaler, key("web"), lambda each: bool(each.status.conditions))
    return [each.reason for each in found.status.conditions]


@pytest.mark.parametrize(("replicas", "limits", "wanted"), [(9, {}, 5), (1, {"minReplicas": 3}, 3)])
async def test_limits_apply_without_metrics(replicas: int, limits: dict[str, int], wanted: int) -> None:
    """A Deployment with too many or too few replicas is scaled to the limit, and the status says so."""
    async with Cluster(random=Random(1), kubelet=False) as cluster, cluster.client() as client:
        await deployment(client, replicas)
        await autoscaler(client, **limits)
        assert await reasons(client) == ["SucceededRescale"]
        assert (await client.get(Deployment, key("web"))).spec.replicas == wanted
        status = (await client.get(HorizontalPodAutoscaler, key("web"))).status
        assert (status.current_replicas, status.desired_replicas) == (replicas, wanted)
        assert status.last_scale_time is not None


async def test_a_missing_target_is_reported_until_it_exists() -> None:
    """An autoscaler whose Deployment does not exist says so, and later that there are no metrics."""
    async with Cluster(random=Random(1), kubelet=False) as cluster, cluster.client() as client:
        await autoscaler(client)
        assert await reasons(client) == ["FailedGetScale"]
        await deployment(client, 2)
        await asyncio.sleep(PERIOD.total_seconds() + 1)
        assert await reasons(client) == ["SucceededGetScale", "FailedGetResourceMetric"]
        assert (await client.get(Deployment, key("web"))).spec.replicas == 2
        events = await events_of(client, "web")
        for reason in ("FailedGetScale", "FailedGetResourceMetric", "FailedComputeMetricsReplicas"):
            assert any(each.startswith(f"{reason}: ") for each in events)


async def test_a_target_without_replicas_is_left_alone() -> None:
    """A Deployment with zero replicas is not scaled up to the minimum."""
    async with Cluster(random=Random(1), kubelet=False) as cluster, cluster.client() as client:
        await deployment(client, 0)
        await autoscaler(client, minReplicas=2)
        assert await reasons(client) == ["SucceededGetScale", "ScalingDisabled"]
        assert (await client.get(Deployment, key("web"))).spec.replicas == 0


METRIC = {"name": "qps"}
VALUE = {"type": "AverageValue", "averageValue": "1"}


@pytest.mark.parametrize(
    ("metric", "reason", "message"),
    [
        (
            {"type": "Resource", "resource": {"name": "memory", "target": VALUE}},
            "FailedGetResourceMetric",
            "failed to get memory usage: unable to get metrics for resource memory: unable to fetch metrics from re",
        ),
        (
            {"type": "ContainerResource", "containerResource": {"name": "cpu", "container": "c", "target": VALUE}},
            "FailedGetContainerResourceMetric",
            "failed to get cpu usage: unable to get metrics for resource cpu: unable to fetch metrics from resource",
        ),
        (
            {"type": "Pods", "pods": {"metric": METRIC, "target": VALUE}},
            "FailedGetPodsMetric",
            "unable to get metric qps: unable to fetch metrics from custom metrics API: no custom metrics API",
        ),
        (
            {
                "type": "Object",
                "object": {"metric": METRIC, "target": VALUE, "describedObject": {"kind": "Service", "name": "s"}},
            },
            "FailedGetObjectMetric",
            f"unable to get metric qps: Service on {NAMESPACE} s/unable to fetch metrics from custom metrics API",
        ),
        (
            {"type": "External", "external": {"metric": METRIC, "target": VALUE}},
            "FailedGetExternalMetric",
            f"unable to get external metric {NAMESPACE}/qps/nil: unable to fetch metrics from external metrics API",
        ),
    ],
)
async def test_each_type_of_metric_is_reported_missing(metric: dict[str, Any], reason: str, message: str) -> None:
    """The condition names the first metric of an autoscaler and why it has no value."""
    async with Cluster(random=Random(1), kubelet=False) as cluster, cluster.client() as client:
        await deployment(client, 2)
        await autoscaler(client, metrics=[metric])
        assert await reasons(client) == ["SucceededGetScale", reason]
        (_, condition) = (await client.get(HorizontalPodAutoscaler, key("web"))).status.conditions
        assert f"the HPA was unable to compute the replica count: {message}" in (condition.message or "")


async def test_replicas_follow_a_metric_down_after_the_stabilization_window() -> None:
    """When the metric falls, the target is scaled down five minutes later, not to less than the minimum."""
    apis = MetricsApis({"queue": ["40"]})
    async with cluster_with(apis) as client:
        await autoscale(client, external("queue", **AVERAGE_5), minReplicas=2)
        assert await replicas_of_web(client) == 4  # at most doubled
        await asyncio.sleep(PERIOD.total_seconds() + 1)
        assert await replicas_of_web(client) == 8
        apis.values["queue"] = ["5"]
        await asyncio.sleep(240)
        assert await replicas_of_web(client) == 8
        await asyncio.sleep(90)
        assert await replicas_of_web(client) == 2


async def test_two_autoscalers_of_the_same_pods_scale_nothing() -> None:
    """Autoscalers of one Deployment report that its pods are controlled by both."""
    async with cluster_with(MetricsApis({"queue": ["10"]})) as client:
        metric = external("queue", **AVERAGE_5)
        await autoscale(client, metric)
        second = await autoscale(client, metric, name="other")
        condition = next(each for each in second.status.conditions if each.type == "ScalingActive")
        message = f"pods by selector app=web are controlled by multiple HPAs: [{NAMESPACE}/other {NAMESPACE}/web]"
        assert (condition.status, condition.reason, condition.message) == ("False", "AmbiguousSelector", message)
