"""Type annotations decomposed: the type, its metadata, and whether it may be None."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import JsonValue
from pydantic.fields import FieldInfo
from typing_extensions import TypeAliasType

__all__ = ["AnnotatedType", "annotated_type", "field_metadata", "first_metadata", "has_metadata", "is_union", "name_of"]

_ALIASES = tuple({TypeAliasType, getattr(typing, "TypeAliasType", TypeAliasType)})
_UNIONS = (Union, types.UnionType)

M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class AnnotatedType:
    """A type without `Annotated`, aliases, NewTypes and None; and its metadata, innermost first."""

    type: Any
    beside: tuple[Any, ...] = ()
    is_nullable: bool = False


def annotated_type(annotation: Any, beside: Iterable[Any] = ()) -> AnnotatedType:
    """Decompose a type; ``beside`` is further metadata of it."""
    found, is_nullable = tuple(beside), False
    while True:
        origin = get_origin(annotation)
        if origin is Annotated:
            annotation, found = annotation.__origin__, (*annotation.__metadata__, *found)
        elif isinstance(annotation, _ALIASES) and annotation is not JsonValue:  # a recursive alias
            annotation = annotation.__value__
        elif isinstance(origin, _ALIASES):
            annotation = origin.__value__[get_args(annotation)]
        elif isinstance(annotation, typing.NewType):
            annotation = annotation.__supertype__
        elif origin in _UNIONS and type(None) in get_args(annotation):
            rest = tuple(arg for arg in get_args(annotation) if arg is not type(None))
            annotation, is_nullable = Union[rest], True  # noqa: UP007  # made of values
        elif origin is Literal and None in get_args(annotation) and len(get_args(annotation)) > 1:
            rest = tuple(arg for arg in get_args(annotation) if arg is not None)
            annotation, is_nullable = Literal[rest], True
        else:
            return AnnotatedType(annotation, found, is_nullable)


def field_metadata(info: FieldInfo) -> tuple[Any, ...]:
    """Return the metadata of a field's type, including the discriminator of a union."""
    return (*info.metadata, *((FieldInfo(discriminator=info.discriminator),) if info.discriminator else ()))


def is_union(annotation: Any) -> bool:
    """Return whether a type is a union."""
    return get_origin(annotation) in _UNIONS


def first_metadata(kind: type[M], beside: Iterable[Any]) -> M | None:
    """Return the outermost metadata of a class, or None."""
    found = [each for each in beside if isinstance(each, kind)]
    return found[-1] if found else None


def has_metadata(kind: type[object], beside: Iterable[Any]) -> bool:
    """Return whether there is metadata of a class."""
    return any(isinstance(each, kind) for each in beside)


def name_of(annotation: Any) -> str:
    """Return a type as its author wrote it."""
    if isinstance(annotation, type) and not get_args(annotation):
        return annotation.__name__
    return str(annotation).replace("typing.", "")
