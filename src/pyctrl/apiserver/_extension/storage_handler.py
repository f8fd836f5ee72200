"""Handlers of a resource with a storage of its own.

Reads call the storage. A write is a transaction of the usual handlers on a scratch storage with the objects of the
request: they decode, merge, track managed fields, validate and respect finalizers. What has changed there is passed to
the storage of the resource, whose version of the object is the response.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, TypeVar

from pyctrl.apiserver._endpoints.backend import RESTStorage
from pyctrl.apiserver._endpoints.create import CreateHandler
from pyctrl.apiserver._endpoints.delete import DeleteHandler
from pyctrl.apiserver._endpoints.list import ListHandler, ListResult
from pyctrl.apiserver._endpoints.list_selectors import SelectionPredicate, read_selection
from pyctrl.apiserver._endpoints.patch import PatchHandler
from pyctrl.apiserver._endpoints.response_writers import object_response
from pyctrl.apiserver._endpoints.update import UpdateHandler
from pyctrl.apiserver._endpoints.watch import WATCH_SECONDS, WatchLines, with_name
from pyctrl.apiserver._endpoints.watch_response import watch_response
from pyctrl.apiserver._errors import (
    Response,
    StatusError,
    already_exists,
    conflict,
    method_not_allowed,
    method_not_supported,
    not_found,
    resource_expired,
    status_error,
)
from pyctrl.apiserver._registry.builtin_resource import RESTContext, RESTFactory
from pyctrl.apiserver._request.options import ListOptions, list_options
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._resources.resource_storage import ResourceStorage, StorageList, StorageRequest
from pyctrl.apiserver._resources.resource_type import ResourceType, with_type_meta
from pyctrl.apiserver._storage.storage import Storage, StoredObject
from pyctrl.errors import AlreadyExists, ApiError, Conflict, Expired, NotFound

__all__ = ["StorageHandler", "translated"]

T = TypeVar("T")
Object = dict[str, Any]
Objects = list[StoredObject]
Handler = Callable[[ResourceRequest], Response | Coroutine[Any, Any, Response]]

PATCH_ATTEMPTS = 5  # kube-apiserver's number, for a patch that conflicts with another write


class StorageHandler:
    """Handlers of a resource with a `ResourceStorage`.

    Args:
        context: The parts of the server.
        resource: The resource.
        storage: Its storage.
    """

    def __init__(self, context: RESTContext, resource: ResourceType, storage: ResourceStorage) -> None:
        self._context, self._resource, self._storage = context, resource, storage
        #: The handlers by method and shape of the URL, with the verb that the resource must have, as `ApiServer` has.
        self.routes: Mapping[tuple[str, str], tuple[str, Handler]] = {
            ("POST", "collection"): ("create", self.create),
            ("GET", "collection"): ("list", self._list_or_watch),
            ("DELETE", "collection"): ("deletecollection", self.delete_collection),
            ("GET", "object"): ("get", self._get_or_watch),
            ("PUT", "object"): ("update", self.update),
            ("PATCH", "object"): ("patch", self.patch),
            ("DELETE", "object"): ("delete", self.delete),
            ("GET", "part"): ("get", self.get),
            ("PUT", "part"): ("update", self.update),
            ("PATCH", "part"): ("patch", self.patch),
        }

    async def _list_or_watch(self, request: ResourceRequest) -> Response:
        is_watch = request.target.watch or request.query.flag("watch")
        return self.watch(request) if is_watch else await self.list(request)

    async def _get_or_watch(self, request: ResourceRequest) -> Response:
        return self.watch(request) if request.target.watch else await self.get(request)

    # -- reads -------------------------------------------------------------------------------------------------

    async def get(self, request: ResourceRequest) -> Response:
        """GET an object, or its status."""
        return object_response(await self._live(request), self._resource, request.form)

    async def list(self, request: ResourceRequest) -> Response:
        """GET the collection. The storage's order is kept, and every page is the whole list."""
        options = list_options(request.query, watch=False)
        selection = read_selection(request, options)
        found = await self._list(request, selection)
        items = [stored for stored in self._stored(found.items) if selection.matches(stored, self._resource)]
        result = ListResult(items=items, version=_number(found.resource_version))
        return ListHandler(self._context.backend).response(request, result)

    def watch(self, request: ResourceRequest) -> Response:
        """GET the changes of the collection, or of one object."""
        if self._storage.list is None:
            raise method_not_allowed()
        if self._storage.watch is None:
            raise method_not_supported(self._resource.plural, "watch", self._resource.group)
        options = list_options(request.query, watch=True)
        if request.target.name:
            options = replace(options, field_selector=with_name(options.field_selector, request.target))
        stream = self._watch_lines(request, options, read_selection(request, options))
        return watch_response(request.headers, stream)

    async def _watch_lines(
        self, request: ResourceRequest, options: ListOptions, selection: SelectionPredicate
    ) -> AsyncGenerator[bytes, None]:
        """Yield the lines of a watch until its timeout, the end of the storage's iterator, or an error."""
        assert self._storage.watch is not None  # checked by `watch`
        lines, seen = WatchLines(self._resource, request.form), set[str]()
        version = "" if options.resource_version == "0" else options.resource_version
        deadline = asyncio.get_running_loop().time() + self._seconds(options)
        try:
            if options.send_initial_events:
                found = await self._list(request, selection)
                version = found.resource_version
                for stored in self._stored(found.items):
                    if selection.matches(stored, self._resource):
                        seen.add(stored.key)
                        yield lines.encode("ADDED", stored)
                if options.bookmarks:
                    yield lines.bookmark(_number(version), {"k8s.io/initial-events-end": "true"})
            wanted = replace(_storage_request(request, selection), resource_version=version)
            async with aclosing(_until(deadline, self._storage.watch(wanted))) as changes:
                async for type_, obj in changes:
                    stored = self._stored([obj])[0]
                    if shown := _shown_type(type_, stored, seen, selection.matches(stored, self._resource)):
                        yield lines.encode(shown, stored)
        except StatusError as error:
            yield lines.error(error.status)
        except ApiError as error:
            yield lines.error(_refusal(error, request).status)

    def _seconds(self, options: ListOptions) -> float:
        if options.timeout_seconds:
            return options.timeout_seconds
        return WATCH_SECONDS * (1 + self._context.backend.random.random())

    async def _list(self, request: ResourceRequest, selection: SelectionPredicate) -> StorageList:
        if self._storage.list is None:
            raise method_not_allowed()
        return await translated(self._storage.list(_storage_request(request, selection)), request)

    async def _find(self, request: ResourceRequest) -> StoredObject | None:
        if self._storage.get is None:
            raise method_not_allowed()
        try:
            obj = await self._storage.get(_storage_request(request), request.target.name)
        except NotFound:
            return None
        except ApiError as error:
            raise _refusal(error, request) from error
        return None if obj is None else self._stored([obj])[0]

    async def _live(self, request: ResourceRequest) -> StoredObject:
        stored = await self._find(request)
        if stored is None:
            raise not_found(request.target.resource, request.target.name, request.target.group)
        return stored

    def _stored(self, objects: Iterable[Object]) -> Objects:
        resource = self._resource
        return [
            StoredObject(with_type_meta(each, resource), _number(each["metadata"].get("resourceVersion")), resource)
            for each in objects
        ]

    # -- writes ------------------------------------------------------------------------------------------------

    async def create(self, request: ResourceRequest) -> Response:
        """POST an object to the collection."""
        return await self._transaction(request, [], lambda scratch: scratch.creates.create(request))

    async def update(self, request: ResourceRequest) -> Response:
        """PUT to an object, or to its status."""
        live = await self._live(request)
        return await self._transaction(request, [live], lambda scratch: scratch.updates.update(request))

    async def patch(self, request: ResourceRequest) -> Response:
        """PATCH an object, or its status; again when another write was faster and the patch names no version."""
        for attempt in range(1, PATCH_ATTEMPTS + 1):
            live = await self._find(request)
            loaded = [] if live is None else [live]
            try:
                return await self._transaction(request, loaded, lambda scratch: scratch.patches.patch(request))
            except _StorageConflict:
                if attempt == PATCH_ATTEMPTS:
                    raise
        raise AssertionError("unreachable: the last attempt returns or raises")

    async def delete(self, request: ResourceRequest) -> Response:
        """DELETE an object. Finalizers hold it: then the storage gets an update with a deletionTimestamp."""
        live = await self._live(request)
        return await self._transaction(request, [live], lambda scratch: scratch.deletes.delete(request))

    async def delete_collection(self, request: ResourceRequest) -> Response:
        """DELETE all selected objects of the collection."""
        selection = read_selection(request, list_options(request.query, watch=False))
        live = self._stored((await self._list(request, selection)).items)
        return await self._transaction(request, live, lambda scratch: scratch.deletes.delete_collection(request))

    async def call_subresource(self, request: ResourceRequest, factory: RESTFactory, method: str) -> Response:
        """Call the handler of a subresource, such as scale, which finds the object in the scratch storage."""
        live = await self._live(request)

        async def call(scratch: _Scratch) -> Response:
            handler = getattr(factory(scratch.context(self._context)), method, None)
            if handler is None:
                raise method_not_allowed()
            answer = handler(request)
            return answer if isinstance(answer, Response) else await answer

        return await self._transaction(request, [live], call)

    async def _transaction(
        self,
        request: ResourceRequest,
        live: Sequence[StoredObject],
        run: Callable[[_Scratch], Coroutine[Any, Any, Response]],
    ) -> Response:
        """Run a handler on a scratch storage with the live objects, and pass what it has changed to the storage."""
        scratch = _Scratch(self._context.backend, self._resource, live)
        response = await run(scratch)
        before = {each.key: each for each in live}
        after = scratch.objects()
        written: StoredObject | None = None
        for key in sorted(before.keys() | after.keys()):
            if before.get(key) is not after.get(key):
                written = await self._write(request, before.get(key), after.get(key))
        is_object = request.target.subresource in ("", *self._resource.parts) and request.method != "DELETE"
        if written is None or not is_object:
            return response
        return object_response(written, self._resource, request.form, response.status)

    async def _write(
        self, request: ResourceRequest, old: StoredObject | None, new: StoredObject | None
    ) -> StoredObject | None:
        """Pass one change to the storage; return the object as it has stored it."""
        storage, wanted = self._storage, _storage_request(request)
        if new is None:
            assert old is not None  # otherwise nothing has changed
            if storage.delete is not None:
                await translated(storage.delete(wanted, old.read(self._resource)), request)
            return None
        obj = new.read(self._resource)
        if old is None:
            if storage.create is None:
                raise method_not_allowed()
            del obj["metadata"]["resourceVersion"]  # that of the scratch storage
            name = obj["metadata"]["name"]
            return self._stored([await translated(storage.create(wanted, obj), request, name)])[0]
        if storage.update is None:
            raise method_not_allowed()
        before = old.read(self._resource)
        _set_version(obj, before["metadata"].get("resourceVersion"))
        return self._stored([await translated(storage.update(wanted, obj, before), request)])[0]


