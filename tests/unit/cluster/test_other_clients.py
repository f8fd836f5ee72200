"""Other Python clients against the served cluster: create, list, watch, patch and delete."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest
import yaml

from pyctrl.client import Config
from pyctrl.cluster import Cluster, serving_cluster

# Any: half of their functions have no types.
kubernetes: Any = import_module("kubernetes")
kubernetes_asyncio: Any = import_module("kubernetes_asyncio")

LABELS = {"app": "web"}


def kubeconfig(config: Config) -> Any:
    return yaml.safe_load(config.to_kubeconfig())


def deployment(models: Any) -> Any:
    container = models.V1Container(name="main", image="nginx")
    template = models.V1PodTemplateSpec(
        metadata=models.V1ObjectMeta(labels=LABELS), spec=models.V1PodSpec(containers=[container])
    )
    spec = models.V1DeploymentSpec(replicas=1, selector=models.V1LabelSelector(match_labels=LABELS), template=template)
    return models.V1Deployment(metadata=models.V1ObjectMeta(name="web"), spec=spec)


@contextmanager
def official(*, tls: bool) -> Iterator[Any]:
    with serving_cluster(lambda: Cluster(kubelet=False), tls=tls) as config:
        client = kubernetes.config.new_client_from_config_dict(kubeconfig(config))
        try:
            yield client
        finally:
            client.close()


@pytest.mark.slow("imports a client of 800 models")
@pytest.mark.parametrize("tls", [False, True])
def test_the_official_client(tls: bool) -> None:
    """The official client creates, reads, patches, watches and deletes with its own types."""
    models = kubernetes.client
    with official(tls=tls) as client:
        core, apps = models.CoreV1Api(client), models.AppsV1Api(client)
        made = core.create_namespaced_config_map(
            "default", models.V1ConfigMap(metadata=models.V1ObjectMeta(name="a"), data={"k": "v"})
        )
        patched = core.patch_namespaced_config_map("a", "default", {"data": {"k": "w"}})
        listed = core.list_namespaced_config_map("default", field_selector="metadata.name=a")
        assert [item.data for item in listed.items] == [{"k": "w"}]
        assert patched.metadata.uid == made.metadata.uid

        assert apps.create_namespaced_deployment("default", deployment(models)).spec.replicas == 1
        scaled = apps.patch_namespaced_deployment_scale("web", "default", {"spec": {"replicas": 2}})
        assert scaled.spec.replicas == 2

        core.delete_namespaced_config_map("a", "default")
        watch, seen = kubernetes.watch.Watch(), []
        since = made.metadata.resource_version
        for event in watch.stream(
            core.list_namespaced_config_map, "default", resource_version=since, timeout_seconds=10
        ):
            seen.append((event["type"], event["object"].metadata.name))
            if event["type"] == "DELETED":
                watch.stop()
        assert seen == [("MODIFIED", "a"), ("DELETED", "a")]
        with pytest.raises(models.ApiException) as missing:
            core.read_namespaced_config_map("a", "default")
        assert missing.value.status == 404


@pytest.mark.real_time
@pytest.mark.slow("imports a client of 800 models")
async def test_kubernetes_asyncio() -> None:
    """kubernetes_asyncio does the same in the cluster's event loop."""
    models = kubernetes_asyncio.client
    async with Cluster(kubelet=False) as cluster, cluster.serve() as config:
        configuration = models.Configuration()
        await kubernetes_asyncio.config.load_kube_config_from_dict(
            kubeconfig(config), client_configuration=configuration
        )
        async with models.ApiClient(configuration) as client:
            core, apps = models.CoreV1Api(client), models.AppsV1Api(client)
            listed = await core.list_namespaced_config_map("default")
            since = listed.metadata.resource_version
            body = models.V1ConfigMap(metadata=models.V1ObjectMeta(name="a"), data={"k": "v"})
            await core.create_namespaced_config_map("default", body)
            await core.patch_namespaced_config_map("a", "default", [{"op": "replace", "path": "/data/k", "value": "w"}])
            await core.delete_namespaced_config_map("a", "default")
            seen = []
            async with kubernetes_asyncio.watch.Watch() as watch:
                async for event in watch.stream(
                    core.list_namespaced_config_map, "default", resource_version=since, timeout_seconds=10
                ):
                    seen.append((event["type"], event["object"].data))
                    if event["type"] == "DELETED":
                        break
            assert seen == [("ADDED", {"k": "v"}), ("MODIFIED", {"k": "w"}), ("DELETED", {"k": "w"})]
            made = await apps.create_namespaced_deployment("default", deployment(models))
            assert made.spec.strategy.type == "RollingUpdate"
