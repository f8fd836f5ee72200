"""JSON of objects, with whole numbers as Go writes them: a float without a fraction is written as an integer.

Clients in Python send `1.0` for a number that a client in Go reads into an int, which refuses `1.0`. kube-apiserver
decodes it to a float64 and writes `1`. A float from 1e16 on keeps its exponent here, unless the object has a smaller
one without a fraction.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any

import msgspec

__all__ = ["encode_object"]

_WHOLE_FLOAT = re.compile(rb"\.0[,}\]]")  # in a text, too, which stays as it is; faster than `in` with a part of it
_INT64 = 1 << 63


def encode_object(obj: Any) -> bytes:
    """Encode an object for the storage and for clients."""
    data = msgspec.json.encode(obj)
    if _WHOLE_FLOAT.search(data):
        return msgspec.json.encode(_with_integers(obj))
    return data


def _with_integers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_integers(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_integers(each) for each in value]
    if type(value) is float and value.is_integer() and -_INT64 <= value < _INT64:
        return int(Decimal(repr(value)))  # the digits of Go, which writes as few as distinguish the number
    return value