class _Scratch:
    """The usual handlers on a storage of their own, with the live objects of one request."""

    def __init__(self, backend: RESTStorage, resource: ResourceType, live: Sequence[StoredObject]) -> None:
        storage = Storage()
        storage.version = max([storage.version, *(each.version for each in live)])
        # Without features: shard selectors are applied by upstream's generic registry, which these objects do not have.
        self._backend = backend = replace(backend, storage=storage, features=frozenset())
        self._collection = backend.collection(resource)
        self._collection.restore({each.key: each for each in live}, 0)
        self.creates = CreateHandler(backend)
        self.updates = UpdateHandler(backend, self.creates)
        self.patches = PatchHandler(backend, self.creates, self.updates)
        self.deletes = DeleteHandler(backend, ListHandler(backend))

    def objects(self) -> dict[str, StoredObject]:
        """Return the objects after the handler has run."""
        return self._collection.objects()

    def context(self, server: RESTContext) -> RESTContext:
        """Return the context of subresource handlers, on the scratch storage."""
        return RESTContext(self._backend, self.updates, self.deletes, server.authenticator, server.accounts)


class _StorageConflict(StatusError):
    """A conflict that the storage has found: another write was faster."""


def _storage_request(request: ResourceRequest, selection: SelectionPredicate | None = None) -> StorageRequest:
    if selection is None:
        return StorageRequest(user=request.user, namespace=request.target.namespace)
    return StorageRequest(
        user=request.user, namespace=selection.namespace, labels=selection.labels, fields=selection.fields
    )


