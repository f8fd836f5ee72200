"""Protobuf's wire format: fields of a message, and damaged messages."""

from __future__ import annotations

import pytest

from pyctrl._protobuf_wire import WireError, WireType, fields, signed, varints


def test_fields_have_number_type_and_value() -> None:
    """A message with each wire type, encoded by hand as in protobuf's documentation."""
    data = b"\x08\x96\x01" + b"\x12\x07testing" + b"\x19" + b"\1" * 8 + b"\x25" + b"\2" * 4
    assert list(fields(data)) == [
        (1, WireType.VARINT, 150),
        (2, WireType.BYTES, b"testing"),
        (3, WireType.FIXED64, b"\1" * 8),
        (4, WireType.FIXED32, b"\2" * 4),
    ]


def test_numbers_are_unsigned_until_they_are_converted() -> None:
    """A negative int64 is a varint of ten bytes; packed numbers are adjacent."""
    [(_, _, value)] = fields(b"\x08" + b"\xff" * 9 + b"\x01")
    assert isinstance(value, int)
    assert (value, signed(value), signed(5)) == (2**64 - 1, -1, 5)
    assert list(varints(b"\x03\x8e\x02\x9e\xa7\x05")) == [3, 270, 86942]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x08", "unexpected EOF"),
        (b"\x12\x07test", "unexpected EOF"),
        (b"\x00\x01", "proto: illegal tag 0 (wire type 0)"),
        (b"\x0b", "proto: illegal wireType 3"),
        (b"\x08" + b"\xff" * 11, "proto: integer overflow"),
    ],
)
def test_damage_is_reported_as_in_go(data: bytes, message: str) -> None:
    """The error messages are those of the generated Go types, which clients of the API server get."""
    with pytest.raises(WireError) as damaged:
        list(fields(data))
    assert str(damaged.value) == message
