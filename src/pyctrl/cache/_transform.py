"""Transforms that make objects smaller before they are stored."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

from pyctrl._json import UNREADABLE

__all__ = ["BytesTransform", "Transform", "bytes_transform", "strip_managed_fields"]

#: Changes a decoded object before it is stored, to drop fields that are not read. It may change its argument.
Transform: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
#: The same for an object as JSON.
BytesTransform: TypeAlias = Callable[[bytes], bytes]

log = logging.getLogger("pyctrl.cache")

METADATA = b'"metadata":{'
MANAGED_FIELDS = b'"managedFields":'


class _Metadata(msgspec.Struct, gc=False, rename="camel"):
    managed_fields: msgspec.Raw = msgspec.Raw()


class _Object(msgspec.Struct, gc=False):
    metadata: _Metadata


_find = msgspec.json.Decoder(_Object).decode
_split = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_encode = msgspec.json.Encoder().encode


def strip_managed_fields(data: bytes) -> bytes:
    """Return an object without ``metadata.managedFields``, without decoding the rest; unchanged if it is invalid."""
    start = data.find(MANAGED_FIELDS)
    if start < 0:
        return data
    try:
        return _stripped(data, start)
    except UNREADABLE:
        return data


def _stripped(data: bytes, start: int) -> bytes:
    found = bytes(_find(data).metadata.managed_fields)
    end = start + len(MANAGED_FIELDS) + len(found)
    # Metadata is nearly always the first nested value: then no other list of that name can precede.
    is_first = data.find(b"{", 1) == data.find(METADATA) + len(METADATA) - 1
    if found and is_first and data.startswith(MANAGED_FIELDS + found, start):
        if data.startswith(b",", end):
            return data[:start] + data[end + 1 :]
        if data.startswith(b",", start - 1):
            return data[: start - 1] + data[end:]
    return _strip_slowly(data)  # the list is the only field, or is not written the usual way


def _strip_slowly(data: bytes) -> bytes:
    parts = _split(data)
    metadata = _split(parts["metadata"])
    metadata.pop("managedFields", None)
    parts["metadata"] = msgspec.Raw(_encode(metadata))
    return _encode(parts)


def bytes_transform(transform: Transform | None, strip: bool) -> BytesTransform | None:
    """Return one function that applies both options to an object; None when neither is set."""
    if transform is None:
        return strip_managed_fields if strip else None

    def transformed(data: bytes) -> bytes:
        data = strip_managed_fields(data) if strip else data
        try:
            return _encode(transform(msgspec.json.decode(data)))
        except Exception:
            log.exception("A transform failed, the object is stored unchanged", extra={"data": data[:200]})
            return data

    return transformed
