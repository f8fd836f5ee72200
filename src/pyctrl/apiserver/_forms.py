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

from pyctrl.apiserver._answers import (
    JSON,
    MEDIA_TYPES,
    STREAMS,
    Answer,
    bad_request,
    invalid_value,
    no_such_form,
    not_acceptable,
    wrong_number,
)
from pyctrl.apiserver._custom_type import CustomType
from pyctrl.apiserver._storage import Stored, api_version

if TYPE_CHECKING:
    from pyctrl.apiserver._resources import ResourceType

YAML = "application/yaml"


class Shape(Enum):
    """How much of an object is answered."""

    WHOLE = "whole"
    METADATA = "PartialObjectMetadata"
    TABLE = "Table"


@dataclass(frozen=True, slots=True)
class Form:
    """What `Accept` asked for."""

    media: str = JSON
    shape: Shape = Shape.WHOLE
    version: str = "v1"  # of meta.k8s.io, for tables
    kind: str = ""  # as which the shape was asked for
    include: str = "Metadata"  # of the object, in each row of a table


_SHAPES = {"PartialObjectMetadata": Shape.METADATA, "PartialObjectMetadataList": Shape.METADATA, "Table": Shape.TABLE}
_INCLUDED = ("Metadata", "Object", "None")
_MEDIA = {JSON: JSON, "*/*": JSON, YAML: YAML}


@lru_cache(maxsize=256)
def accepted_form(accept: str, *, may_stream: bool = False) -> Form:
    """Choose the first form in `Accept` that the server has.

    Raises:
        Refused: 406, it has none of them.
    """
    if not accept:
        return Form()
    clauses = [[part.strip() for part in clause.split(";")] for clause in accept.split(",")]
    if not any(media in _MEDIA for media, *_ in clauses):
        raise not_acceptable((*MEDIA_TYPES, *STREAMS) if may_stream else MEDIA_TYPES)
    for media, *parameters in sorted(clauses, key=_preference):
        found = _MEDIA.get(media)
        if found is None:
            continue
        options = _options(parameters)
        wanted = options.get("as", "")
        if not wanted:
            return Form(found)
        if wanted in _SHAPES and options.get("g") == "meta.k8s.io" and options.get("v") in ("v1", "v1beta1"):
            return Form(found, _SHAPES[wanted], options["v"], wanted)
    raise no_such_form()


def with_table_options(form: Form, include: str) -> Form:
    """Add the query parameter `includeObject` to a form, which only tables have; "" means Metadata.

    Raises:
        Refused: 400, it has none of its values.
    """
    if form.shape is not Shape.TABLE or not include:
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


class _Metadata(msgspec.Struct):
    metadata: msgspec.Raw


_decode_metadata = msgspec.json.Decoder(_Metadata).decode


def metadata_only(data: bytes) -> bytes:
    """Give the `PartialObjectMetadata` of an encoded object, without decoding the object."""
    metadata = bytes(_decode_metadata(data).metadata)
    return b'{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":' + metadata + b"}"


def shaped(stored: Stored, resource: ResourceType, shape: Shape) -> bytes:
    """Encode one object in a shape that needs no table."""
    data = stored.view(resource)
    return metadata_only(data) if shape is Shape.METADATA else data


def table_of(resource: ResourceType, objects: list[Stored], form: Form, metadata: Mapping[str, Any]) -> bytes:
    """Encode objects as a `Table`."""
    from pyctrl.apiserver._tables import table  # here: only kubectl asks for tables

    read = [stored.read(resource) for stored in objects]
    return msgspec.json.encode(
        table(resource, read, metadata=dict(metadata), version=form.version, include=form.include)
    )


def answer_object(stored: Stored, resource: ResourceType, form: Form, status: int = 200) -> Answer:
    """Answer with one object in the form asked for."""
    if form.kind == "PartialObjectMetadataList":
        raise wrong_number(form.kind, _go_type(resource), is_list=False)
    if form.shape is Shape.TABLE:
        return answer_bytes(table_of(resource, [stored], form, {"resourceVersion": str(stored.version)}), form, status)
    return answer_bytes(shaped(stored, resource, form.shape), form, status)


def check_list_form(resource: ResourceType, form: Form) -> None:
    """Refuse (406) to answer a list in the form of one object."""
    if form.kind == "PartialObjectMetadata":
        raise wrong_number(form.kind, f"{_go_type(resource)}List", is_list=True)


def _go_type(resource: ResourceType) -> str:
    if is_custom(resource):
        return "*unstructured.Unstructured"
    return f"*{resource.storage_group.partition('.')[0] or 'core'}.{resource.kind}"


def answer_value(value: Any, form: Form, status: int = 200) -> Answer:
    """Answer with any JSON value."""
    return answer_bytes(msgspec.json.encode(value), form, status)


def answer_bytes(data: bytes, form: Form, status: int = 200) -> Answer:
    """Answer with encoded JSON, turned into YAML when that was asked for."""
    if form.media == YAML:
        import yaml  # here: only who asks for YAML pays for it

        text: str = yaml.safe_dump(msgspec.json.decode(data), sort_keys=True)
        return Answer(status=status, headers=(("Content-Type", YAML),), body=text.encode())
    return Answer(status=status, body=data)


@lru_cache(maxsize=1024)
def _type_prefix(version: str, kind: str) -> bytes:
    return msgspec.json.encode({"kind": kind, "apiVersion": version})[:-1] + b","


def is_custom(resource: ResourceType) -> TypeIs[CustomType]:
    """Whether a definition brought this resource; some answers differ in form."""
    return isinstance(resource, CustomType)


def list_item(data: bytes, resource: ResourceType) -> bytes:
    """Encode an object as an item of its own list: built-in kinds do not repeat kind and apiVersion there."""
    if is_custom(resource):
        return data
    prefix = _type_prefix(api_version(resource), resource.kind)
    return b"{" + data[len(prefix) :] if data.startswith(prefix) else data


def typed_first(obj: dict[str, Any], resource: ResourceType) -> dict[str, Any]:
    """Give the object with kind, apiVersion and metadata in front, as kube-apiserver writes them."""
    rest = {key: value for key, value in obj.items() if key not in ("kind", "apiVersion", "metadata")}
    return {"kind": resource.kind, "apiVersion": api_version(resource), "metadata": obj["metadata"], **rest}
