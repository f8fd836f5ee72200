"""A predicate filters what the operator needs: changes of the data that it copies are not seen."""

from __future__ import annotations

from pyctrl.api import CustomResource, Key, Model, ObjectLike
from pyctrl.client import Client, MergePatch
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler, Request, labels_changed, mapped
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, NAMESPACE, Case, ensure, meta, owned


class AppSpec(Model):
    settings: str
    version: str


class App(CustomResource[AppSpec], group=GROUP, version="v1"):
    """An app that is configured from a ConfigMap of its user, which has the name of the app in a label."""


class Buggy(ObjectReconciler[App]):
    owns = (ConfigMap,)
    rbac = (allow(ConfigMap, "create", "patch"),)

    async def reconcile_object(self, app: App) -> None:
        settings = await self.client.find(ConfigMap, Key(NAMESPACE, app.spec.settings))
        if settings is not None:
            data = {"version": app.spec.version, **settings.data}
            await ensure(self.client, app, owned(app, f"{app.metadata.name}-app", data))


def app_of(settings: ObjectLike) -> list[Request]:
    name = settings.metadata.labels.get("app")
    return [Request(NAMESPACE, name)] if name else []


async def scenario(client: Client, world: World) -> None:
    settings = ConfigMap(metadata=meta("settings", labels={"app": "web"}), data={"level": "info"})
    await client.create(settings)
    await client.create(App(metadata=meta("web"), spec=AppSpec(settings="settings", version="1")))
    await world.settle()
    await client.patch(ConfigMap, settings.key, MergePatch({"data": {"level": "debug"}}))
    await client.patch(App, Key(NAMESPACE, "web"), MergePatch({"spec": {"version": "2"}}))  # and roll it out


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return (
        Builder(manager).reconciles(App).watches(ConfigMap, mapped(app_of), predicates=[labels_changed]).build(Buggy())
    )


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).reconciles(App).watches(ConfigMap, mapped(app_of)).build(Buggy())


CASE = Case(
    name="missed-reference", buggy=add_buggy, fixed=add_fixed, scenario=scenario, kinds=(App,), story="settings"
)
