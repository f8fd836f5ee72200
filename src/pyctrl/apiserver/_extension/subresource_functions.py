"""Subresources of an extension API server that are functions."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from pyctrl.apiserver._endpoints.response_writers import value_response
from pyctrl.apiserver._errors import Response, method_not_allowed
from pyctrl.apiserver._extension.storage_handler import translated
from pyctrl.apiserver._registry.builtin_resource import RESTContext
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._resources.resource_storage import StorageRequest
from pyctrl.apiserver._serializer.decoding import decode_strictly

__all__ = ["FunctionREST", "SubresourceFunctions"]

Object: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubresourceFunctions:
    """Functions that answer the requests for a subresource. Each gets the object that the URL names.

    Attributes:
        kind: The kind of bodies and responses.
        get: Returns the response to GET.
        create: Returns the response to POST, for the decoded body.
    """

    kind: str
    get: Callable[[StorageRequest, Object], Awaitable[Object]] | None = None
    create: Callable[[StorageRequest, Object, Object], Awaitable[Object]] | None = None

    @property
    def verbs(self) -> tuple[str, ...]:
        """The verbs of the subresource."""
        has = {"create": self.create is not None, "get": self.get is not None}
        return tuple(verb for verb, is_served in has.items() if is_served)


class FunctionREST:
    """GET and POST of a subresource."""

    def __init__(self, functions: SubresourceFunctions, context: RESTContext) -> None:
        self._backend, self._functions = context.backend, functions

    async def get(self, request: ResourceRequest) -> Response:
        """Answer GET."""
        if self._functions.get is None:
            raise method_not_allowed()
        answer = self._functions.get(*self._arguments(request))
        return value_response(await translated(answer, request), request.form)

    async def create(self, request: ResourceRequest) -> Response:
        """Answer POST."""
        if self._functions.create is None:
            raise method_not_allowed()
        body, _ = decode_strictly(request.body, request.headers, self._functions.kind)
        answer = self._functions.create(*self._arguments(request), body)
        return value_response(await translated(answer, request), request.form, 201)

    def _arguments(self, request: ResourceRequest) -> tuple[StorageRequest, Object]:
        live = self._backend.live(request).read(request.resource)
        return StorageRequest(user=request.user, namespace=request.target.namespace), live
