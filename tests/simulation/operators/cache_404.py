"""A parent that is not in the cache yet counts as deleted: what it has outside of the cluster is erased."""

from __future__ import annotations

from pyctrl.api import CustomResource, Key, Model, ObjectLike, is_deleting
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, Finalizers, ManagedCluster, Reconciler, Request, mapped
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import Permission, allow
from pyctrl.simulation import External, World
from tests.simulation.operators._case import GROUP, NAMESPACE, Case, ensure, meta, owned, report


class TenantSpec(Model):
    plan: str


class TenantStatus(Model):
    has_storage: bool = False


class Tenant(CustomResource[TenantSpec, TenantStatus], group=GROUP, version="v1"):
    """A tenant with a storage outside of the cluster."""


class Storage(External):
    def __init__(self) -> None:
        super().__init__()
        self.tenants: dict[str, str] = {}

    async def put(self, tenant: str, plan: str) -> None:
        self.tenants[tenant] = plan

    async def erase(self, tenant: str) -> None:
        self.tenants.pop(tenant, None)


class Buggy(Reconciler[Tenant]):
    owns = (ConfigMap,)
    rbac: tuple[Permission, ...] = (allow(ConfigMap, "create", "patch"), allow(Tenant, "patch", subresource="status"))

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    async def reconcile(self, request: Request) -> None:
        tenant = await self.client.find(Tenant, request.key)
        if tenant is None:
            await self.storage.erase(request.name)
        elif not is_deleting(tenant):
            await self.write(tenant)

    async def write(self, tenant: Tenant) -> None:
        if not tenant.status.has_storage:
            await self.storage.put(tenant.metadata.name, tenant.spec.plan)
            await report(self.client, tenant, has_storage=True)
        await ensure(self.client, tenant, owned(tenant, f"{tenant.metadata.name}-plan", {"plan": tenant.spec.plan}))


class Fixed(Buggy):
    rbac = (*Buggy.rbac, allow(Tenant, "get", "patch"))

    def __init__(self, storage: Storage) -> None:
        super().__init__(storage)
        self.finalizers = Finalizers[Tenant]()
        self.finalizers.register("sim.example.com/storage", self.erase)

    async def erase(self, tenant: Tenant) -> None:
        live = await self.client.live.find(Tenant, tenant.key)  # an erased storage is lost: ask the server
        if live is not None and live.metadata.uid == tenant.metadata.uid:
            await self.storage.erase(tenant.metadata.name)

    async def reconcile(self, request: Request) -> None:
        tenant = await self.client.find(Tenant, request.key)
        if tenant is not None:
            tenant = await self.finalizers.finalize_and_patch(self.client, tenant)
        if tenant is not None and not is_deleting(tenant):
            await self.write(tenant)


def tenant_of(quota: ObjectLike) -> list[Request]:
    name = quota.metadata.labels.get("tenant")
    return [Request(NAMESPACE, name)] if name else []


async def scenario(client: Client, world: World) -> None:
    await client.create(ConfigMap(metadata=meta("quota", labels={"tenant": "acme"})))
    await world.settle()
    for name in ("acme", "trial"):
        await client.create(Tenant(metadata=meta(name), spec=TenantSpec(plan="small")))
    await world.settle()
    await client.delete(Tenant, Key(NAMESPACE, "trial"))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return (
        Builder(manager).reconciles(Tenant).watches(ConfigMap, mapped(tenant_of)).build(Buggy(world.external(Storage)))
    )


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return (
        Builder(manager).reconciles(Tenant).watches(ConfigMap, mapped(tenant_of)).build(Fixed(world.external(Storage)))
    )


CASE = Case(
    name="cache-404",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Tenant,),
    story="NotFound",
    family="stale",
)
