"""Namespace controller: default objects of new namespaces, and the content deletion of deleted ones."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from pyctrl import _clock
from pyctrl.api import Metadata, is_deleting
from pyctrl.client import ResourceMapping
from pyctrl.cluster._controllers.rootcacertpublisher import ROOT_CA_CONFIG_MAP, root_ca_config_map
from pyctrl.cluster._controllers.serviceaccount import DEFAULT_SERVICE_ACCOUNT, default_service_account
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result, mapped
from pyctrl.errors import AlreadyExists, Conflict, Forbidden, MethodNotAllowed, NotFound
from pyctrl.kinds.core.v1 import ConfigMap, Namespace, ServiceAccount

__all__ = ["DEFAULT_OBJECTS", "NamespaceReconciler", "add_namespaces", "default_objects"]

#: The names of the objects that are created again when they are deleted.
DEFAULT_OBJECTS = frozenset((DEFAULT_SERVICE_ACCOUNT, ROOT_CA_CONFIG_MAP))

FINALIZER = "kubernetes"  # in spec.finalizers of every namespace, removed through the `finalize` subresource
GRACE_PERIOD = timedelta(seconds=5)  # namespaceDeletionGracePeriod: lets writes in flight finish
CONTENT_RETRY = timedelta(seconds=1)  # the next check for objects with finalizers, whose removal triggers no event


def add_namespaces(host: ManagedCluster, *, root_ca: str) -> Controller:
    """Run the namespace controller in a manager. ``root_ca`` is the CA certificate, in PEM, for pods."""
    return (
        Builder(host)
        .reconciles(Namespace)
        .watches(ServiceAccount, mapped(_namespace_of_default))
        .watches(ConfigMap, mapped(_namespace_of_default))
        .options(name="namespace", workers=4)
        .build(NamespaceReconciler(root_ca))
    )


def _namespace_of_default(obj: ServiceAccount | ConfigMap) -> list[Request]:
    return [Request("", obj.metadata.namespace)] if obj.metadata.name in DEFAULT_OBJECTS else []


def _remaining_grace_period(namespace: Namespace) -> timedelta:
    """Return how long to wait before the content of a deleted namespace is deleted."""
    deleted = namespace.metadata.deletion_timestamp
    return timedelta(0) if deleted is None else deleted + GRACE_PERIOD - _clock.now()


class NamespaceReconciler(Reconciler[Namespace]):
    """Creates the default objects of active namespaces, and deletes the content of deleted ones."""

    def __init__(self, root_ca: str) -> None:
        self._root_ca = root_ca

    async def reconcile(self, request: Request) -> Result | None:
        namespace = await self.client.find(Namespace, request.key)
        if namespace is None:
            return None
        if not is_deleting(namespace):
            await self._create_default_objects(namespace.metadata.name)
            return None
        early = _remaining_grace_period(namespace)
        if early > timedelta(0):
            return Result(requeue_after=early)
        if await self._delete_all_content(namespace.metadata.name):
            await self._finalize(namespace)
            return None
        return Result(requeue_after=CONTENT_RETRY)

    async def _create_default_objects(self, name: str) -> None:
        for obj in default_objects(name, root_ca=self._root_ca):
            if await self.client.find(type(obj), obj.key) is None:
                try:
                    await self.client.create(obj)
                except (AlreadyExists, Forbidden, NotFound):
                    continue  # created by another client, or the namespace is terminating

    async def _delete_all_content(self, namespace: str) -> bool:
        """Delete all objects of a namespace; return True if none is left, also of servers that do not answer now."""
        left, discovery = 0, self.client.live.discovery
        for mapping in await discovery.mappings(refresh=True):
            if mapping.namespaced and {"list", "delete"} <= set(mapping.verbs):
                left += await self._delete_all_content_of(mapping, namespace)
        return left == 0 and not discovery.has_stale_groups

    async def _delete_all_content_of(self, mapping: ResourceMapping, namespace: str) -> int:
        live, kind = self.client.live, Metadata.of(mapping.gvk)
        try:
            found: list[Metadata[Any]] = list(await live.list(kind, namespace=namespace))
        except (NotFound, MethodNotAllowed):
            return 0  # the CustomResourceDefinition has just been deleted
        for obj in found:
            if not is_deleting(obj):
                try:
                    await live.delete(kind, obj.key, propagation="Background")
                except (NotFound, Conflict):
                    continue
        return len(await live.list(kind, namespace=namespace)) if found else 0

    async def _finalize(self, namespace: Namespace) -> None:
        namespace.spec.finalizers = [f for f in namespace.spec.finalizers if f != FINALIZER]
        try:
            await self.client.live.subresource("finalize").update(Namespace, namespace.key, namespace)
        except (NotFound, Conflict):
            return


def default_objects(namespace: str, *, root_ca: str) -> tuple[ServiceAccount | ConfigMap, ...]:
    """Return the default objects of a new namespace."""
    return default_service_account(namespace), root_ca_config_map(namespace, root_ca)
