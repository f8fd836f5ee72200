"""Pod templates as Go's spew prints them with `%#v`: the text that upstream's hashes of templates are computed over."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from pyctrl import _schemas

__all__ = ["dump_for_hash"]

_NIL = "<nil>"
_NUMBERS = frozenset(("int32", "int64"))
_ITEMS = {"v1.ResourceList": "resource.Quantity"}  # of maps with a name
_ZERO_TIME = "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}"
_QUANTITY = re.compile(r"([+-]?)0*(\d*)\.?(\d*?)0*(?:([KMGTPE])i|([num kMGTPE]?)|[eE]([+-]?\d+))")
_BINARY, _DECIMAL = " KMGTPE", "num kMGTPE"


class _Field(NamedTuple):
    """A field of a struct. An embedded struct has no name on the wire."""

    name: str
    wire_name: str
    kind: str
    absent: str  # the text of the field if the value does not have it, which is so for most


def dump_for_hash(kind: str, value: Any) -> str:
    """Return a decoded JSON value of a Go type as `dump.ForHash` prints it.

    Args:
        kind: the type as Go prints it, such as `v1.PodTemplateSpec`.
        value: the value on the wire. An empty list or map is nil, as in what controllers read.
    """
    bare = kind.removeprefix("*")
    if bare != kind and value is None:
        return f"({kind}){_NIL}"
    return f"({kind}){_dump(bare, value)}"


def _dump(kind: str, value: Any) -> str:
    """Return a value without its type, which items of lists and maps do not have."""
    fields = _fields_of(kind)
    if fields:
        return _struct(fields, value or {})
    if kind == "v1.Time":
        return _ZERO_TIME  # the server sets the times of metadata, not those of templates
    if kind == "resource.Quantity":
        return _quantity(str(value or "0"))
    if kind == "intstr.IntOrString":
        number, text = (0, value) if isinstance(value, str) else (value or 0, "")
        return f"{{Type:(intstr.Type){int(bool(text))} IntVal:(int32){number} StrVal:(string){text}}}"
    if kind.startswith("[]"):
        return f"[{' '.join(_dump(kind[2:], each) for each in value)}]" if value else _NIL
    if kind.startswith("map[") or kind in _ITEMS:
        item = _ITEMS.get(kind) or kind.rpartition("]")[2]
        return (
            f"map[{' '.join(f'{key}:{_dump(item, each)}' for key, each in sorted(value.items()))}]" if value else _NIL
        )
    if kind == "bool":
        return str(bool(value)).lower()
    return str(value or 0) if kind in _NUMBERS else value or ""


def _struct(fields: Sequence[_Field], value: Mapping[str, Any]) -> str:
    shown = []
    for name, wire_name, kind, absent in fields:
        found = value.get(wire_name) if wire_name else value
        shown.append(absent if found is None else f"{name}:{dump_for_hash(kind, found)}")
    return f"{{{' '.join(shown)}}}"


def _quantity(text: str) -> str:
    """Return a quantity. Its text is kept if Go sees at once that it is in canonical form.

    Quantities of more than 15 binary digits, which Go keeps as big numbers, are printed as if they were small.
    """
    found = _QUANTITY.fullmatch(text)
    if text == "0" or found is None:
        return _shown_quantity(0, 0, text, "DecimalSI")
    sign, whole, fraction, binary, decimal, exponent = found.groups()
    digits = whole + fraction
    number = int(f"{sign}{digits or 0}")
    if binary:
        factor = 1 << 10 * _BINARY.index(binary)
        return _shown_quantity(number * factor, 0, text if number & 7 else "", "BinarySI")
    scale = (int(exponent) if exponent else 3 * (_DECIMAL.index(decimal or " ") - 3)) - len(fraction)
    is_canonical = scale % 3 == 0 and not digits.endswith("000") and not digits.startswith("0")
    return _shown_quantity(number, scale, text if is_canonical else "", "DecimalExponent" if exponent else "DecimalSI")


def _shown_quantity(value: int, scale: int, text: str, form: str) -> str:
    amount = f"i:(resource.int64Amount){{value:(int64){value} scale:(resource.Scale){scale}}}"
    large = f"d:(resource.infDecAmount){{Dec:(*inf.Dec){_NIL}}}"
    return f"{{{amount} {large} s:(string){text} Format:(resource.Format){form}}}"


@cache
def _fields_of(kind: str) -> Sequence[_Field]:
    """Return the fields of a struct; none of another type."""
    rows = _structs().get(kind, ())
    return [_Field(name, wire_name, of, f"{name}:{dump_for_hash(of, None)}") for name, wire_name, of in rows]


@cache
def _structs() -> Mapping[str, Sequence[Sequence[str]]]:
    found: Mapping[str, Sequence[Sequence[str]]] = _schemas.load("go_types")["hashed"]
    return found
