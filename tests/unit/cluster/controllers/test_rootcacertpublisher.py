"""The ConfigMap with the root certificate of a namespace, in virtual time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from random import Random

import pytest_asyncio

from pyctrl.api import Key, ObjectMeta
from pyctrl.client import Client, MergePatch, wait_for
from pyctrl.cluster import Cluster
from pyctrl.kinds.core.v1 import ConfigMap, Namespace

KEY = Key("new", "kube-root-ca.crt")


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    """A client of a cluster with this controller only, and with the namespace `new`."""
    cluster = Cluster(random=Random(1), controllers=["root-ca-certificate-publisher-controller"], kubelet=False)
    async with cluster, cluster.client() as client:
        await client.create(Namespace(metadata=ObjectMeta(name="new")))
        yield client


async def test_a_namespace_gets_the_certificate(client: Client) -> None:
    """The ConfigMap has a certificate and upstream's description."""
    made = await wait_for(client, ConfigMap, KEY)
    assert made.data["ca.crt"].startswith("-----BEGIN CERTIFICATE-----")
    assert "verify the kube-apiserver" in made.metadata.annotations["kubernetes.io/description"]


async def test_a_change_is_reverted(client: Client) -> None:
    """A replaced certificate is restored; annotations of other clients stay."""
    made = await wait_for(client, ConfigMap, KEY)
    await client.patch(made, MergePatch({"data": {"ca.crt": "x"}, "metadata": {"annotations": {"a": "b"}}}))
    restored = await wait_for(client, ConfigMap, KEY, lambda found: found.data == made.data)
    assert restored.metadata.annotations["a"] == "b"


async def test_it_is_created_again(client: Client) -> None:
    """A deleted ConfigMap is created again."""
    made = await wait_for(client, ConfigMap, KEY)
    await client.delete(made)
    await wait_for(client, ConfigMap, KEY, lambda found: found.metadata.uid != made.metadata.uid)
