"""A checksum of unordered data: the cache lists objects in another order after a restart, and the child changes."""

from __future__ import annotations

import json
from hashlib import sha256

from pyctrl.api import CustomResource, Model, ObjectLike
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler, Request, mapped
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, NAMESPACE, Case, ensure, meta, owned


class BundleSpec(Model):
    label: str


class Bundle(CustomResource[BundleSpec], group=GROUP, version="v1"):
    """The checksum of the ConfigMaps with a label; pods are rolled when it changes."""


class Buggy(ObjectReconciler[Bundle]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch"),)

    async def reconcile_object(self, bundle: Bundle) -> None:
        parts = await self.client.list(ConfigMap, namespace=NAMESPACE, labels={"bundle": bundle.spec.label})
        text = json.dumps(self.in_order([part.data for part in parts]))
        checksum = sha256(text.encode()).hexdigest()[:12]
        await ensure(self.client, bundle, owned(bundle, f"{bundle.metadata.name}-bundle", {"checksum": checksum}))

    def in_order(self, contents: list[dict[str, str]]) -> list[dict[str, str]]:
        return contents


class Fixed(Buggy):
    def in_order(self, contents: list[dict[str, str]]) -> list[dict[str, str]]:
        return sorted(contents, key=json.dumps)


def bundle_of(part: ObjectLike) -> list[Request]:
    return [Request(NAMESPACE, "all")] if "bundle" in part.metadata.labels else []


async def scenario(client: Client, world: World) -> None:
    await client.create(Bundle(metadata=meta("all"), spec=BundleSpec(label="web")))
    for name in ("b", "a", "c"):
        await client.create(ConfigMap(metadata=meta(name, labels={"bundle": "web"}), data={"name": name}))
        await world.settle()


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).reconciles(Bundle).watches(ConfigMap, mapped(bundle_of)).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).reconciles(Bundle).watches(ConfigMap, mapped(bundle_of)).build(Fixed())


CASE = Case(
    name="unordered-checksum",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Bundle,),
    story="checksum",
    family="crash",
)
