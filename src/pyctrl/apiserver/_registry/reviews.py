"""Creation of reviews: requests in the form of objects, which the server answers and does not store."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from pyctrl.apiserver._admission import CREATE, Attributes
from pyctrl.apiserver._endpoints.backend import check_kind, check_namespace_matches, metadata_of
from pyctrl.apiserver._endpoints.response_writers import value_response
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._fieldmanager.managed_fields import update_managed_fields
from pyctrl.apiserver._meta.system_fields import omit_empty
from pyctrl.apiserver._request.options import write_options
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._resources.resource_type import with_type_meta
from pyctrl.apiserver._serializer.decoding import decode_object, duplicate_members

if TYPE_CHECKING:
    from pyctrl.apiserver._registry.builtin_resource import RESTContext

__all__ = ["ReviewREST"]


class ReviewREST(ABC):
    """POST of a review: decode, admit and answer it."""

    def __init__(self, context: RESTContext) -> None:
        self._backend = context.backend
        self._authenticator = context.authenticator

    @abstractmethod
    def answer(self, review: dict[str, Any], request: ResourceRequest) -> dict[str, Any]:
        """Return a review with its status."""

    async def create(self, request: ResourceRequest) -> Response:
        """Answer a POST."""
        resource = request.resource
        options = write_options(request.query, "CreateOptions")
        review = decode_object(request.body, request.headers, resource.kind)
        duplicates = duplicate_members(request.body, review)
        check_kind(review, resource, self._backend.registry)
        metadata_of(review, resource)
        validation, warnings = options.field_validation, request.warnings
        resource.decode(review, field_validation=validation, warnings=warnings, duplicates=duplicates)
        check_namespace_matches(review["metadata"], request)
        omit_empty(review["metadata"])
        _track(request, review)
        attributes = Attributes(operation=CREATE, request=request, object=review, name="", options=options)
        await self._backend.admission.mutate(attributes)
        await self._backend.admission.validate(attributes)
        review = attributes.object or review
        return value_response(with_type_meta(self.answer(review, request), resource), request.form, 201)


def _track(request: ResourceRequest, review: dict[str, Any]) -> None:
    update_managed_fields(
        review,
        None,
        manager=request.manager,
        operation="Update",
        api_version=request.resource.api_version,
        subresource=None,
        type=request.resource,
    )
