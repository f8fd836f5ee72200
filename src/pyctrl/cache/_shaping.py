"""Making objects smaller before they are kept."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec

__all__ = ["Shape", "Transform", "shape", "strip_managed_fields"]

#: Changes a decoded object before it is kept: drop what nobody reads. It may change its argument.
Transform: TypeAlias = Callable[[dict[str, Any]], dict[str, Any]]
#: The same on bytes.
Shape: TypeAlias = Callable[[bytes], bytes]

log = logging.getLogger("pyctrl.cache")

_split = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_encode = msgspec.json.Encoder().encode


def strip_managed_fields(data: bytes) -> bytes:
    """Return an object without ``metadata.managedFields``; the rest is not decoded."""
    if b'"managedFields":' not in data:
        return data
    parts = _split(data)
    metadata = _split(parts["metadata"])
    metadata.pop("managedFields", None)
    parts["metadata"] = msgspec.Raw(_encode(metadata))
    return _encode(parts)


def shape(transform: Transform | None, strip: bool) -> Shape | None:
    """Put together what is to be done to every object; None when that is nothing."""
    if transform is None:
        return strip_managed_fields if strip else None

    def transformed(data: bytes) -> bytes:
        data = strip_managed_fields(data) if strip else data
        try:
            return _encode(transform(msgspec.json.decode(data)))
        except Exception:
            log.exception("a transform failed; the object is kept as it came", extra={"data": data[:200]})
            return data

    return transformed
