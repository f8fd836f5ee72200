"""Which Python function carries out a call: decided when types are known, looked up by the values when not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._errors import NO_OVERLOAD, EvaluationFailed
from ._expressions import Call
from ._signatures import Overload
from ._types import Type
from ._values import Duration, Optional, Timestamp, TypeValue, Uint

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


def dispatched(call: Call) -> Callable[..., Any]:
    """Give the function for a call that has been checked."""
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
    raise EvaluationFailed(f"{NO_OVERLOAD}: {function}" if function == "size" else NO_OVERLOAD)


def _is(value: Any, kind: Type) -> bool:
    """Whether a value is of a type, as far as choosing between functions asks."""
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
