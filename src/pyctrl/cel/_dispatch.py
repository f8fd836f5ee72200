"""Overload resolution of calls: at compile time if the types are known, by the values at run time if not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyctrl.cel._errors import NO_OVERLOAD, EvaluationFailed
from pyctrl.cel._expressions import Call
from pyctrl.cel._library.conversions import type_name
from pyctrl.cel._signatures import Overload, read_type
from pyctrl.cel._types import Type
from pyctrl.cel._values import Duration, Optional, Timestamp, TypeValue, Uint

__all__ = ["resolve_call"]


_CLASSES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "int": (int,),
    "uint": (Uint,),
    "double": (float,),
    "string": (str,),
    "bytes": (bytes,),
    "null": (type(None),),
    "timestamp": (Timestamp,),
    "duration": (Duration,),
    "type": (TypeValue,),
}


def resolve_call(call: Call) -> Callable[..., Any]:
    """Return the implementation of a checked call."""
    overloads = call.overloads
    if len(overloads) == 1 and not any(_is_open(each.type) for each in call.operands):
        return overloads[0].implementation
    return lambda *values: _choose(call.function, overloads, values)(*values)


def _is_open(kind: Type) -> bool:
    return kind.is_dynamic or any(_is_open(each) for each in kind.parameters)


def _choose(function: str, overloads: tuple[Overload, ...], values: tuple[Any, ...]) -> Callable[..., Any]:
    for overload in overloads:
        if all(map(_is, values, overload.parameters)):
            return overload.implementation
    if function == "_[_]":
        raise EvaluationFailed(_no_index(*values))
    left_types = _LEFT_TYPES.get(function)
    is_none = left_types is not None and not any(_is(values[0], read_type(kind)) for kind in left_types.split())
    raise EvaluationFailed(f"{NO_OVERLOAD}: {function}" if is_none else NO_OVERLOAD)


def _no_index(held: Any, index: Any) -> str:
    if isinstance(held, list):
        return f"unsupported index: {index}" if isinstance(index, Uint) else _WRONG_INDEX.format(type_name(index))
    return NO_OVERLOAD if isinstance(held, dict) else f"no such key: {index}"


_WRONG_INDEX = "unsupported index type '{}' in list"
#: Types of the left operand of operators; for another type, cel-go's error names the operator.
_LEFT_TYPES = {
    "size": "string bytes list(dyn) map(dyn,dyn)",
    "_+_": "int uint double string bytes list(dyn) duration timestamp",
    "_-_": "int uint double duration timestamp string",
    "_*_": "int uint double string",
    "_/_": "int uint double string",
    "_%_": "int uint string",
    "-_": "int double bool string",
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), "bool int uint double string bytes duration timestamp"),
}


def _is(value: Any, kind: Type) -> bool:
    """Return whether a value has a type, as far as overloads differ in it."""
    classes = _CLASSES.get(kind.kind)
    if classes is not None:
        return type(value) in classes
    if kind.kind == "list":
        return isinstance(value, list) and (not value or _is(value[0], kind.parameters[0]))
    if kind.kind == "map":
        return isinstance(value, dict)
    if kind.kind == "opaque":
        name = "optional_type" if isinstance(value, Optional) else getattr(type(value), "TYPE", None)
        return name == kind.name
    return True
