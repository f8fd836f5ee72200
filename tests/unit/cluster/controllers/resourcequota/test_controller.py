"""Resource quota controller."""

from __future__ import annotations

import asyncio
import json
from random import Random

import pytest

from pyctrl.api import Key, ObjectMeta, Quantity, Unstructured
from pyctrl.cluster import Cluster
from pyctrl.errors import Forbidden
from pyctrl.kinds.core.v1 import ConfigMap, Container, Pod, PodSpec, ResourceQuota, ResourceQuotaSpec
from tests.unit.apiserver._objects import definition


def pod(name: str) -> Pod:
    spec = PodSpec(containers=[Container(name="c", image="i")])
    return Pod(metadata=ObjectMeta(name=name, namespace="default"), spec=spec)


@pytest.mark.virtual_time
async def test_a_quota_limits_pods_until_some_are_deleted() -> None:
    """The second pod exceeds the quota; when the first is gone, the controller lowers the usage again."""
    async with Cluster(kubelet=False, random=Random(1)) as cluster, cluster.client() as client:
        hard = {"pods": "1", "count/configmaps": "5"}
        quota = ResourceQuota(
            metadata=ObjectMeta(name="q", namespace="default"),
            spec=ResourceQuotaSpec(hard={name: Quantity(text) for name, text in hard.items()}),
        )
        await client.create(quota)
        await asyncio.sleep(1)
        await client.create(pod("a"))
        with pytest.raises(Forbidden, match="exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1"):
            await client.create(pod("b"))
        await client.create(ConfigMap(metadata=ObjectMeta(name="x", namespace="default")))

        await client.delete(pod("a"))
        await asyncio.sleep(1)

        status = (await client.get(ResourceQuota, Key("default", "q"))).to_wire()["status"]
        assert status == {"hard": hard, "used": {"pods": "0", "count/configmaps": "2"}}  # with kube-root-ca.crt
        await client.create(pod("b"))


@pytest.mark.virtual_time
async def test_a_quota_counts_objects_of_a_definition_that_is_newer_than_the_controller() -> None:
    """A quota for custom resources has their number, although the controller read earlier which resources exist."""
    async with Cluster(kubelet=False, random=Random(1)) as cluster, cluster.client() as client:
        for name, resource in (("first", "configmaps"), ("second", "things.test.example.com")):
            quota = ResourceQuota(
                metadata=ObjectMeta(name=name, namespace="default"),
                spec=ResourceQuotaSpec(hard={f"count/{resource}": Quantity("5")}),
            )
            await client.create(quota)
            await asyncio.sleep(1)
            if name == "first":
                made = definition({"type": "object"})
                path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
                assert cluster.server.handle_nowait("POST", path, body=json.dumps(made).encode()).status == 201
        status = (await client.get(ResourceQuota, Key("default", "second"))).to_wire()["status"]
        assert status["used"] == {"count/things.test.example.com": "0"}


@pytest.mark.virtual_time
async def test_a_quota_may_be_older_than_the_definition_that_it_counts() -> None:
    """A quota limits the objects of a definition soon after it is created, and follows their deletion."""
    async with Cluster(kubelet=False, random=Random(1)) as cluster, cluster.client() as client:
        hard = {"count/things.test.example.com": Quantity("1")}
        await client.create(
            ResourceQuota(metadata=ObjectMeta(name="q", namespace="default"), spec=ResourceQuotaSpec(hard=hard))
        )
        await asyncio.sleep(60)
        await client.create(Unstructured(definition({"type": "object"})))
        await asyncio.sleep(1)
        kind = {"apiVersion": "test.example.com/v1", "kind": "Thing"}
        things = [Unstructured({**kind, "metadata": {"name": name, "namespace": "default"}}) for name in ("a", "b")]
        await client.create(things[0])
        with pytest.raises(Forbidden, match="exceeded quota"):
            await client.create(things[1])
        await client.delete(things[0])
        await asyncio.sleep(1)
        await client.create(things[1])
