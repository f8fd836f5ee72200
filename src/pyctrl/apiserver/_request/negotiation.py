"""The forms an object is answered in: whole, metadata only, as a row of a table; in JSON or YAML.

`Accept` is read here, and here the stored bytes become the bytes that a client asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec
from typing_extensions import TypeIs

from pyctrl.apiserver._apiextensions.custom_type import CustomResourceType
from pyctrl.apiserver._errors import (
    JSON,
    MEDIA_TYPES,
    STREAM_MEDIA_TYPES,
    Response,
    bad_request,
    invalid_value,
    not_acceptable,
    not_acceptable_for_list,
    not_acceptable_representation,
)
from pyctrl.apiserver._storage.storage import StoredObject, api_version

if TYPE_CHECKING:
    from pyctrl.apiserver._registry.resources import ResourceType

YAML = "application/yaml"


class Representation(Enum):
    """How much of an object is answered."""

    WHOLE = "whole"
    METADATA = "PartialObjectMetadata"
    TABLE = "Table"


@dataclass(frozen=True, slots=True)
class MediaTypeOptions:
    """What `Accept` asked for."""

    media: str = JSON
    shape: Representation = Representation.WHOLE
    version: str = "v1"  # of meta.k8s.io, for tables
    kind: str = ""  # as which the shape was asked for
    include: str = "Metadata"  # of the object, in each row of a table


_SHAPES = {
    "PartialObjectMetadata": Representation.METADATA,
    "PartialObjectMetadataList": Representation.METADATA,
    "Table": Representation.TABLE,
}
_INCLUDED = ("Metadata", "Object", "None")
_MEDIA = {JSON: JSON, "*/*": JSON, YAML: YAML}


@lru_cache(maxsize=256)
def negotiate_media_type(accept: str, *, may_stream: bool = False) -> MediaTypeOptions:
    """Choose the first form in `Accept` that the server has.

    Raises:
        Refused: 406, it has none of them.
    """
    if not accept:
        return MediaTypeOptions()
    clauses = [[part.strip() for part in clause.split(";")] for clause in accept.split(",")]
    if not any(media in _MEDIA for media, *_ in clauses):
        raise not_acceptable((*MEDIA_TYPES, *STREAM_MEDIA_TYPES) if may_stream else MEDIA_TYPES)
    for media, *parameters in sorted(clauses, key=_preference):
        found = _MEDIA.get(media)
        if found is None:
            continue
        options = _options(parameters)
        wanted = options.get("as", "")
        if not wanted:
            return MediaTypeOptions(found)
        if wanted in _SHAPES and options.get("g") == "meta.k8s.io" and options.get("v") in ("v1", "v1beta1"):
            return MediaTypeOptions(found, _SHAPES[wanted], options["v"], wanted)
    raise not_acceptable_representation()


def with_table_options(form: MediaTypeOptions, include: str) -> MediaTypeOptions:
    """Add the query parameter `includeObject` to a form, which only tables have; "" means Metadata.

    Raises:
        Refused: 400, it has none of its values.
    """
    if form.shape is not Representation.TABLE or not include:
        return form
    if include not in _INCLUDED:
        wrong = invalid_value("includeObject", include, "must be 'Metadata', 'Object', 'None', or empty")
        raise bad_request(f"Unable to convert to Table as requested: includeObject: {wrong.message}")
    return replace(form, include=include)


def _options(parameters: list[str]) -> dict[str, str]:
    return {name: value for name, _, value in (part.partition("=") for part in parameters)}


def _preference(clause: list[str]) -> float:
    try:
        return -float(_options(clause[1:]).get("q", 1))
    except ValueError:
        return -1.0


class _MetadataOnly(msgspec.Struct):
    metadata: msgspec.Raw


_decode_metadata = msgspec.json.Decoder(_MetadataOnly).decode


def metadata_only(data: bytes) -> bytes:
    """Give the `PartialObjectMetadata` of an encoded object, without decoding the object."""
    metadata = bytes(_decode_metadata(data).metadata)
    return b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":' + metadata + b"}"


def encode_representation(stored: StoredObject, resource: ResourceType, shape: Representation) -> bytes:
    """Encode one object in a shape that needs no table."""
    data = stored.view(resource)
    return metadata_only(data) if shape is Representation.METADATA else data


def encode_table(
    resource: ResourceType, objects: list[StoredObject], form: MediaTypeOptions, metadata: Mapping[str, Any]
) -> bytes:
    """Encode objects as a `Table`."""
    from pyctrl.apiserver._endpoints.tables import convert_to_table  # here: only kubectl asks for tables

    read = [stored.read(resource) for stored in objects]
    return msgspec.json.encode(
        convert_to_table(resource, read, metadata=dict(metadata), version=form.version, include=form.include)
    )


def object_response(
    stored: StoredObject, resource: ResourceType, form: MediaTypeOptions, status: int = 200
) -> Response:
    """Answer with one object in the form asked for."""
    if form.kind == "PartialObjectMetadataList":
        raise not_acceptable_for_list(form.kind, _go_type(resource), is_list=False)
    if form.shape is Representation.TABLE:
        return bytes_response(
            encode_table(resource, [stored], form, {"resourceVersion": str(stored.version)}), form, status
        )
    return bytes_response(encode_representation(stored, resource, form.shape), form, status)


def check_list_representation(resource: ResourceType, form: MediaTypeOptions) -> None:
    """Refuse (406) to answer a list in the form of one object."""
    if form.kind == "PartialObjectMetadata":
        raise not_acceptable_for_list(form.kind, f"{_go_type(resource)}List", is_list=True)


def _go_type(resource: ResourceType) -> str:
    if is_custom(resource):
        return "*unstructured.Unstructured"
    return f"*{resource.storage_group.partition('.')[0] or 'core'}.{resource.kind}"


def value_response(value: Any, form: MediaTypeOptions, status: int = 200) -> Response:
    """Answer with any JSON value."""
    return bytes_response(msgspec.json.encode(value), form, status)


def bytes_response(data: bytes, form: MediaTypeOptions, status: int = 200) -> Response:
    """Answer with encoded JSON, turned into YAML when that was asked for."""
    if form.media == YAML:
        import yaml  # here: only who asks for YAML pays for it

        text: str = yaml.safe_dump(msgspec.json.decode(data), sort_keys=True)
        return Response(status=status, headers=(("Content-Type", YAML),), body=text.encode())
    return Response(status=status, body=data)


@lru_cache(maxsize=1024)
def _type_prefix(version: str, kind: str) -> bytes:
    return msgspec.json.encode({"kind": kind, "apiVersion": version})[:-1] + b","


def is_custom(resource: ResourceType) -> TypeIs[CustomResourceType]:
    """Whether a definition brought this resource; some answers differ in form."""
    return isinstance(resource, CustomResourceType)


def encode_list_item(data: bytes, resource: ResourceType) -> bytes:
    """Encode an object as an item of its own list: built-in kinds do not repeat kind and apiVersion there."""
    if is_custom(resource):
        return data
    prefix = _type_prefix(api_version(resource), resource.kind)
    return b"{" + data[len(prefix) :] if data.startswith(prefix) else data


def with_type_meta(obj: dict[str, Any], resource: ResourceType) -> dict[str, Any]:
    """Give the object with kind, apiVersion and metadata in front, as kube-apiserver writes them."""
    rest = {key: value for key, value in obj.items() if key not in ("kind", "apiVersion", "metadata")}
    return {"kind": resource.kind, "apiVersion": api_version(resource), "metadata": obj["metadata"], **rest}
