"""The messages `Object{...}` and `JSONPatch{...}`, which the expressions of MutatingAdmissionPolicies construct."""

from __future__ import annotations

import base64
import calendar
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from pyctrl._go.text import quoted
from pyctrl.api import Quantity
from pyctrl.cel._errors import EvaluationFailed
from pyctrl.cel._library.conversions import type_name, write_duration
from pyctrl.cel._library.quantities import QuantityValue
from pyctrl.cel._library.times import write_timestamp
from pyctrl.cel._signatures import Table
from pyctrl.cel._types import DYN, STRING, FieldType, Type
from pyctrl.cel._values import NONE, Duration, ObjectValue, Optional, Timestamp, TypeValue, Uint, UnconvertedLiteral

__all__ = [
    "JSON_PATCH",
    "OBJECT",
    "PATCHES",
    "constructed_value",
    "go_formats",
    "is_object_type",
    "object_value_json",
    "patch_type",
    "type_name_problems",
    "value_json",
]


class _AnyFields(Mapping[str, FieldType]):
    """The fields of an object without a schema: every name is a field of any type."""

    def __getitem__(self, name: str) -> FieldType:
        return FieldType(name, DYN)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


_ANY_FIELDS: Final = _AnyFields()
#: The type of the object that an apply configuration describes.
OBJECT: Final = Type("object", "Object", (), _ANY_FIELDS)


class _PatchFields(dict[str, FieldType]):
    """The fields of a JSON patch's operation; as upstream, any other name is a field of a type without a name."""

    def get(self, name: str, default: Any = None) -> Any:
        return super().get(name, FieldType(name, Type("")))


#: The type of one operation of a JSON patch.
JSON_PATCH: Final = Type(
    "object",
    "JSONPatch",
    (),
    _PatchFields(
        {name: FieldType(name, DYN if name == "value" else STRING) for name in ("op", "path", "from", "value")}
    ),
)


def patch_type(name: str) -> Type | None:
    """Return the type with this name: `JSONPatch`, `Object`, or `Object` followed by the path of a field."""
    if name == "JSONPatch":
        return JSON_PATCH
    if name == "Object":
        return OBJECT
    return Type("object", name, (), _ANY_FIELDS) if is_object_type(name) else None


def is_object_type(name: str) -> bool:
    """Return whether a message is an object or a part of one, not an operation of a JSON patch."""
    return name == "Object" or name.startswith("Object.")


def constructed_value(type_name: str, fields: Mapping[str, Any]) -> ObjectValue:
    """Return the object that a message literal constructs.

    Raises:
        EvaluationFailed: An operation of a JSON patch has another field, or a field of the wrong type.
    """
    if type_name == "JSONPatch":
        for name, value in fields.items():
            if name not in JSON_PATCH.fields:
                raise EvaluationFailed(f"unexpected JSONPatchType field: {name}")
            if name != "value" and not isinstance(value, str):
                found = _GO_TYPES.get(type(value), "[]ref.Val" if isinstance(value, list) else "map[ref.Val]ref.Val")
                raise EvaluationFailed(f"unexpected type {found} for JSONPatchType '{name}' field")
    return ObjectValue(fields, type_name)


_GO_TYPES = {
    int: "int64",
    Uint: "uint64",
    bool: "bool",
    float: "float64",
    bytes: "[]uint8",
    type(None): "structpb.NullValue",
}


def _escaped_key(text: str) -> str:
    return text.replace("~", "~0").replace("/", "~1")


#: The functions that come with these messages.
PATCHES: Table = {"jsonpatch.escapeKey": [("(string) -> string", _escaped_key)]}


def type_name_problems(value: Any) -> list[str]:
    """Return an error for each object inside a value whose type name is not the path of its field.

    In `Object{spec: Object.spec{}}` the names fit. Lists and maps have no name in the path.
    """
    return list(_name_problems(value, value.type_name)) if isinstance(value, ObjectValue) else []


def _name_problems(value: Any, wanted: str) -> Iterator[str]:
    if isinstance(value, ObjectValue):
        if value.type_name != wanted:
            yield (
                f"unexpected type name {quoted(value.type_name)}, expected {quoted(wanted)}, "
                "which matches field name path from root Object type"
            )
        for name, each in value.items():
            yield from _name_problems(each, f"{wanted}.{name}")
    elif isinstance(value, dict):
        for each in value.values():
            yield from _name_problems(each, wanted)
    elif isinstance(value, list):
        for each in value:
            yield from _name_problems(each, wanted)


