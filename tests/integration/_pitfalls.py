"""A namespace for the pitfalls of the seeds, on any cluster."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from pyctrl.api import Key, Unstructured
from pyctrl.cli._rbac.objects import read_cluster
from pyctrl.client import Client, wait_for, wait_until_gone
from pyctrl.kinds.apiextensions.v1 import CustomResourceDefinition
from pyctrl.kinds.rbac.v1 import ClusterRole, ClusterRoleBinding
from pyctrl.rbac import Diagnosis, Grants, diagnose
from tests.unit.rbac._seeds import Object

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
NAMED_HERE = ("ClusterRole", "ClusterRoleBinding", "RoleBinding")  # a RoleBinding may become one of the cluster
PLACES = ("default", "testing", "jicki-system")  # the namespaces of the seeds


class Site:
    """A namespace for the objects of the seeds; the names of cluster-scoped objects contain its name."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.client, self.namespace = client, namespace

    def named(self, name: str) -> str:
        """Return the name of a cluster-scoped object."""
        return f"{self.namespace}-{name}"

    def translated(self, obj: Object) -> Object:
        """Move an object of a seed into this namespace, with all names that it refers to."""
        text = json.dumps(obj, ensure_ascii=False)
        for place in PLACES:
            text = text.replace(f'"namespace": "{place}"', f'"namespace": "{self.namespace}"')
        text = text.replace("kopf.dev", f"{self.namespace}.kopf.dev").replace(
            "apps.jicki.cn", self.named("apps.jicki.cn")
        )
        moved: Object = json.loads(text)
        metadata = moved["metadata"]
        if moved["kind"] in NAMED_HERE:
            metadata["name"] = self.named(metadata["name"])
        if moved["kind"] not in ("ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition"):
            metadata["namespace"] = self.namespace
        if moved.get("roleRef", {}).get("kind") == "ClusterRole":
            moved["roleRef"]["name"] = self.named(moved["roleRef"]["name"])
        return moved

    async def examined(self, account: str | None, granted: Grants | None = None) -> Diagnosis:
        """Read the cluster like the doctor command, and examine an account of the namespace, or everything."""
        read = await read_cluster(self.client, namespace=self.namespace, own_namespace=self.namespace)
        assert read.unread == []
        key = Key(self.namespace, account) if account is not None else None
        return diagnose(read.objects, account=key, complete=read.complete, served=read.served, granted=granted)

    @asynccontextmanager
    async def with_objects(self, objects: Sequence[Object]) -> AsyncIterator[None]:
        """Create objects as kubectl apply does, until the block ends."""
        definitions = list[Unstructured]()
        try:
            for obj in map(self.translated, objects):
                made = Unstructured(json.loads(json.dumps(obj)))
                made.metadata.annotations = {**made.metadata.annotations, LAST_APPLIED: json.dumps(obj)}
                created = await self.client.create(made)
                if obj["kind"] == "CustomResourceDefinition":
                    definitions.append(created)
                    await wait_for(self.client, CustomResourceDefinition, created.key, is_established)
            yield
        finally:
            for definition in definitions:
                await self.client.delete(definition)
                await wait_until_gone(self.client, definition.gvk, definition.key)
            await self._forget()

    async def _forget(self) -> None:
        """Delete the cluster-scoped objects named after the namespace, including those that a fix has created."""
        for kind in (ClusterRoleBinding, ClusterRole):
            for each in await self.client.list(kind):
                if each.metadata.name.startswith(self.named("")):
                    await self.client.delete(each)


def is_established(definition: CustomResourceDefinition) -> bool:
    return any(each.type == "Established" and each.status == "True" for each in definition.status.conditions)
