"""Objects that create, update and patch receive: read from the body, decoded as their resource, tracked."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pyctrl.apiserver._endpoints.backend import check_kind, check_type_meta
from pyctrl.apiserver._errors import JSON, UndecodableBody
from pyctrl.apiserver._fieldmanager.managed_fields import update_managed_fields
from pyctrl.apiserver._request.options import WriteOptions
from pyctrl.apiserver._request.request import ResourceRequest
from pyctrl.apiserver._resources.served_resources import ServedResources
from pyctrl.apiserver._schema.raw_json import keep_texts
from pyctrl.apiserver._schema.typed import DecodeFailed
from pyctrl.apiserver._serializer.decoding import BODY_LIMIT, decode_strictly, media_type, number_text

__all__ = ["decode_as_resource", "read_request_object", "track_managed_fields"]

_REPEATED_OWNERS = (
    ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject "
    "such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: "
)


def read_request_object(request: ResourceRequest, options: WriteOptions, served: ServedResources) -> dict[str, Any]:
    """Return the object in the body of a request, decoded and defaulted."""
    resource, body = request.resource, request.body
    if media_type(request.headers) == JSON and len(body) <= BODY_LIMIT:
        declared = resource.read_declared(body)
        if declared is not None:
            decode_as_resource(declared, request, options, [], is_declared=True)
            return declared
    obj, duplicates = decode_strictly(body, request.headers, resource.kind)
    if obj.get("kind") != resource.kind or obj.get("apiVersion") != resource.api_version:
        check_type_meta(obj, resource, body)
        check_kind(obj, resource, served)
    if resource.raw_paths and media_type(request.headers) == JSON:
        keep_texts(obj, body, resource.raw_paths)
    try:
        decode_as_resource(obj, request, options, duplicates)
    except UndecodableBody as unfit:
        raise _with_number(unfit, request) from None
    return obj


def _with_number(unfit: UndecodableBody, request: ResourceRequest) -> UndecodableBody:
    """Return the error with the number that does not fit as the client wrote it: 1e3, which decoded is 1000.0."""
    failed, resource = unfit.__cause__, request.resource
    if not isinstance(failed, DecodeFailed) or resource.is_custom:
        return unfit
    text = number_text(request.body, failed.place)
    return UndecodableBody(resource.kind, resource.version, failed.with_number(text)) if text else unfit


def decode_as_resource(
    obj: dict[str, Any],
    request: ResourceRequest,
    options: WriteOptions,
    duplicates: list[str],
    *,
    is_applied: bool = False,
    kept: Collection[str] = (),
    is_declared: bool = False,
) -> list[str]:
    """Decode and default an object in place, as the resource of the request.

    Args:
        is_applied: The object is the result of a server-side apply. Fields that its schema does not have were refused
            before, or are dropped in silence.
        kept: Fields that are decoded and defaulted already.
        is_declared: All keys and types are declared by the schema of the resource.

    Returns:
        The fields that were dropped from the result of an apply.
    """
    dropped: list[str] = []
    validation, warnings = "Ignore" if is_applied else options.field_validation, request.warnings
    request.decoded_fields = request.resource.decode(
        obj,
        field_validation=validation,
        warnings=warnings,
        duplicates=duplicates,
        dropped_by_apply=dropped if is_applied else None,
        kept=kept,
        is_declared=is_declared,
    )
    if len(obj["metadata"].get("ownerReferences") or ()) > 1:
        _drop_repeated_owners(obj["metadata"], warnings)
    return dropped


def _drop_repeated_owners(metadata: dict[str, Any], warnings: list[str]) -> None:
    owners, repeated = list[Any](), list[str]()
    for owner in metadata["ownerReferences"]:
        if owner in owners:
            repeated.append(owner.get("uid", ""))
        else:
            owners.append(owner)
    metadata["ownerReferences"] = owners
    if repeated:
        warnings.append(f"{_REPEATED_OWNERS}{', '.join(repeated)}")


def track_managed_fields(request: ResourceRequest, new: dict[str, Any], old: dict[str, Any] | None) -> None:
    """Record in `new` that the field manager of the request changed what differs from `old`."""
    update_managed_fields(
        new,
        old,
        manager=request.manager,
        operation="Update",
        api_version=request.resource.api_version,
        subresource=request.target.subresource or None,
        type=request.resource,
        decoded_fields=request.decoded_fields,
    )
