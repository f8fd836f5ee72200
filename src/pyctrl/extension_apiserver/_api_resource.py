"""Resources of an extension API server: a kind, its storage and its subresources."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pyctrl.api import KubernetesObject
from pyctrl.apiserver import (
    ConnectedSubresource,
    ExtensionResourceRegistry,
    ResourceStorage,
    StorageList,
    StorageRequest,
    SubresourceFunctions,
)
from pyctrl.errors import BadRequest, DecodeError
from pyctrl.extension_apiserver._storage import (
    Creater,
    Getter,
    GracefulDeleter,
    Lister,
    Storage,
    Updater,
    Watcher,
)

if TYPE_CHECKING:
    from pyctrl.webhook import Conversion

__all__ = ["APIResource", "Subresource", "install"]

K = TypeVar("K", bound=KubernetesObject)
B = TypeVar("B", bound=KubernetesObject)

Object = dict[str, Any]
Kind = type[KubernetesObject]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subresource(Generic[K, B]):
    """A subresource besides status and scale, such as ``taste`` of ``flavors/taste``.

    Attributes:
        kind: The kind of the bodies and responses, in the group version of the resource.
        get: Returns the response to GET, for the request and the object.
        create: Returns the response to POST, for the request, the object and the body.
    """

    kind: type[B]
    get: Callable[[StorageRequest, K], Awaitable[B]] | None = None
    create: Callable[[StorageRequest, K, B], Awaitable[B]] | None = None


@dataclass(frozen=True, slots=True)
class APIResource(Generic[K]):
    """A kind that an extension API server serves.

    The class declares everything that it would declare for a CustomResourceDefinition: names, scope, columns,
    subresources, defaults, bounds and rules.

    Attributes:
        kind: The class of the kind, with several versions that of the storage version.
        storage: Where its objects are; None for the storage of the server.
        versions: The classes of further versions. Only for the storage of the server.
        conversion: Converts between the versions. Without it, all versions have the same fields.
        subresources: Subresources besides status and scale, by name.
    """

    kind: type[K]
    storage: Storage[K] | None = None
    versions: tuple[Kind, ...] = ()
    conversion: Conversion[Any] | None = None
    subresources: Mapping[str, Subresource[K, Any]] = field(default_factory=dict)

    @property
    def definition(self) -> Object:
        """The CustomResourceDefinition that describes the kind; it is not installed anywhere."""
        from pyctrl.manifests import definition  # here: importing it takes longer than a whole program's kinds

        stanza = None if self.conversion is None else {**CONVERSION, "webhook": _conversion_webhook(self.kind)}
        return definition(self.kind, *self.versions, stored=self.kind, conversion=stanza, is_installed=False)


#: The host of URLs by which the server calls conversions in its own process.
IN_PROCESS = "in-process.invalid"
CONVERSION = {"strategy": "Webhook"}


def _conversion_webhook(kind: Kind) -> Object:
    url = f"https://{IN_PROCESS}/convert/{kind.resource.plural}.{kind.gvk.group}"
    return {"clientConfig": {"url": url}, "conversionReviewVersions": ["v1"]}


def install(resource: APIResource[Any], registry: ExtensionResourceRegistry) -> None:
    """Serve a resource.

    Raises:
        DefinitionError: A type cannot be expressed as a schema.
        ValueError: The storage implements no interface, or the resource has several versions and a storage of its own.
    """
    kind, storage = resource.kind, None
    if resource.storage is not None:
        storage = resource_storage(kind, resource.storage)
        if not storage.verbs:
            raise ValueError(f"the storage of {kind.gvk} supports no verb; implement Getter or Lister, for example")
        if resource.versions:
            raise ValueError(f"{kind.gvk} has several versions, which only the storage of the server converts")
    functions = {name: _functions(kind, each) for name, each in resource.subresources.items()}
    registry.install(
        resource.definition,
        storage=storage,
        subresources=functions,
        connected=tuple(
            ConnectedSubresource(name, each.kind.gvk.kind, functions[name].verbs)
            for name, each in resource.subresources.items()
        ),
    )


def resource_storage(kind: type[K], storage: Storage[K]) -> ResourceStorage:
    """Return the functions of a storage, which take and return JSON."""
    return ResourceStorage(
        get=_get(storage) if isinstance(storage, Getter) else None,
        list=_list(storage) if isinstance(storage, Lister) else None,
        watch=_watch(storage) if isinstance(storage, Watcher) else None,
        create=_create(kind, storage) if isinstance(storage, Creater) else None,
        update=_update(kind, storage) if isinstance(storage, Updater) else None,
        delete=_delete(kind, storage) if isinstance(storage, GracefulDeleter) else None,
    )


def _get(storage: Getter[Any]) -> Callable[[StorageRequest, str], Awaitable[Object | None]]:
    async def get(request: StorageRequest, name: str) -> Object | None:
        found = await storage.get(request, name)
        return None if found is None else _to_wire(found)

    return get


def _list(storage: Lister[Any]) -> Callable[[StorageRequest], Awaitable[StorageList]]:
    async def list_(request: StorageRequest) -> StorageList:
        found = await storage.list(request)
        return StorageList([_to_wire(each) for each in found], getattr(found, "resource_version", ""))

    return list_


def _watch(storage: Watcher[Any]) -> Callable[[StorageRequest], AsyncIterator[tuple[str, Object]]]:
    async def watch(request: StorageRequest) -> AsyncIterator[tuple[str, Object]]:
        changes = storage.watch(request)
        try:
            async for type_, obj in changes:
                yield type_, _to_wire(obj)
        finally:
            if (close := getattr(changes, "aclose", None)) is not None:
                await close()

    return watch


def _create(kind: type[K], storage: Creater[K]) -> Callable[[StorageRequest, Object], Awaitable[Object]]:
    async def create(request: StorageRequest, obj: Object) -> Object:
        return _to_wire(await storage.create(request, kind.from_wire(obj)))

    return create


def _update(kind: type[K], storage: Updater[K]) -> Callable[[StorageRequest, Object, Object], Awaitable[Object]]:
    async def update(request: StorageRequest, obj: Object, old: Object) -> Object:
        return _to_wire(await storage.update(request, kind.from_wire(obj), kind.from_wire(old)))

    return update


def _delete(kind: type[K], storage: GracefulDeleter[K]) -> Callable[[StorageRequest, Object], Awaitable[None]]:
    async def delete(request: StorageRequest, obj: Object) -> None:
        await storage.delete(request, kind.from_wire(obj))

    return delete


def _functions(kind: Kind, subresource: Subresource[Any, Any]) -> SubresourceFunctions:
    get, create = subresource.get, subresource.create

    async def answer_get(request: StorageRequest, parent: Object) -> Object:
        assert get is not None  # otherwise it is not passed on
        return _to_wire(await get(request, kind.from_wire(parent)))

    async def answer_create(request: StorageRequest, parent: Object, body: Object) -> Object:
        assert create is not None  # otherwise it is not passed on
        try:
            decoded = subresource.kind.from_wire(body)
        except DecodeError as error:
            raise BadRequest(str(error)) from error
        return _to_wire(await create(request, kind.from_wire(parent), decoded))

    return SubresourceFunctions(
        kind=subresource.kind.gvk.kind,
        get=None if get is None else answer_get,
        create=None if create is None else answer_create,
    )


def _to_wire(obj: KubernetesObject) -> Object:
    wire = obj.to_wire()
    wire.setdefault("metadata", {})
    return wire
