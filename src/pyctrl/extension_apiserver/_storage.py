"""Interfaces of a storage for the objects of one kind, named as in k8s.io/apiserver/pkg/registry/rest.

A storage implements the interfaces of the verbs that its kind is to have. A kind with `Getter` and `Lister` can be
read, one with `Watcher` also be watched, and so on; discovery lists these verbs, and the server answers 405 for others.

A method raises an `ApiError` for what a client is to be told: `AlreadyExists`, `Conflict`, `ServiceUnavailable`. Every
other exception becomes a 500 and is logged.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Literal, Protocol, TypeAlias, TypeVar, runtime_checkable

from pyctrl.api import KubernetesObject
from pyctrl.apiserver import StorageRequest

__all__ = [
    "ChangeType",
    "Creater",
    "Getter",
    "GracefulDeleter",
    "Lister",
    "Storage",
    "StorageRequest",
    "Updater",
    "Watcher",
]

K = TypeVar("K", bound=KubernetesObject)
K_co = TypeVar("K_co", bound=KubernetesObject, covariant=True)
K_contra = TypeVar("K_contra", bound=KubernetesObject, contravariant=True)

ChangeType: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED"]


@runtime_checkable
class Getter(Protocol[K_co]):
    """Returns single objects: the verb get."""

    async def get(self, request: StorageRequest, name: str, /) -> K_co | None:
        """Return an object of the request's namespace; None if it does not exist."""
        ...


@runtime_checkable
class Lister(Protocol[K_co]):
    """Returns all objects: the verb list."""

    async def list(self, request: StorageRequest, /) -> Iterable[K_co]:
        """Return the objects of the request's namespace, or of all namespaces.

        A `pyctrl.client.ObjectList` also has the resource version of the list, after which a watch continues.
        """
        ...


@runtime_checkable
class Watcher(Protocol[K_co]):
    """Yields changes: the verb watch, for a kind that is also a `Lister`."""

    def watch(self, request: StorageRequest, /) -> AsyncIterator[tuple[ChangeType, K_co]]:
        """Yield each change with the object after it.

        It begins after the request's ``resource_version``, or with all current objects as ADDED if that is "". The
        iterator is closed when the client leaves.
        """
        ...


@runtime_checkable
class Creater(Protocol[K]):
    """Stores new objects: the verb create."""

    async def create(self, request: StorageRequest, obj: K, /) -> K:
        """Store a valid object and return it, with its resource version if the storage has versions.

        Raises:
            AlreadyExists: There is an object of this name.
        """
        ...


@runtime_checkable
class Updater(Protocol[K]):
    """Replaces objects: the verbs update and patch, also of status and scale, for a kind that is also a `Getter`."""

    async def update(self, request: StorageRequest, obj: K, old: K, /) -> K:
        """Replace an object and return it.

        Raises:
            Conflict: The stored object is no longer ``old``. A patch that names no version is tried again.
        """
        ...


@runtime_checkable
class GracefulDeleter(Protocol[K_contra]):
    """Deletes objects: the verb delete, and deletecollection for a kind that is also a `Lister`."""

    async def delete(self, request: StorageRequest, obj: K_contra, /) -> None:
        """Delete an object. One with finalizers gets an update with a ``deletionTimestamp`` instead."""
        ...


#: A storage implements at least one of the interfaces.
Storage: TypeAlias = Getter[K] | Lister[K] | Watcher[K] | Creater[K] | Updater[K] | GracefulDeleter[K]
