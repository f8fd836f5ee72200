"""A manager on an API server with RBAC, and its log lines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from copy import deepcopy
from typing import Any

import pytest

from pyctrl.api import Key, ObjectMeta, Unstructured
from pyctrl.client import Client, Config, MergePatch
from pyctrl.cluster import Cluster
from pyctrl.controller import Builder, Controller, Reconciler, Request
from pyctrl.kinds.core.v1 import ServiceAccount
from pyctrl.manager import Manager
from pyctrl.rbac import Grants, Permission, allow, manifests

BOT = Key("default", "bot")


class Marker(Reconciler[Any]):
    """Marks each object, and records the time."""

    def __init__(self, kind: type[Any], *rbac: Permission) -> None:
        self.kind = kind
        self.rbac = rbac or (allow(kind, "patch"),)
        self.marked: dict[str, float] = {}

    async def reconcile(self, request: Request) -> None:
        """Mark one object, unless it is a system object of the cluster."""
        found = await self.client.find(self.kind, request.key)
        if found is not None and request.namespace == "default" and "test" in found.metadata.labels:
            await self.client.patch(found, MergePatch({"metadata": {"annotations": {"marked": "yes"}}}))
            self.marked.setdefault(request.name, now())


def now() -> float:
    return asyncio.get_running_loop().time()


class World:
    """A cluster with RBAC and one service account, whose permissions change."""

    def __init__(self, cluster: Cluster, admin: Client) -> None:
        self.cluster, self.admin = cluster, admin
        self.config: Config = cluster.config_for_account(BOT)
        self._granted: list[dict[str, Any]] = []

    async def grant(self, granted: Grants) -> None:
        """Grant the account exactly these permissions."""
        await self.revoke()
        self._granted = manifests(granted, name="bot", account=BOT)
        for document in self._granted:
            await self.admin.create(Unstructured(deepcopy(document)))

    async def revoke(self) -> None:
        """Revoke the account's permissions."""
        for document in self._granted:
            await self.admin.delete(Unstructured(deepcopy(document)))
        self._granted = []

    async def create(self, kind: type[Any], name: str) -> None:
        """Create an object to mark."""
        await self.admin.create(kind(metadata=ObjectMeta(name=name, namespace="default", labels={"test": "yes"})))


@asynccontextmanager
async def world() -> AsyncIterator[World]:
    async with Cluster(rbac=True, kubelet=False) as cluster, cluster.client() as admin:
        await admin.create(ServiceAccount(metadata=ObjectMeta(name=BOT.name, namespace=BOT.namespace)))
        yield World(cluster, admin)


def build(manager: Manager, kind: type[Any], *rbac: Permission) -> tuple[Controller, Marker]:
    marker = Marker(kind, *rbac)
    return Builder(manager).reconciles(kind).build(marker), marker


def only(manager: Manager, *resources: str) -> Grants:
    """Return the manager's permissions for some resources."""
    rules = {
        namespace: tuple(atom for rule in rules for atom in rule.atoms() if atom.resources[0] in resources)
        for namespace, rules in manager.grants().rules.items()
    }
    return Grants(rules)


def warnings(caplog: pytest.LogCaptureFixture, logger: str = "pyctrl.manager") -> Sequence[str]:
    return [r.getMessage() for r in caplog.records if r.name == logger and r.levelname == "WARNING"]