async def translated(call: Awaitable[T], request: ResourceRequest, name: str = "") -> T:
    """Await a call of the storage; raise its `ApiError` as the Status of the response.

    Args:
        name: The name of a new object, which is not in the URL.
    """
    try:
        return await call
    except ApiError as error:
        raise _refusal(error, request, name) from error


def _refusal(error: ApiError, request: ResourceRequest, name: str = "") -> StatusError:
    """Return the Status of an error, in kube-apiserver's words for those that every storage has."""
    target = request.target
    if error.status:
        return StatusError(error.code, dict(error.status))
    if isinstance(error, NotFound):
        return not_found(target.resource, target.name, target.group)
    if isinstance(error, AlreadyExists):
        return already_exists(target.resource, target.name or name, target.group)
    if isinstance(error, Conflict):
        found = conflict(target.resource, target.name, target.group)
        return _StorageConflict(found.code, found.status)
    if isinstance(error, Expired):
        return resource_expired(error.message)
    return status_error(error.code or 500, error.reason, error.message)


def _shown_type(type_: str, stored: StoredObject, seen: set[str], is_selected: bool) -> str:
    """Return the type of a change as a watcher with a selector sees it; "" if it does not."""
    was_seen, is_gone = stored.key in seen, type_ == "DELETED" or not is_selected
    if is_gone:
        seen.discard(stored.key)
        return "DELETED" if was_seen or (type_ == "DELETED" and is_selected) else ""
    seen.add(stored.key)
    return type_


async def _until(
    deadline: float, changes: AsyncIterator[tuple[str, Object]]
) -> AsyncGenerator[tuple[str, Object], None]:
    """Yield the changes of an iterator until a time of the loop's clock; then close it if it can be closed."""
    try:
        while True:
            try:
                async with asyncio.timeout_at(deadline):  # not around the yield: it would cancel the reader
                    change = await anext(changes)
            except (StopAsyncIteration, TimeoutError):
                return
            yield change
    finally:
        if isinstance(changes, AsyncGenerator):
            await changes.aclose()


def _set_version(obj: Object, version: str | None) -> None:
    if version is None:
        obj["metadata"].pop("resourceVersion", None)
    else:
        obj["metadata"]["resourceVersion"] = version


def _number(version: str | None) -> int:
    """Return a version as a number; 0 if there is none, or if it is opaque."""
    return int(version) if version and version.isascii() and version.isdecimal() else 0
