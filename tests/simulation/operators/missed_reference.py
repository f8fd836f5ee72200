"""A predicate filters what the operator needs: changes of labels pass, changes of the data that it copies do not."""

from __future__ import annotations

from pyctrl.api import CustomResource, Key, Model, ObjectLike
from pyctrl.client import Client, MergePatch
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler, Request, labels_changed, mapped
from pyctrl.kinds.core.v1 import ConfigMap, Service, ServiceSpec
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, NAMESPACE, Case, ensure, meta, owned


class AppSpec(Model):
    service: str
    version: str


class App(CustomResource[AppSpec], group=GROUP, version="v1"):
    """An app that is configured from a service of its user, which has the name of the app in a label."""


class Buggy(ObjectReconciler[App]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch"),)

    async def reconcile_object(self, app: App) -> None:
        service = await self.client.find(Service, Key(NAMESPACE, app.spec.service))
        if service is not None:
            data = {"version": app.spec.version, "upstream": service.spec.external_name or ""}
            await ensure(self.client, app, owned(app, f"{app.metadata.name}-app", data))


def app_of(service: ObjectLike) -> list[Request]:
    name = service.metadata.labels.get("app")
    return [Request(NAMESPACE, name)] if name else []


async def scenario(client: Client, world: World) -> None:
    spec = ServiceSpec(type="ExternalName", external_name="old.example.com")
    await client.create(Service(metadata=meta("database", labels={"app": "web"}), spec=spec))
    await client.create(App(metadata=meta("web"), spec=AppSpec(service="database", version="1")))
    await world.settle()
    await client.patch(Service, Key(NAMESPACE, "database"), MergePatch({"spec": {"externalName": "new.example.com"}}))
    await client.patch(App, Key(NAMESPACE, "web"), MergePatch({"spec": {"version": "2"}}))  # and roll it out


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).reconciles(App).watches(Service, mapped(app_of), predicates=[labels_changed]).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).reconciles(App).watches(Service, mapped(app_of)).build(Buggy())


CASE = Case(
    name="missed-reference",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(App,),
    story="database",
    family="event",
)
