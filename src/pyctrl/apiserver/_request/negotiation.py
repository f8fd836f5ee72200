"""Content negotiation: the media type and the representation that `Accept` asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache

from pyctrl.apiserver._errors import (
    JSON,
    MEDIA_TYPES,
    PROTOBUF,
    STREAM_MEDIA_TYPES,
    YAML,
    bad_request,
    invalid_value,
    not_acceptable,
    not_acceptable_representation,
)

__all__ = [
    "MediaTypeOptions",
    "Representation",
    "check_produced",
    "negotiate_discovery",
    "negotiate_media_type",
    "negotiate_openapi",
    "with_table_options",
]


class Representation(Enum):
    """How much of an object a response carries."""

    WHOLE = "whole"
    METADATA = "PartialObjectMetadata"
    TABLE = "Table"


@dataclass(frozen=True, slots=True)
class MediaTypeOptions:
    """The accepted media type with its parameters."""

    media: str = JSON
    shape: Representation = Representation.WHOLE
    version: str = "v1"  # of meta.k8s.io, for tables
    kind: str = ""  # the parameter `as`, which names the representation
    include: str = "Metadata"  # the part of the object in each row of a table


_SHAPES = {
    "PartialObjectMetadata": Representation.METADATA,
    "PartialObjectMetadataList": Representation.METADATA,
    "Table": Representation.TABLE,
}
_TRANSFORMS = frozenset({"as", "g", "v"})  # the parameters of another representation
_INCLUDED = ("Metadata", "Object", "None")
_MEDIA = {JSON: JSON, "*/*": JSON, YAML: YAML}
_DISCOVERY_MEDIA = {**_MEDIA, "application/*": JSON, PROTOBUF: JSON}


@lru_cache(maxsize=256)
def negotiate_media_type(
    accept: str, *, may_stream: bool = False, is_custom: bool = False, produced: tuple[str, ...] = ()
) -> MediaTypeOptions:
    """Return the first media type of `Accept` that the server supports.

    Args:
        produced: Media types that the route has besides those of objects.

    Raises:
        StatusError: 406, the server supports none of them; custom resources have another message.
    """
    if not accept:
        return MediaTypeOptions()
    clauses = _clauses(accept)
    if not any(media in _MEDIA or media in produced for media, *_ in clauses):
        if is_custom:
            raise not_acceptable_representation()
        raise not_acceptable((*produced, *MEDIA_TYPES, *(STREAM_MEDIA_TYPES if may_stream else ())))
    for media, *parameters in clauses:
        found = _MEDIA.get(media)
        if found is None:
            continue
        options = _options(parameters)
        if options.get("sv", "v1") not in ("", "v1") or options.get("stream", "watch") not in ("", "watch"):
            continue
        if not _TRANSFORMS & options.keys():
            return MediaTypeOptions(found)
        wanted = options.get("as", "")
        if wanted in _SHAPES and options.get("g") == "meta.k8s.io" and options.get("v") in ("v1", "v1beta1"):
            return MediaTypeOptions(found, _SHAPES[wanted], options["v"], wanted)
    raise not_acceptable_representation()


@lru_cache(maxsize=256)
def negotiate_discovery(accept: str, *, has_aggregated: bool, is_routed: bool = True) -> tuple[str, bool]:
    """Return the accepted media type of a discovery document, and whether it is the aggregated form.

    A client that accepts only protobuf gets JSON, which clients read by the content type of the response.

    Args:
        is_routed: Whether kube-apiserver's router looks at the media type before the document does.

    Raises:
        StatusError: 406, the server supports no accepted type.
    """
    clauses = _clauses(accept or JSON)
    if is_routed and not {*MEDIA_TYPES, "*/*", ""} & _accepted(accept):
        raise not_acceptable()
    for media, *parameters in clauses:
        found, options = _DISCOVERY_MEDIA.get(media), _options(parameters)
        if found is None:
            continue
        if not options.get("as"):
            return found, False
        if has_aggregated and (options["as"], options.get("v")) == ("APIGroupDiscoveryList", "v2"):
            return found, True
    raise not_acceptable_representation()


def with_table_options(form: MediaTypeOptions, include: str, *, has_table: bool) -> MediaTypeOptions:
    """Return the media type of a table with the query parameter `includeObject`; "" means Metadata.

    Raises:
        StatusError: 400, the parameter has another value; 406, the resource has no table.
    """
    if not include and has_table:
        return form
    if include and include not in _INCLUDED:
        wrong = invalid_value("includeObject", include, "must be 'Metadata', 'Object', 'None', or empty")
        raise bad_request(f"Unable to convert to Table as requested: includeObject: {wrong.message}")
    if not has_table:
        raise not_acceptable_representation()
    return replace(form, include=include)


def check_produced(accept: str, media: str) -> None:
    """Check that a client accepts the one media type of a document that is no object.

    Raises:
        StatusError: 406; `application/*` does not include it, as upstream.
    """
    if not {media, "*/*", ""} & _accepted(accept):
        raise not_acceptable([media])


@lru_cache(maxsize=256)
def negotiate_openapi(accept: str, version: str) -> str:
    """Return the media type of an OpenAPI document of a version, such as v3, for a client; "" if it accepts none."""
    protobuf = f"application/com.github.proto-openapi.spec.{version}.v1.0+protobuf"
    deprecated = f"application/com.github.proto-openapi.spec.{version}@v1.0+protobuf"
    known = {JSON: JSON, "application/*": JSON, "*/*": JSON, protobuf: protobuf, deprecated: protobuf}
    return next((known[media] for media, *_ in _clauses(accept or "*/*") if media in known), "")


def _clauses(accept: str) -> list[list[str]]:
    """Return the clauses of `Accept` by preference, each a media type and its parameters."""
    clauses = [[part.strip() for part in clause.split(";")] for clause in accept.split(",")]
    return sorted(clauses, key=_preference)


def _accepted(accept: str) -> set[str]:
    return {each.partition(";")[0].strip() for each in accept.split(",")}


def _options(parameters: list[str]) -> dict[str, str]:
    return {name: value for name, _, value in (part.partition("=") for part in parameters)}


def _preference(clause: list[str]) -> float:
    try:
        return -float(_options(clause[1:]).get("q", 1))
    except ValueError:
        return -1.0
