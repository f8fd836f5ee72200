"""Decoder of protobuf's wire format: bytes to numbered fields. Callers know the fields of their messages."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

__all__ = ["WireError", "WireType", "fields", "signed", "varints"]


VARINT_LIMIT = 70  # bits of ten bytes, the longest encoding of 64 bits


class WireType(IntEnum):
    """The wire type of a field: how its value is encoded."""

    VARINT = 0
    FIXED64 = 1
    BYTES = 2
    FIXED32 = 5


class WireError(ValueError):
    """Raised for bytes that are not protobuf. The message is that of Kubernetes' generated Go types."""


def fields(data: bytes) -> Iterator[tuple[int, WireType, int | bytes]]:
    """Yield number, wire type and value of each field: a varint as an unsigned number, other values as bytes.

    Raises:
        WireError: The data is truncated or malformed.
    """
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at)
        number, form = key >> 3, key & 7
        if not number:
            raise WireError(f"proto: illegal tag 0 (wire type {key})")
        if form == WireType.VARINT:
            value, at = _varint(data, at)
            yield number, WireType.VARINT, value
            continue
        size, at = _size(data, at, form)
        if at + size > end:
            raise WireError("unexpected EOF")
        yield number, WireType(form), data[at : at + size]
        at += size


def varints(data: bytes) -> Iterator[int]:
    """Yield the numbers of a packed list."""
    at = 0
    while at < len(data):
        number, at = _varint(data, at)
        yield number


def signed(number: int) -> int:
    """Return the signed 64-bit number of a varint: negative numbers are encoded as large unsigned ones."""
    number &= 2**64 - 1
    return number - 2**64 if number >= 2**63 else number


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = 0
    for shift in range(0, VARINT_LIMIT, 7):
        if at >= len(data):
            raise WireError("unexpected EOF")
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            return number, at
    raise WireError("proto: integer overflow")


def _size(data: bytes, at: int, form: int) -> tuple[int, int]:
    if form == WireType.BYTES:
        return _varint(data, at)
    if form == WireType.FIXED64:
        return 8, at
    if form == WireType.FIXED32:
        return 4, at
    raise WireError(f"proto: illegal wireType {form}")  # groups, which no kind has
