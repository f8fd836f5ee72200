"""From a Python type to the schema of its values."""

from __future__ import annotations

import collections.abc as abc
import enum
import types
import typing
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from msgspec.structs import replace
from pydantic import BaseModel
from typing_extensions import TypeAliasType

from pyctrl.api import IntOrString

from ._constraints import constrain
from ._leaves import INT_OR_STRING, leaf
from ._marking import apply_marks, has_consent, schemaless
from ._places import Place, Problems
from ._schema import Schema

__all__ = ["NONE", "peel", "schema_of"]

NONE = type(None)
_LISTS = (list, abc.Sequence, abc.MutableSequence, abc.Iterable, abc.Collection)
_SETS = (set, frozenset, abc.Set, abc.MutableSet)
_MAPS = (dict, abc.Mapping, abc.MutableMapping)
_ALIASES = tuple({TypeAliasType, getattr(typing, "TypeAliasType", TypeAliasType)})
_UNIONS = (Union, types.UnionType)
_OPEN = (Any, object)
_INT_OR_STRING = get_args(IntOrString)[1]  # the format in `IntOrString`, which is no format of definitions


def peel(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """Take a type out of `Annotated`, aliases and NewTypes; return it and what stood beside it, innermost first."""
    beside: tuple[Any, ...] = ()
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation, beside = annotation.__origin__, (*annotation.__metadata__, *beside)
        elif isinstance(annotation, _ALIASES):
            annotation = annotation.__value__
        elif isinstance(origin, _ALIASES):
            annotation = origin.__value__[get_args(annotation)]
        elif isinstance(annotation, typing.NewType):
            annotation = annotation.__supertype__
        else:
            return annotation, beside


def schema_of(annotation: Any, place: Place, problems: Problems, beside: Sequence[Any] = ()) -> Schema:
    """Return the schema of a type, with what stands ``beside`` it; problems are reported."""
    tp, inner = peel(annotation)
    everything = (*inner, *beside)
    if schemaless(everything):
        schema = Schema()
    elif get_origin(tp) in _UNIONS:
        return _union(get_args(tp), place, problems, everything)
    else:
        schema = _plain(tp, place, problems, everything)
    return apply_marks(constrain(schema, everything, place, problems), everything, tp, place, problems)


def _plain(tp: Any, place: Place, problems: Problems, beside: Sequence[Any]) -> Schema:
    origin, args = get_origin(tp) or tp, get_args(tp)
    if origin in _LISTS or (origin is tuple and args[1:] == (...,)):
        return _list(args, place, problems)
    if origin in _SETS:
        schema = _list(args, place, problems)
        is_scalar = schema.items is not None and schema.items.type not in ("object", "array", "")
        return replace(schema, list_type="set") if is_scalar else schema
    if origin in _MAPS:
        return _map(args, place, problems, beside)
    if origin is Literal:
        return _enum(args, place, problems)
    if isinstance(tp, type) and issubclass(tp, enum.Enum):
        return _enum([member.value for member in tp], place, problems)
    if isinstance(tp, type) and issubclass(tp, BaseModel):
        from ._models import model_schema  # models have fields, fields have types

        return model_schema(tp, place, problems, beside)
    if (found := leaf(tp)) is not None:
        return found
    return _other(tp, place, problems, beside)


def _other(tp: Any, place: Place, problems: Problems, beside: Sequence[Any]) -> Schema:
    if tp in _OPEN:
        if has_consent(beside):
            return Schema(preserve_unknown_fields=True)
        cure = "say what it is, or keep whatever comes with Annotated[Any, PreserveUnknownFields()]"
        problems.report(place, f"{_named(tp)} has no schema", cure)
    elif isinstance(tp, TypeVar):
        problems.report(place, f"the type variable {tp} is not bound", "give the class its type: Name[int]")
    elif (get_origin(tp) or tp) is tuple:
        problems.report(place, f"{_named(tp)} cannot be told in a schema", "use a Model, or list[…]")
    else:
        cure = "use a Model, a type from docs/definitions.md, or say its form with SchemaType"
        problems.report(place, f"{_named(tp)} has no schema", cure)
    return Schema(preserve_unknown_fields=True)


def _named(tp: Any) -> str:
    return tp.__name__ if isinstance(tp, type) and not get_args(tp) else str(tp).replace("typing.", "")


def _list(args: Sequence[Any], place: Place, problems: Problems) -> Schema:
    return Schema(type="array", items=schema_of(args[0] if args else Any, place.part("[]"), problems))


def _map(args: Sequence[Any], place: Place, problems: Problems, beside: Sequence[Any]) -> Schema:
    key, value = args or (str, Any)
    if peel(key)[0] is not str:
        problems.report(place, f"the keys of {_named(key)} are no text", "use dict[str, …]")
    if has_consent(beside) and peel(value)[0] in _OPEN:
        return Schema(type="object")
    return Schema(type="object", additional_properties=schema_of(value, place.part("{}"), problems))


_SCALARS = {bool: "boolean", int: "integer", float: "number", str: "string"}


def _enum(values: Sequence[Any], place: Place, problems: Problems) -> Schema:
    plain = [value.value if isinstance(value, enum.Enum) else value for value in values]
    kinds = {next((name for base, name in _SCALARS.items() if isinstance(value, base)), "") for value in plain}
    if len(kinds) != 1 or "" in kinds:
        shown = ", ".join(repr(value) for value in plain)
        cure = "use values that are all texts, or all numbers"
        problems.report(place, f"{shown} are not of one type of the wire", cure)
    return Schema(type=next(iter(kinds)), enum=tuple(plain))


def _union(args: Sequence[Any], place: Place, problems: Problems, beside: Sequence[Any]) -> Schema:
    """Make the schema of ``X | None`` and of the few unions that a structural schema can say."""
    parts = [arg for arg in args if arg is not NONE]
    if len(parts) < len(args):
        inner = parts[0] if len(parts) == 1 else Union[tuple(parts)]  # noqa: UP007  # made of values
        return replace(schema_of(inner, place, problems, beside), nullable=True)
    if set(parts) == {int, str}:
        schema = constrain(INT_OR_STRING, beside, place, problems)
        return apply_marks(schema, [each for each in beside if each != _INT_OR_STRING], parts[0], place, problems)
    cure = "use one type, a Model with optional fields and ExactlyOneOf, or models told apart by a discriminator"
    shown = " | ".join(_named(part) for part in parts)
    problems.report(place, f"the union {shown} is open", cure)
    return Schema(preserve_unknown_fields=True)
