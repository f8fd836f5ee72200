"""Models of kubernetes_asyncio as the kinds of a controller."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest
from kubernetes_asyncio.client import V1ConfigMap, V1Deployment, V1Namespace, V1ObjectMeta, V1Pod

from pyctrl.api import Key, set_controller_reference
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config
from pyctrl.controller import Builder, ObjectReconciler, Request, Result, mapped
from pyctrl.errors import BuilderError
from pyctrl.kinds.core.v1 import Pod
from pyctrl.manager import Manager
from pyctrl.rbac import allow
from pyctrl.webhook import Validator, WebhookBuilder, Webhooks


def shop_of(secret: V1Pod) -> Iterable[Request]:
    """Return the request of the namespace that an annotation names."""
    return [Request("", secret.metadata.annotations["shop"])]


class Shops(ObjectReconciler[V1Namespace]):
    """Creates a V1ConfigMap in each namespace, and counts its runs."""

    owns = (V1ConfigMap,)
    watches = ((V1Pod, mapped(shop_of)),)
    rbac = (allow(V1ConfigMap, "create"),)

    def __init__(self) -> None:
        self.runs: list[str] = []

    async def reconcile_object(self, namespace: V1Namespace) -> Result | None:
        assert type(namespace) is V1Namespace
        name = namespace.metadata.name
        self.runs.append(name)
        if name == "shop" and await self.client.find(V1ConfigMap, Key(name, "greeting")) is None:
            greeting = V1ConfigMap(metadata=V1ObjectMeta(name="greeting", namespace=name), data={"a": "b"})
            set_controller_reference(namespace, greeting)
            await self.client.create(greeting)
        return None


async def test_a_controller_of_models() -> None:
    """Reconciled, owned and watched kinds may be models: owners are found, and mapping functions receive models."""
    config, shops = Config.in_process(ApiServer()), Shops()
    async with Manager(config) as manager, Client.connect(config) as client:
        Builder(manager).build(shops)
        async with manager.running():
            await client.create(V1Namespace(metadata=V1ObjectMeta(name="shop")))
            await asyncio.sleep(1)
            greeting = await client.get(V1ConfigMap, Key("shop", "greeting"))
            assert greeting.metadata.owner_references[0].kind == "Namespace"

            await client.delete(greeting)  # its owner runs again
            await asyncio.sleep(1)
            again = await client.get(V1ConfigMap, Key("shop", "greeting"))
            assert again.metadata.uid != greeting.metadata.uid

            shops.runs.clear()
            pod = Pod.from_wire(
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {"name": "a", "namespace": "default", "annotations": {"shop": "shop"}},
                    "spec": {"containers": [{"name": "a", "image": "b"}]},
                }
            )
            await client.create(pod)
            await asyncio.sleep(1)
            assert shops.runs == ["shop"]


def test_permissions_of_models() -> None:
    """The resource of a model class is that of its kind."""
    rule = allow(V1Deployment, "get").rule
    assert (rule.groups, rule.resources) == (("apps",), ("deployments",))


def test_a_webhook_takes_no_model() -> None:
    """A webhook for a model class is refused, with the classes to use instead."""

    class Checks(Validator[Pod]):
        """Allows everything."""

    model: Any = V1Pod
    with pytest.raises(BuilderError, match="cannot admit the kubernetes_asyncio model V1Pod: use the class Pod"):
        WebhookBuilder(Webhooks()).admits(model).build(Checks())
