"""Admission of objects that are posted to a subresource of a pod: a Binding, an Eviction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyctrl.apiserver._admission import CREATE, Attributes, Kind
from pyctrl.apiserver._endpoints.backend import RESTStorage, check_namespace_matches, metadata_of
from pyctrl.apiserver._endpoints.response_writers import value_response
from pyctrl.apiserver._endpoints.typed_bodies import decode_subresource_object
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._request.options import WriteOptions
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._serializer.strict import report_unknown

__all__ = ["created_response"]


async def admit_posted(
    backend: RESTStorage,
    request: ResourceRequest,
    kind: Kind,
    obj: dict[str, Any],
    options: WriteOptions,
    check: Callable[[dict[str, Any]], None] = lambda _: None,
) -> dict[str, Any]:
    """Decode and admit an object of a subresource's own kind, and return it as admission left it.

    Args:
        check: Raises when the object is wrong; called between mutating and validating admission.
    """
    unknown: list[str] = []
    obj = decode_subresource_object(obj, kind, backend.registry.components, unknown, body=request.body)
    report_unknown(kind.kind, kind.version, unknown, (), options.field_validation, request.warnings)
    metadata = metadata_of(obj, request.resource)
    check_namespace_matches(metadata, request)
    name = request.target.name or metadata.get("name", "")
    attributes = Attributes(operation=CREATE, request=request, object=obj, name=name, options=options, own_kind=kind)
    await backend.admission.mutate(attributes)
    check(attributes.object or obj)
    await backend.admission.validate(attributes)
    return attributes.object or obj


def created_response(request: ResourceRequest) -> Response:
    """Return the Status that answers a POST to such a subresource."""
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}
    return value_response(status, request.form, 201)
