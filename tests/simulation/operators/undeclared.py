"""The operator writes a status without the permission for it: it works for an administrator only."""

from __future__ import annotations

from pyctrl.api import CustomResource, Model
from pyctrl.client import Client
from pyctrl.controller import Builder, Controller, ManagedCluster, ObjectReconciler
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.rbac import Permission, allow
from pyctrl.simulation import World
from tests.simulation.operators._case import GROUP, Case, ensure, meta, owned, report


class CertSpec(Model):
    host: str


class CertStatus(Model):
    host: str = ""


class Cert(CustomResource[CertSpec, CertStatus], group=GROUP, version="v1"):
    """A certificate of a host."""


class Buggy(ObjectReconciler[Cert]):
    owns = (ConfigMap,)
    rbac: tuple[Permission, ...] = (allow(ConfigMap, "create", "patch"),)

    async def reconcile_object(self, cert: Cert) -> None:
        await ensure(self.client, cert, owned(cert, f"{cert.metadata.name}-cert", {"host": cert.spec.host}))
        await report(self.client, cert, host=cert.spec.host)


class Fixed(Buggy):
    rbac = (*Buggy.rbac, allow(Cert, "patch", subresource="status"))


async def scenario(client: Client, world: World) -> None:
    await client.create(Cert(metadata=meta("www"), spec=CertSpec(host="www.example.com")))


def add_buggy(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Buggy())


def add_fixed(manager: ManagedCluster, world: World) -> Controller:
    return Builder(manager).build(Fixed())


CASE = Case(
    name="undeclared",
    buggy=add_buggy,
    fixed=add_fixed,
    scenario=scenario,
    kinds=(Cert,),
    story="status",
)
