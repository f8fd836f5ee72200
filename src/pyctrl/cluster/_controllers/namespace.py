"""Namespaces: what each one starts with, and its end, which is the end of everything in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from pyctrl import _clock
from pyctrl.api import Metadata, ObjectMeta, is_deleting
from pyctrl.client import ResourceMapping
from pyctrl.controller import Builder, Controller, ManagedCluster, Reconciler, Request, Result, mapped
from pyctrl.errors import AlreadyExists, Conflict, Forbidden, MethodNotAllowed, NotFound
from pyctrl.kinds.core.v1 import ConfigMap, Namespace, ServiceAccount

__all__ = [
    "DEFAULT_OBJECTS",
    "PLACEHOLDER_CA",
    "NamespaceReconciler",
    "add_namespaces",
    "default_objects",
    "ignore_outdated",
    "is_namespace_terminating",
]


FINALIZER = "kubernetes"  # in spec.finalizers of every namespace, taken away through its `finalize` sub-resource
GRACE_PERIOD = timedelta(seconds=5)  # namespaceDeletionGracePeriod of kube-controller-manager: writes under way may end
LOOK_AGAIN = timedelta(seconds=1)  # at what finalizers still hold back; nothing tells of its going


def add_namespaces(host: ManagedCluster, *, root_ca: str) -> Controller:
    """Run namespaces in a manager. ``root_ca`` is the PEM text that pods trust the API server by."""
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


def is_namespace_terminating(error: Forbidden) -> bool:
    """Say whether a write was refused because its namespace has been deleted; what is in there goes too."""
    return any(cause.reason == "NamespaceTerminating" for cause in error.causes)


@contextmanager
def ignore_outdated() -> Iterator[None]:
    """Overlook that what a block writes about has changed or gone, or goes with its namespace: the next event tells."""
    try:
        yield
    except (NotFound, Conflict):
        return
    except Forbidden as error:
        if not is_namespace_terminating(error):
            raise


def _remaining_grace_period(namespace: Namespace) -> timedelta:
    """Return how long to leave a deleted namespace alone."""
    deleted = namespace.metadata.deletion_timestamp
    return timedelta(0) if deleted is None else deleted + GRACE_PERIOD - _clock.now()


class NamespaceReconciler(Reconciler[Namespace]):
    """Gives living namespaces their default service account and root certificate, and empties deleted ones."""

    def __init__(self, root_ca: str) -> None:
        self._root_ca = root_ca

    async def reconcile(self, request: Request) -> Result | None:
        namespace = await self.client.find(Namespace, request.key)
        if namespace is None:
            return None
        if not is_deleting(namespace):
            await self._furnish(namespace.metadata.name)
            return None
        early = _remaining_grace_period(namespace)
        if early > timedelta(0):
            return Result(requeue_after=early)
        if await self._empty(namespace.metadata.name):
            await self._finalize(namespace)
            return None
        return Result(requeue_after=LOOK_AGAIN)

    async def _furnish(self, name: str) -> None:
        for obj in default_objects(name, root_ca=self._root_ca):
            if await self.client.find(type(obj), obj.key) is None:
                try:
                    await self.client.create(obj)
                except (AlreadyExists, Forbidden, NotFound):
                    continue  # somebody was faster, or the namespace is going: its event tells

    async def _empty(self, namespace: str) -> bool:
        """Delete everything in a namespace; says whether nothing is left."""
        left = 0
        for mapping in await self.client.live.discovery.mappings():
            if mapping.namespaced and {"list", "delete"} <= set(mapping.verbs):
                left += await self._delete_all_content_of(mapping, namespace)
        return left == 0

    async def _delete_all_content_of(self, mapping: ResourceMapping, namespace: str) -> int:
        live, kind = self.client.live, Metadata.of(mapping.gvk)
        try:
            found: list[Metadata[Any]] = list(await live.list(kind, namespace=namespace))
        except (NotFound, MethodNotAllowed):
            return 0  # its definition has just gone
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


ROOT_CA_CONFIG_MAP = "kube-root-ca.crt"

#: The names that are made anew when somebody deletes them.
DEFAULT_OBJECTS = frozenset(("default", ROOT_CA_CONFIG_MAP))

#: What stands for the server's authority while it is served without TLS: a certificate whose key nobody has.
PLACEHOLDER_CA = """\
-----BEGIN CERTIFICATE-----
MIIBkzCCATigAwIBAgIBATAKBggqhkjOPQQDAjAuMSwwKgYDVQQDDCNweWN0cmwg
ZW1iZWRkZWQgY2x1c3RlciB3aXRob3V0IFRMUzAgFw0yNjAxMDEwMDAwMDBaGA8y
MTI2MDEwMTAwMDAwMFowLjEsMCoGA1UEAwwjcHljdHJsIGVtYmVkZGVkIGNsdXN0
ZXIgd2l0aG91dCBUTFMwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAQckqA/VOz9
8zEEyTqhxz96pwsJ0v7WKb46IZdzk0quSltBiOcojgFKC0beU0PM69Rby744RF6q
lI3tps5UJxFfo0UwQzASBgNVHRMBAf8ECDAGAQH/AgEAMB0GA1UdDgQWBBS/ibK+
OmhTojKkZ0dmmi0l/3GjNTAOBgNVHQ8BAf8EBAMCAQYwCgYIKoZIzj0EAwIDSQAw
RgIhAL/KVU2MMPcsUphJ2Wb1iratoNb3sSBRc80piwxUqm6HAiEA5C52PE55XQ42
RqaW03lwQy4lF7yCMu8fad5PbVP0X0A=
-----END CERTIFICATE-----
"""

_ROOT_CA_DESCRIPTION = (  # the words of kube-controller-manager
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the "
    "internal service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes "
    "clusters."
)


def default_objects(namespace: str, *, root_ca: str) -> tuple[ServiceAccount | ConfigMap, ...]:
    """Return the objects of a new namespace."""
    return (
        ServiceAccount(metadata=ObjectMeta(name="default", namespace=namespace)),
        ConfigMap(
            metadata=ObjectMeta(
                name=ROOT_CA_CONFIG_MAP,
                namespace=namespace,
                annotations={"kubernetes.io/description": _ROOT_CA_DESCRIPTION},
            ),
            data={"ca.crt": root_ca},
        ),
    )
