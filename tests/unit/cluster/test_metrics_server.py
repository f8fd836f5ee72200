"""The API of metrics-server, served by an extension API server, as `kubectl top` reads it."""

from __future__ import annotations

import json
from datetime import datetime
from random import Random
from typing import Any

from pyctrl.api import Key, KubernetesObject, Model, ObjectMeta, Quantity
from pyctrl.client import Client, HttpRequest
from pyctrl.cluster import Cluster
from pyctrl.extension_apiserver import APIResource, ExtensionAPIServer, StorageRequest
from pyctrl.kinds.core.v1 import Node, Pod

PATH = "/apis/metrics.k8s.io/v1beta1"
USAGE = {"cpu": Quantity("250m"), "memory": Quantity("20Mi")}
SINCE = datetime.fromisoformat("2024-01-01T00:00:00+00:00")


class ContainerMetrics(Model):
    """Usage of a container."""

    name: str = ""
    usage: dict[str, Quantity] = {}


class NodeMetrics(KubernetesObject, group="metrics.k8s.io", version="v1beta1", scope="Cluster", plural="nodes"):
    """Usage of a node."""

    timestamp: datetime | None = None
    window: str = ""
    usage: dict[str, Quantity] = {}


class PodMetrics(KubernetesObject, group="metrics.k8s.io", version="v1beta1", plural="pods"):
    """Usage of a pod."""

    timestamp: datetime | None = None
    window: str = ""
    containers: list[ContainerMetrics] = []


class Nodes:
    """The metrics of all nodes."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def list(self, request: StorageRequest) -> list[NodeMetrics]:
        """Return metrics for each node."""
        nodes = await self._client.list(Node)
        return [
            NodeMetrics(metadata=ObjectMeta(name=each.metadata.name), timestamp=SINCE, window="10s", usage=USAGE)
            for each in nodes
        ]


class Pods:
    """The metrics of all pods."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def list(self, request: StorageRequest) -> list[PodMetrics]:
        """Return metrics for each pod of a namespace."""
        return [self._metrics(each) for each in await self._client.list(Pod, namespace=request.namespace or None)]

    async def get(self, request: StorageRequest, name: str) -> PodMetrics | None:
        """Return the metrics of a pod."""
        pod = await self._client.find(Pod, Key(request.namespace, name))
        return None if pod is None else self._metrics(pod)

    def _metrics(self, pod: Pod) -> PodMetrics:
        containers = [ContainerMetrics(name=each.name, usage=USAGE) for each in pod.spec.containers]
        metadata = ObjectMeta(name=pod.metadata.name, namespace=pod.metadata.namespace, labels=pod.metadata.labels)
        return PodMetrics(metadata=metadata, timestamp=SINCE, window="10s", containers=containers)


async def read(client: Client, path: str, **query: str) -> Any:
    """Return a document."""
    request = HttpRequest(method="GET", path=path, query=tuple(query.items()))
    return json.loads((await client.connection.rest.send(request)).body)


async def test_top_reads_the_metrics_of_nodes_and_pods() -> None:
    """The group is discovered, and lists have what `kubectl top` prints, also by label."""
    async with Cluster(random=Random(1)) as cluster, cluster.client() as client:
        resources = APIResource(NodeMetrics, Nodes(client)), APIResource(PodMetrics, Pods(client))
        server = ExtensionAPIServer(*resources, client=client, random=Random(2))
        await cluster.add_extension_apiserver(server, service=Key("kube-system", "metrics-server"))
        spec = {"containers": [{"name": "c", "image": "i"}]}
        metadata = {"name": "p", "namespace": "default", "labels": {"app": "a"}}
        await client.create(Pod.from_wire({"metadata": metadata, "spec": spec}))

        (api,) = [each for each in (await read(client, "/apis"))["groups"] if each["name"] == "metrics.k8s.io"]
        assert api["preferredVersion"]["version"] == "v1beta1"
        found = {each["name"]: each["verbs"] for each in (await read(client, PATH))["resources"]}
        assert found == {"nodes": ["list"], "pods": ["get", "list"]}
        (node,) = (await read(client, f"{PATH}/nodes"))["items"]
        assert (node["metadata"]["name"], node["usage"]) == ("node-1", {"cpu": "250m", "memory": "20Mi"})
        assert (node["timestamp"], node["window"]) == ("2024-01-01T00:00:00Z", "10s")
        pods = f"{PATH}/namespaces/default/pods"
        (pod,) = (await read(client, pods, labelSelector="app=a"))["items"]
        assert pod["containers"] == [{"name": "c", "usage": {"cpu": "250m", "memory": "20Mi"}}]
        assert (await read(client, pods, labelSelector="app=b"))["items"] == []
        assert (await read(client, f"{pods}/p"))["kind"] == "PodMetrics"
