"""Decoding of request bodies: JSON, YAML and protobuf, with kube-apiserver's errors for all others."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from pyctrl._go.json_errors import syntax_error
from pyctrl.apiserver._errors import (
    JSON,
    PROTOBUF,
    YAML,
    StatusError,
    UndecodableBody,
    bad_request,
    request_entity_too_large,
    unsupported_media_type,
)
from pyctrl.apiserver._serializer.strict import duplicate_field_errors

__all__ = [
    "BODY_LIMIT",
    "TYPE_META",
    "decode_json",
    "decode_object",
    "decode_strictly",
    "duplicate_members",
    "json_kind",
    "media_type",
    "number_text",
    "patch_type",
    "read_documents",
    "unrecognized_body",
]

BODY_LIMIT = 3 * 1024 * 1024  # bytes, as in kube-apiserver

EXCERPT = 30  # bytes of a body that an error shows

_decode_strict = msgspec.json.Decoder().decode

#: Escapes in JSON: a pair of surrogates, half a pair (the group), or another one.
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.", re.DOTALL
)

_STRING_OR_NUMBER = re.compile(rb'"(?:[^"\\]|\\.)*+"|(-?[0-9][0-9.eE+-]*+)', re.DOTALL)


def media_type(headers: Mapping[str, str], default: str = JSON) -> str:
    """Return the content type without parameters, `default` if it is absent."""
    value = headers.get("content-type", "")
    return _without_parameters(value) if value else default


@lru_cache(maxsize=256)  # a client sends the same few again and again
def _without_parameters(media_type: str) -> str:
    return media_type.partition(";")[0].strip().lower()


def patch_type(headers: Mapping[str, str]) -> str:
    """Return the content type of a patch without parameters, "" if it is absent. Upstream compares it as it is."""
    return headers.get("content-type", "").partition(";")[0].strip()


def _decode(body: bytes) -> Any:
    """Decode JSON. Half a pair of surrogates is the replacement character, as for Go's decoder."""
    try:
        return _decode_strict(body)
    except msgspec.DecodeError:
        replaced = _ESCAPE.sub(lambda match: rb"\ufffd" if match[1] else match[0], body)
        if replaced == body:
            raise
        return _decode_strict(replaced)


def decode_object(body: bytes, headers: Mapping[str, str], kind: str) -> dict[str, Any]:
    """Decode a body that must be an object of `kind`; "" means DeleteOptions.

    Raises:
        StatusError: 400, 413 or 415.
    """
    return decode_strictly(body, headers, kind)[0]


def decode_strictly(body: bytes, headers: Mapping[str, str], kind: str) -> tuple[dict[str, Any], list[str]]:
    """Decode a body that must be an object of `kind`; return it with errors about its duplicate fields.

    Raises:
        StatusError: 400, 413 or 415.
    """
    media, duplicates = media_type(headers), list[str]()
    if len(body) > BODY_LIMIT:
        raise request_entity_too_large(BODY_LIMIT)
    if media == JSON:
        decoded = _json_object(body, kind)
        duplicates = duplicate_members(body, decoded)
    elif media == YAML:
        decoded = _yaml_object(body, kind, duplicates)
    elif media == PROTOBUF:
        from pyctrl.apiserver._serializer.protobuf import (  # here: most servers get none
            DELETE_OPTIONS,
            decode_protobuf,
        )

        decoded = decode_protobuf(body, kind or DELETE_OPTIONS, unrecognized_body)
    else:
        raise unsupported_media_type()
    if decoded is None:
        return {}, []  # Go decodes null into a struct as the empty struct
    if not isinstance(decoded, dict):
        reason = f"json: cannot unmarshal {json_kind(decoded)} into Go value of type {TYPE_META}"
        raise _no_version_and_kind(kind, reason, body)
    _check_type_meta(decoded, kind, body)
    return decoded, duplicates


def _check_type_meta(obj: dict[str, Any], kind: str, body: bytes) -> None:
    for key in ("kind", "apiVersion"):
        if type(obj.get(key, "")) is not str and obj[key] is not None:
            reason = f"json: cannot unmarshal {json_kind(obj[key])} into Go struct field .{key} of type string"
            raise _no_version_and_kind(kind, reason, body)
    version = obj.get("apiVersion")
    if version and version.count("/") > 1:
        raise unrecognized_body(kind, f"unexpected GroupVersion string: {version}", body)


