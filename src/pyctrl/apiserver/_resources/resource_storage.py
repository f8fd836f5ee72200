"""Storage of one resource outside of the server's storage: functions that read and write its objects as JSON."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from pyctrl.api import FieldSelector, LabelSelector

if TYPE_CHECKING:
    from pyctrl.apiserver._user import User

__all__ = ["ResourceStorage", "StorageList", "StorageRequest"]

Object: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StorageRequest:
    """The request that a storage is read or written for: upstream's ctx, RequestInfo and ListOptions.

    Attributes:
        user: The user of the request, who is authorized for it.
        namespace: The namespace of the URL; "" for all namespaces, or a cluster-scoped kind.
        labels: The label selector of a list or watch. The server applies it, too: a storage may ignore it.
        fields: The field selector of a list or watch, likewise.
        resource_version: The version after which a watch starts; "" to begin with the current objects.
    """

    user: User
    namespace: str = ""
    labels: LabelSelector = field(default_factory=LabelSelector.everything)
    fields: FieldSelector = field(default_factory=FieldSelector.everything)
    resource_version: str = ""


class StorageList(NamedTuple):
    """Objects of a storage, and the version of the whole list; "" if the storage has no versions."""

    items: Sequence[Object]
    resource_version: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceStorage:
    """The functions of a storage. The verbs of its resource follow from those that are not None.

    Functions raise `pyctrl.errors.ApiError` for what clients are to be told, such as `Conflict` and `AlreadyExists`.

    Attributes:
        get: Returns an object by its name; None if it does not exist.
        list: Returns all objects of a namespace.
        watch: Yields types and objects of changes.
        create: Stores a new object and returns it.
        update: Replaces an object, which comes second, and returns the new one.
        delete: Deletes an object that has no finalizers.
    """

    get: Callable[[StorageRequest, str], Awaitable[Object | None]] | None = None
    list: Callable[[StorageRequest], Awaitable[StorageList]] | None = None
    watch: Callable[[StorageRequest], AsyncIterator[tuple[str, Object]]] | None = None
    create: Callable[[StorageRequest, Object], Awaitable[Object]] | None = None
    update: Callable[[StorageRequest, Object, Object], Awaitable[Object]] | None = None
    delete: Callable[[StorageRequest, Object], Awaitable[None]] | None = None

    @property
    def verbs(self) -> tuple[str, ...]:
        """The verbs of the resource, by the rules of kube-apiserver's APIInstaller."""
        has_get, has_list = self.get is not None, self.list is not None
        found = {
            "create": self.create is not None,
            "delete": has_get and self.delete is not None,
            "deletecollection": has_list and self.delete is not None,
            "get": has_get,
            "list": has_list,
            "patch": has_get and self.update is not None,
            "update": has_get and self.update is not None,
            "watch": has_list and self.watch is not None,
        }
        return tuple(verb for verb, is_served in found.items() if is_served)