def object_value_json(value: Any) -> Any:
    """Return the JSON of an object that an expression constructed; values without JSON stay as they are.

    Raises:
        EvaluationFailed: A key of a map is not a string.
    """
    if isinstance(value, dict):
        if any(type(key) is not str for key in value):
            raise EvaluationFailed("map key is not a string")
        return {key: object_value_json(each) for key, each in value.items()}
    if isinstance(value, list):
        return [object_value_json(each) for each in value]
    return int(value) if type(value) is Uint else _number(value)


def _number(value: Any) -> Any:
    """Return a whole float as an int, which is how Go writes it."""
    return int(value) if type(value) is float and value.is_integer() and abs(value) < 1e21 else value


_LARGEST: Final = 2**53 - 1  # the largest integer that JSON represents in a double; a larger one becomes a string


def value_json(value: Any) -> Any:
    """Return a value as cel-go converts it to JSON.

    Raises:
        EvaluationFailed: A value of this type has no JSON.
    """
    match value:
        case None | bool() | str() | float():
            return _number(value)
        case int():
            return int(value) if -_LARGEST <= value <= _LARGEST else str(int(value))
        case bytes():
            return base64.b64encode(value).decode()
        case Timestamp():
            return write_timestamp(value)
        case Duration():
            return write_duration(value)
        case dict():
            for key in value:
                if not isinstance(key, str):
                    raise EvaluationFailed(f"unsupported type conversion from '{type_name(key)}' to string")
            return {key: value_json(each) for key, each in value.items()}
        case list():
            return [value_json(each) for each in value]
        case Optional():
            return None if value is NONE else value_json(value.value)
        case TypeValue():
            raise EvaluationFailed("type conversion not supported for 'type'")
    shown = type_name(value).rpartition(".")[2]
    raise EvaluationFailed(f"type conversion error from '{shown}' to '*structpb.Value'")


def go_formats(value: Any) -> tuple[str, str, str]:
    """Return how Go shows a value without JSON in errors: its type, and its formats `%v` and `%#v`."""
    match value:
        case None:
            return "structpb.NullValue", "NULL_VALUE", "0"
        case UnconvertedLiteral(dict() as entries):
            plain = " ".join(sorted(f"{key}:{go_formats(each)[1]}" for key, each in entries.items()))
            syntax = ", ".join(sorted(f"{go_formats(key)[2]}:{go_formats(each)[2]}" for key, each in entries.items()))
            return "map[ref.Val]ref.Val", f"map[{plain}]", f"map[ref.Val]ref.Val{{{syntax}}}"
        case UnconvertedLiteral(list() as items):
            shown = [go_formats(each) for each in items]
            plain, syntax = " ".join(each[1] for each in shown), ", ".join(each[2] for each in shown)
            return "[]ref.Val", f"[{plain}]", f"[]ref.Val{{{syntax}}}"
        case str():
            return "string", value, quoted(value)
        case bool():
            return "bool", str(value).lower(), str(value).lower()
        case bytes():
            syntax = ", ".join(f"{each:#x}" for each in value)
            return "[]uint8", f"[{' '.join(map(str, value))}]", f"[]uint8{{{syntax}}}"
        case Duration():
            return "time.Duration", write_duration(value), str(value.nanoseconds)
        case Timestamp():
            text = write_timestamp(value).replace("T", " ").replace("Z", " +0000 UTC")
            return "time.Time", text, _date_syntax(value)
        case QuantityValue():
            text = Quantity(value.number).canonical()
            return type_name(value), text, text
    return type_name(value), str(value), str(value)


def _date_syntax(timestamp: Timestamp) -> str:
    seconds, nanoseconds = divmod(timestamp.nanoseconds, 10**9)
    at = datetime(1970, 1, 1) + timedelta(seconds=seconds)  # noqa: DTZ001 (in UTC, as shown)
    month = calendar.month_name[at.month]
    return f"time.Date({at.year}, time.{month}, {at.day}, {at.hour}, {at.minute}, {at.second}, {nanoseconds}, time.UTC)"