def _yaml_object(body: bytes, kind: str, duplicates: list[str]) -> Any:
    from pyctrl.apiserver._serializer.yaml_reader import read_yaml  # here: most clients send JSON

    try:
        return read_yaml(body, duplicates)
    except ValueError as error:
        raise unrecognized_body(kind, str(error), body) from None


def _json_object(body: bytes, kind: str) -> Any:
    try:
        return _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        why = syntax_error(body)
        if kind and not why and (why := _overflow(body)):
            raise UndecodableBody(kind, _version_of(body), why) from None
        why = why or "exceeded max depth"  # valid JSON, but nested too deeply for the decoder
        raise _no_version_and_kind(kind, why, body) from None


def _overflow(body: bytes) -> str:
    """Return Go's error for the first number in valid JSON that a float64 cannot hold; "" if there is none."""
    numbers = (found[1].decode() for found in _STRING_OR_NUMBER.finditer(body) if found[1])
    found = next((each for each in numbers if math.isinf(float(each))), "")
    return f"json: cannot unmarshal number {found} into Go value of type float64" if found else ""


def _version_of(body: bytes) -> str:
    """Return the version, without its group, of an object in valid JSON."""
    try:
        version = json.loads(body).get("apiVersion")
    except (ValueError, RecursionError, AttributeError):
        return ""
    return version.rpartition("/")[2] if isinstance(version, str) else ""


TYPE_META = r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'


def _no_version_and_kind(kind: str, why: str, body: bytes) -> StatusError:
    return unrecognized_body(kind, f"couldn't get version/kind; json parse error: {why}", body)


def unrecognized_body(kind: str, why: str, body: bytes) -> StatusError:
    """Return the error (400) for a body that is no object of `kind`, with the beginning of the body.

    For DeleteOptions, whose `kind` is "", the message is the reason alone.
    """
    if not kind:
        return bad_request(why)
    return bad_request(f"the object provided is unrecognized (must be of type {kind}): {why} ({_excerpt(body)})")


def _excerpt(body: bytes) -> str:
    if not body:
        return "<empty>"
    start = body[:EXCERPT]
    shown = start.decode("utf-8", "replace") if body.startswith(b"{") else start.hex()
    return shown if len(body) <= EXCERPT else f"{shown} ..."


def json_kind(value: object) -> str:
    """Return the kind of a JSON value as in the errors of Go's decoder."""
    names = ((bool, "bool"), (int, "number"), (float, "number"), (str, "string"), (list, "array"), (dict, "object"))
    return next((name for type_, name in names if isinstance(value, type_)), "null")


def decode_json(body: bytes) -> Any:
    """Decode any JSON value.

    Raises:
        ValueError: It is invalid; the message is that of Go's decoder.
    """
    try:
        return _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ValueError(syntax_error(body) or _overflow(body) or "invalid text") from None


class _NumberText(str):
    """The text of a number with a fraction or an exponent."""

    __slots__ = ()


def number_text(body: bytes, place: Sequence[str | int]) -> str:
    """Return the text of a number with a fraction or an exponent at a place in JSON; "" if it is not there."""
    try:
        found = json.loads(body, parse_float=_NumberText)
        for key in place:
            found = found[key]
    except (ValueError, LookupError, TypeError):  # YAML, or a body of which the object is a part
        return ""
    return found if isinstance(found, _NumberText) else ""


def duplicate_members(body: bytes, decoded: object) -> list[str]:
    """Return errors about duplicate members of objects in a JSON body.

    Most bodies have none. A cheap check finds that out: encoded again, such a body is the same, or has as many colons
    if it has spaces or escapes. A colon that the body has as an escape is one more, so these bodies are read again.
    """
    again = msgspec.json.encode(decoded)
    if again == body or (body.count(b":") <= again.count(b":") and not _has_escaped_colon(body)):
        return []
    return duplicate_field_errors(body)


def _has_escaped_colon(body: bytes) -> bool:
    return b"\\" in body and (b"\\u003a" in body or b"\\u003A" in body)  # first the search that costs nothing


def read_documents(text: bytes) -> Iterator[Any]:
    """Yield the documents of a YAML or JSON text, decoded as the server decodes bodies.

    Raises:
        ValueError: It is no YAML; the message is one line, with the line number if it is known.
    """
    from pyctrl.apiserver._serializer.yaml_reader import read_yaml_documents as read  # here: most clients send JSON

    return read(text, [])
