"""Schemas of Python types that are a single value on the wire."""

from __future__ import annotations

import datetime as dt
import decimal
import ipaddress
import pathlib
import re
import uuid
from typing import Any

import pydantic
from pydantic import Base64Encoder, EncodedBytes
from pydantic.types import UuidVersion

from pyctrl.api import Quantity
from pyctrl.manifests._schema.annotations import AnnotatedType, first_metadata
from pyctrl.manifests._schema.schema import Schema

__all__ = ["DECIMAL", "INT_OR_STRING", "QUANTITY", "scalar_schema"]

DECIMAL = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$"
#: pydantic's form of a `timedelta`: ISO 8601, such as PT1H30M.
_ISO_DURATION = r"^[+-]?P([0-9]+W|([0-9]+Y)?([0-9]+M)?([0-9]+D)?(T([0-9]+H)?([0-9]+M)?([0-9]+(\.[0-9]+)?S)?)?)$"
_QUANTITY_TEXT = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)

INT_OR_STRING = Schema(int_or_string=True, any_of=(Schema(type="integer"), Schema(type="string")))
QUANTITY = Schema(int_or_string=True, any_of=INT_OR_STRING.any_of, pattern=_QUANTITY_TEXT)


_HOOK = "__get_pydantic_core_schema__"


def _text(format_: str = "", **more: Any) -> Schema:
    return Schema(type="string", format=format_, **more)


_SCALARS: dict[Any, Schema] = {
    bool: Schema(type="boolean"),
    int: Schema(type="integer"),
    float: Schema(type="number"),
    str: _text(),
    dt.datetime: _text("date-time"),
    dt.date: _text("date"),
    dt.time: _text(),
    dt.timedelta: _text(pattern=_ISO_DURATION),
    decimal.Decimal: _text(pattern=DECIMAL),
    uuid.UUID: _text("uuid"),
    ipaddress.IPv4Address: _text("ipv4"),
    ipaddress.IPv6Address: _text("ipv6"),
    ipaddress.IPv4Interface: _text("cidr"),
    ipaddress.IPv6Interface: _text("cidr"),
    ipaddress.IPv4Network: _text("cidr"),
    ipaddress.IPv6Network: _text("cidr"),
    pydantic.IPvAnyAddress: _text(),
    pydantic.IPvAnyInterface: _text("cidr"),
    pydantic.IPvAnyNetwork: _text("cidr"),
    pydantic.AwareDatetime: _text("date-time"),
    pydantic.EmailStr: _text("email"),
    pydantic.ByteSize: Schema(type="integer"),
    pydantic.SecretStr: _text("password"),
    pydantic.AnyUrl: _text("uri"),
    pathlib.Path: _text(),
    re.Pattern: _text(),
    Quantity: QUANTITY,
}


def scalar_schema(part: AnnotatedType) -> Schema | None:
    """Return the schema of a scalar type; None for any other.

    A subclass of a scalar has the schema of that scalar, as pydantic treats it.
    """
    try:
        found = _SCALARS.get(part.type)
    except TypeError:  # not hashable, so not a type
        return None
    if found is None and isinstance(part.type, type):
        found = _inherited(part.type)
    if part.type is bytes and (encoded := first_metadata(EncodedBytes, part.beside)):
        return _text("byte") if encoded.encoder is Base64Encoder else _text()
    if part.type is uuid.UUID and (kind := first_metadata(UuidVersion, part.beside)):
        return _text(f"uuid{kind.uuid_version}" if kind.uuid_version in (3, 4, 5) else "uuid")
    return found


def _inherited(cls: type[object]) -> Schema | None:
    """Return the schema of the scalar that a class is derived from, unless the class customises pydantic."""
    for base in cls.__mro__:
        if base in _SCALARS:
            return _SCALARS[base]
        if _HOOK in vars(base):
            return None
    return None
