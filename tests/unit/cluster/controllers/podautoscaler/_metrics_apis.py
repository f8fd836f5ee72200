"""Metrics APIs behind the aggregator, and a workload that is scaled by them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from random import Random
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from pyctrl import _clock
from pyctrl.api import ObjectMeta, format_time
from pyctrl.apiserver import ApiServer, ProxyRequest, Response
from pyctrl.client import Client, MergePatch, wait_for
from pyctrl.cluster import Cluster
from pyctrl.kinds.apps.v1 import Deployment
from pyctrl.kinds.autoscaling.v2 import HorizontalPodAutoscaler, HorizontalPodAutoscalerSpec
from pyctrl.kinds.core.v1 import Pod
from tests.unit.cluster._workloads import NAMESPACE, key

HOST = "metrics.pyctrl.invalid"
APIS = (
    ("metrics.k8s.io", "v1beta1", "pods", "PodMetrics"),
    ("custom.metrics.k8s.io", "v1beta2", "pods/qps", "MetricValueList"),
    ("external.metrics.k8s.io", "v1beta1", "queue", "ExternalMetricValueList"),
)
SELECTOR = {"matchLabels": {"a": "b"}}
GO_SELECTOR = "&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{},}"


class MetricsApis:
    """An extension API server with the three metrics APIs; each value can be set by the resource or metric."""

    def __init__(self, values: Mapping[str, list[str] | Response]) -> None:
        self.values = dict(values)
        self.queries: list[tuple[str, dict[str, list[str]]]] = []

    async def __call__(self, request: ProxyRequest, /) -> Response:
        """Answer discovery and metrics."""
        url = urlsplit(request.url)
        path = unquote(url.path).strip("/").split("/")
        found: Any = None
        if len(path) == 3:
            group, version, name, kind = next(each for each in APIS if each[0] == path[1])
            resource = {"name": name, "singularName": "", "kind": kind, "namespaced": True, "verbs": ["get"]}
            found = {"kind": "APIResourceList", "groupVersion": f"{group}/{version}", "resources": [resource]}
        elif len(path) > 4:
            self.queries.append(("/".join(path[3:]), parse_qs(url.query)))
            found = self._items("/".join(path[5:]))
        if isinstance(found, Response):
            return found
        return Response(status=404 if found is None else 200, body=json.dumps(found or {}).encode())

    def _items(self, name: str) -> Any:
        values = self.values.get(name)
        if values is None or isinstance(values, Response):
            return values
        return {"items": [self._item(name, index, value) for index, value in enumerate(values)]}

    def _item(self, name: str, index: int, value: str) -> dict[str, Any]:
        now, pod = format_time(_clock.now()), f"web-{index}"
        if name == "pods":
            usage = {"cpu": value, "memory": value}
            containers = [{"name": "c", "usage": usage}, {"name": "d", "usage": {"cpu": "100m", "memory": "1Mi"}}]
            return {"metadata": {"name": pod}, "timestamp": now, "window": "10s", "containers": containers}
        return {"describedObject": {"kind": "Pod", "name": pod}, "timestamp": now, "value": value}


@asynccontextmanager
async def cluster_with(apis: MetricsApis, *, replicas: int = 2) -> AsyncIterator[Client]:
    """Run a cluster with metrics APIs, a Deployment `web` and two ready pods that it selects."""
    server = ApiServer(random=Random(1))
    server.service_transports[HOST] = apis
    service = {"metadata": {"name": "metrics"}, "spec": {"type": "ExternalName", "externalName": HOST}}
    _create(server, f"/api/v1/namespaces/{NAMESPACE}/services", service)
    for group, version, _, _ in APIS:
        spec = {"group": group, "version": version, "groupPriorityMinimum": 100, "versionPriority": 100}
        spec["service"] = {"namespace": NAMESPACE, "name": "metrics"}
        api_service = {"metadata": {"name": f"{version}.{group}"}, "spec": spec}
        _create(server, "/apis/apiregistration.k8s.io/v1/apiservices", api_service)
    cluster = Cluster(
        server=server, random=Random(1), kubelet=False, controllers=["horizontal-pod-autoscaler-controller"]
    )
    async with cluster, cluster.client() as client:
        await _workload(server, client, replicas)
        yield client


def _create(server: ApiServer, path: str, body: Mapping[str, Any]) -> None:
    answer = server.handle_nowait("POST", path, body=json.dumps(body).encode())
    assert answer.status == 201, answer


async def _workload(server: ApiServer, client: Client, replicas: int) -> None:
    resources = {"requests": {"cpu": "500m", "memory": "128Mi"}}
    containers = [{"name": each, "image": "x", "resources": resources} for each in "cd"]
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": containers}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    deployments = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments"
    _create(server, deployments, {"metadata": {"name": "web"}, "spec": spec})
    await client.status.patch(Deployment, key("web"), MergePatch({"status": {"replicas": replicas}}))
    for name in ("web-0", "web-1"):
        pod = {"metadata": {"name": name, "labels": {"app": "web"}}, "spec": {"containers": containers}}
        _create(server, f"/api/v1/namespaces/{NAMESPACE}/pods", pod)
        long_ago = "2020-01-01T00:00:00Z"
        condition = {"type": "Ready", "status": "True", "lastTransitionTime": long_ago}
        status = {"phase": "Running", "startTime": long_ago, "conditions": [condition]}
        await client.status.patch(Pod, key(name), MergePatch({"status": status}))


async def autoscale(
    client: Client, *metrics: dict[str, Any], name: str = "web", **spec: Any
) -> HorizontalPodAutoscaler:
    """Create an autoscaler of `web`; return it after its first period."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    wire = {"scaleTargetRef": target, "maxReplicas": 10, "metrics": list(metrics), **spec}
    metadata = ObjectMeta(name=name, namespace=NAMESPACE)
    await client.create(HorizontalPodAutoscaler(metadata=metadata, spec=HorizontalPodAutoscalerSpec.from_wire(wire)))
    return await wait_for(client, HorizontalPodAutoscaler, key(name), lambda each: bool(each.status.conditions))


async def replicas_of_web(client: Client) -> int:
    """Return the replicas of the Deployment."""
    return (await client.get(Deployment, key("web"))).spec.replicas or 0


def resource(name: str, **target: Any) -> dict[str, Any]:
    """Return a metric of a resource."""
    return {"type": "Resource", "resource": {"name": name, "target": target}}


def external(name: str, **target: Any) -> dict[str, Any]:
    """Return an external metric."""
    return {"type": "External", "external": {"metric": {"name": name, "selector": SELECTOR}, "target": target}}


AVERAGE_5 = {"type": "AverageValue", "averageValue": "5"}
POD_METRIC: dict[str, Any] = {
    "type": "Pods",
    "pods": {"metric": {"name": "qps"}, "target": {"type": "AverageValue", "averageValue": "10"}},
}


def of_object(target: dict[str, Any], kind: str = "Service", api_version: str = "v1") -> dict[str, Any]:
    """Return a metric of an object named `s`."""
    described = {"kind": kind, "name": "s", "apiVersion": api_version}
    return {"type": "Object", "object": {"metric": {"name": "qps"}, "describedObject": described, "target": target}}
