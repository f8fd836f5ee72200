"""Router: finds the handler of a request by its method, its resource and the shape of its URL."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from pyctrl.apiserver._endpoints.backend import RESTStorage
from pyctrl.apiserver._endpoints.connect import admitted_connection
from pyctrl.apiserver._endpoints.create import CreateHandler
from pyctrl.apiserver._endpoints.delete import DeleteHandler
from pyctrl.apiserver._endpoints.get import GetHandler
from pyctrl.apiserver._endpoints.list import ListHandler
from pyctrl.apiserver._endpoints.patch import PatchHandler
from pyctrl.apiserver._endpoints.update import UpdateHandler
from pyctrl.apiserver._endpoints.watch import WatchHandler
from pyctrl.apiserver._errors import (
    STREAM_MEDIA_TYPES,
    YAML,
    Response,
    bad_request,
    method_not_allowed,
    method_not_supported,
    not_acceptable_representation,
    not_found,
    resource_not_served,
    too_large_resource_version,
)
from pyctrl.apiserver._filters.access_control import AccessControl
from pyctrl.apiserver._kubelet import KubeletServer
from pyctrl.apiserver._registry.builtin_resource import REST_METHODS, RESTContext, RESTFactory
from pyctrl.apiserver._registry.scale import ScaleREST
from pyctrl.apiserver._request.options import requested_version
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._request.request_context import CONNECTED
from pyctrl.apiserver._request.route_errors import check_route
from pyctrl.apiserver._resources.resource_type import ResourceType, is_event

if TYPE_CHECKING:
    from pyctrl.apiserver._extension.storage_handler import StorageHandler
    from pyctrl.apiserver._resources.resource_storage import ResourceStorage

__all__ = ["Handler", "Router"]

_CUSTOM_RESOURCE_REST: Mapping[str, RESTFactory] = {"scale": ScaleREST}

Handler = Callable[[ResourceRequest], Response | Coroutine[Any, Any, Response]]

#: What the handler of a request depends on: resource, method, subresource, whether the URL has no namespace and no
#: name, and whether it has the old prefix /watch/.
_Route: TypeAlias = tuple[ResourceType, str, str, bool, bool, bool]


class Router:
    """The handlers of one server."""

    def __init__(self, backend: RESTStorage, access: AccessControl, kubelets: Mapping[str, KubeletServer]) -> None:
        self._storage = backend.storage
        self._gets, self._lists, self._watches = GetHandler(backend), ListHandler(backend), WatchHandler(backend)
        self._creates = CreateHandler(backend)
        self._updates = UpdateHandler(backend, self._creates)
        self._patches = PatchHandler(backend, self._creates, self._updates)
        self._deletes = DeleteHandler(backend, self._lists)
        self._context = RESTContext(
            backend, self._updates, self._deletes, access.authenticator, access.accounts, kubelets
        )
        self._handlers: dict[RESTFactory, object] = {}
        self._storage_handlers: dict[ResourceType, StorageHandler] = {}
        self._verbs = self._routes()
        self._registry, self._epoch = backend.registry, -1
        self._found: dict[_Route, Handler] = {}  # of the registry's epoch

    def handler(self, request: ResourceRequest) -> Handler:
        """Return the handler of a request.

        Raises:
            StatusError: Nothing is served at the URL (404), or not with this method (405).
        """
        target, resource = request.target, request.resource
        if target.subresource in CONNECTED and not resource.is_custom and request.query.has("dryRun"):
            self._find(request)
            raise bad_request("dryRun is not supported")
        if self._epoch != self._registry.epoch:
            self._epoch = self._registry.epoch
            self._found.clear()
        route = resource, request.method, target.subresource, target.namespace == "", target.name == "", target.watch
        found = self._found.get(route)
        if found is None:
            found = self._found[route] = self._find(request)
        return found

    def _find(self, request: ResourceRequest) -> Handler:
        target, resource = request.target, request.resource
        if target.name and resource.namespaced and not target.namespace and not resource.is_custom:
            raise resource_not_served()
        is_readable = "list" in resource.verbs or "get" in resource.verbs
        if not is_readable and (target.name or (resource.namespaced and not target.namespace)):
            raise resource_not_served()  # a resource that is only created has no other URL than its collection
        if target.subresource and target.subresource not in resource.subresources:
            is_custom = resource.is_custom
            raise not_found(target.resource, target.name, target.group) if is_custom else resource_not_served()
        check_route(request)
        verb, handler = self._find_handler(request)
        if handler is None or (verb and verb not in resource.verbs):
            raise method_not_allowed()
        if resource.namespaced and not target.namespace and (target.name or verb in ("create", "deletecollection")):
            raise resource_not_served() if target.name else method_not_allowed()
        return handler

    def _routes(self) -> dict[tuple[str, str], tuple[str, Handler]]:
        """Return handlers by method and shape of the URL, with the verb that the resource must support ("": none)."""
        return {
            ("POST", "collection"): ("create", self._creates.create),
            ("GET", "collection"): ("list", self._list_or_watch),
            ("DELETE", "collection"): ("deletecollection", self._delete_collection),
            ("GET", "object"): ("get", self._get),
            ("PUT", "object"): ("update", self._updates.update),
            ("PATCH", "object"): ("patch", self._patches.patch),
            ("DELETE", "object"): ("delete", self._deletes.delete),
            ("GET", "part"): ("", self._gets.get),
            ("PUT", "part"): ("", self._updates.update),
            ("PATCH", "part"): ("", self._patches.patch),
        }

    def _find_handler(self, request: ResourceRequest) -> tuple[str, Handler | None]:
        """Return the verb that the kind must have, and the handler, None where the method is not allowed."""
        target, resource, method = request.target, request.resource, request.method
        if method == "HEAD" and resource.is_custom:
            method = "GET"
        storage = None if resource.rest_storage is None else self._storage_handler(resource, resource.rest_storage)
        verbs = self._verbs if storage is None else storage.routes
        if target.subresource in resource.parts:
            return verbs.get((method, "part"), ("", None))
        if target.subresource:
            factories = {**_CUSTOM_RESOURCE_REST, **resource.rest} if resource.is_custom else resource.rest
            factory = factories.get(target.subresource)
            if storage is not None and factory is not None:
                return "", partial(storage.call_subresource, factory=factory, method=REST_METHODS.get(method, ""))
            return "", self._subresource_handler(request, factory)
        if method == "POST" and not target.name and "" in resource.rest:
            return "create", self._rest(resource.rest[""], method)
        is_object = target.name and not (method == "POST" and resource.is_custom)  # which has the name of its body
        return verbs.get((method, "object" if is_object else "collection"), ("", None))

    def _subresource_handler(self, request: ResourceRequest, factory: RESTFactory | None) -> Handler | None:
        handler = self._rest(factory, request.method)
        if handler is None or request.resource.is_custom or request.target.subresource not in CONNECTED:
            return handler
        return partial(admitted_connection, self._context.backend, handler)

    def _storage_handler(self, resource: ResourceType, storage: ResourceStorage) -> StorageHandler:
        from pyctrl.apiserver._extension.storage_handler import StorageHandler  # here: extension API servers only

        if resource not in self._storage_handlers:
            self._storage_handlers[resource] = StorageHandler(self._context, resource, storage)
        return self._storage_handlers[resource]

    def _rest(self, factory: RESTFactory | None, method: str) -> Handler | None:
        if factory is None:
            return None
        if factory not in self._handlers:
            self._handlers[factory] = factory(self._context)
        handler: Handler | None = getattr(self._handlers[factory], REST_METHODS.get(method, ""), None)
        return handler

    def _list_or_watch(self, request: ResourceRequest) -> Response:
        if request.target.watch or request.query.flag("watch"):
            if "watch" not in request.resource.verbs:
                raise method_not_supported(request.target.resource, "watch", request.target.group)
            if request.form.media == YAML:
                raise not_acceptable_representation(STREAM_MEDIA_TYPES)
            return self._watches.watch(request)
        self._check_version(request)
        return self._lists.list(request)

    async def _delete_collection(self, request: ResourceRequest) -> Response:
        self._check_version(request)
        return await self._deletes.delete_collection(request)

    def _get(self, request: ResourceRequest) -> Response:
        if request.target.watch:
            return self._watches.watch(request)
        self._check_version(request)
        return self._gets.get(request)

    def _check_version(self, request: ResourceRequest) -> None:
        """Refuse a resource version that the storage has not reached; `handle` has waited for it."""
        version = requested_version(request.query.get("resourceVersion"))
        if version > self._storage.version:
            is_cached = not is_event(request.resource)
            raise too_large_resource_version(version, self._storage.version, is_cached=is_cached)
