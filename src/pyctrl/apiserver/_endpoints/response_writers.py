"""Response writers: stored objects and values in the representation and media type that the client accepts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from pyctrl.apiserver._errors import YAML, Response, StatusError, not_acceptable_for_list, unknown_error
from pyctrl.apiserver._meta.external_annotations import internal_metadata_json
from pyctrl.apiserver._request.negotiation import MediaTypeOptions, Representation, negotiate_media_type
from pyctrl.apiserver._resources.resource_type import with_type_meta
from pyctrl.apiserver._storage.encoding import encode_object
from pyctrl.apiserver._storage.storage import StoredObject

if TYPE_CHECKING:
    from pyctrl.apiserver._resources.resource_type import ResourceType

__all__ = [
    "bytes_response",
    "check_list_representation",
    "encode_list_item",
    "encode_representation",
    "encode_table",
    "metadata_only",
    "object_response",
    "refusal_response",
    "unstored_response",
    "value_response",
]


def object_response(
    stored: StoredObject, resource: ResourceType, form: MediaTypeOptions, status: int = 200
) -> Response:
    """Return a response with one object.

    Raises:
        StatusError: 406 (500 for a custom resource), the client accepts only the metadata of a list.
    """
    if form.shape is Representation.WHOLE:
        return bytes_response(stored.view(resource), form, status)
    _check_object_representation(resource, form)
    if form.shape is Representation.TABLE:
        return bytes_response(
            encode_table(resource, [stored], form, {"resourceVersion": str(stored.version)}), form, status
        )
    return bytes_response(metadata_only(stored.view(resource), form.version), form, status)


def unstored_response(
    obj: dict[str, Any], resource: ResourceType, form: MediaTypeOptions, status: int = 200
) -> Response:
    """Return a response with an object that is not stored: of a dry run, or one that was removed.

    Raises:
        StatusError: As `object_response`.
    """
    obj = with_type_meta(obj, resource)
    if form.shape is Representation.WHOLE:
        return bytes_response(encode_object(obj), form, status)
    _check_object_representation(resource, form)
    if form.shape is Representation.METADATA:
        return bytes_response(metadata_only(encode_object(obj), form.version), form, status)
    from pyctrl.apiserver._endpoints.tables import convert_to_table  # here: only kubectl accepts tables

    version = obj["metadata"].get("resourceVersion")
    metadata = {"resourceVersion": version} if version else {}
    table = convert_to_table(resource, [obj], metadata=metadata, version=form.version, include=form.include)
    return value_response(table, form, status)


def _check_object_representation(resource: ResourceType, form: MediaTypeOptions) -> None:
    """Refuse one object for a client that accepts only the metadata of a list."""
    if form.kind == "PartialObjectMetadataList":
        if resource.is_custom:
            raise unknown_error("content is not a list")
        raise not_acceptable_for_list(form.kind, _go_type(resource), is_list=False)


def check_list_representation(resource: ResourceType, form: MediaTypeOptions) -> None:
    """Refuse (406) a list for a client that accepts only the metadata of one object."""
    if form.kind == "PartialObjectMetadata":
        raise not_acceptable_for_list(form.kind, f"{_go_type(resource)}List", is_list=True)


def _go_type(resource: ResourceType) -> str:
    if resource.is_custom:
        return "*unstructured.Unstructured"
    return f"*{resource.storage_group.partition('.')[0] or 'core'}.{resource.kind}"


def refusal_response(refusal: StatusError, headers: Mapping[str, str]) -> Response:
    """Return the response of a refused request: in YAML if the client accepts YAML, else in JSON."""
    response = refusal.response()
    if YAML not in headers.get("accept", ""):
        return response
    try:
        form = negotiate_media_type(headers["accept"])
    except StatusError:  # it accepts nothing that the server has
        return response
    accepted = bytes_response(msgspec.json.encode(refusal.status), form, refusal.code)
    return replace(accepted, headers=(*accepted.headers, *refusal.headers))


def value_response(value: Any, form: MediaTypeOptions, status: int = 200) -> Response:
    """Return a response with any JSON value."""
    return bytes_response(msgspec.json.encode(value), form, status)


def bytes_response(data: bytes, form: MediaTypeOptions, status: int = 200) -> Response:
    """Return a response with encoded JSON, converted to YAML if the client accepts YAML."""
    if form.media == YAML:
        from pyctrl.apiserver._serializer.yaml_writer import write_yaml  # here: most clients accept JSON

        body = write_yaml(msgspec.json.decode(data))
        return Response(status=status, headers=(("Content-Type", YAML),), body=body)
    return Response(status=status, body=data)


def encode_representation(stored: StoredObject, resource: ResourceType, form: MediaTypeOptions) -> bytes:
    """Encode one object, whole or its metadata."""
    data = stored.view(resource)
    return metadata_only(data, form.version) if form.shape is Representation.METADATA else data


class _MetadataOnly(msgspec.Struct, rename="camel"):
    metadata: msgspec.Raw
    kind: str = ""
    api_version: str = ""


_decode_metadata = msgspec.json.Decoder(_MetadataOnly).decode


def metadata_only(data: bytes, version: str = "v1") -> bytes:
    """Return the `PartialObjectMetadata` of an encoded object, without decoding the object."""
    head = f'{{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/{version}","metadata":'
    found = _decode_metadata(data)
    return head.encode() + internal_metadata_json(bytes(found.metadata), found.api_version, found.kind) + b"}"


def encode_table(
    resource: ResourceType, objects: list[StoredObject], form: MediaTypeOptions, metadata: Mapping[str, Any]
) -> bytes:
    """Encode objects as a `Table`."""
    from pyctrl.apiserver._endpoints.tables import convert_to_table  # here: only kubectl accepts tables

    read = [stored.read(resource) for stored in objects]
    written = [stored.decode() for stored in objects] if resource.cells_are_of_written else read
    return msgspec.json.encode(
        convert_to_table(
            resource, read, metadata=dict(metadata), version=form.version, include=form.include, written=written
        )
    )


def encode_list_item(data: bytes, resource: ResourceType) -> bytes:
    """Encode an object as an item of its own list: built-in kinds leave out kind and apiVersion there."""
    if resource.is_custom:
        return data
    prefix = _type_prefix(resource.api_version, resource.kind)
    return b"{" + data[len(prefix) :] if data.startswith(prefix) else data


@lru_cache(maxsize=1024)
def _type_prefix(version: str, kind: str) -> bytes:
    return msgspec.json.encode({"kind": kind, "apiVersion": version})[:-1] + b","
