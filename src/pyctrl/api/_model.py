"""The pydantic base of everything typed: camelCase on the wire, lossless, and honest about what was set."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cache
from typing import Any, ClassVar, ForwardRef, Self, TypeVar, get_args

import msgspec
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel
from pydantic.fields import FieldInfo

from pyctrl.errors import DecodeError

from ._secrets import has_secrets, revealed
from ._value_marks import SchemaMark

__all__ = ["Model"]

M = TypeVar("M", bound="Model")

#: A null as the value of a member. One inside of a string costs time and nothing else.
_NULL = re.compile(rb":\s*null")


class Model(BaseModel):
    """Base of specs, statuses and all their parts.

    Fields are snake_case in Python and camelCase on the wire (``Field(validation_alias=…, serialization_alias=…)``
    for another name). What the wire has and the class does not name is kept and written back, so that an operator
    that knows half of a type never loses the other half.

    What is written: every field that was set or decoded, and every default that has been changed in place
    (``pod.metadata.labels["a"] = "b"``). Never written: defaults that nobody touched, and None; so setting an
    optional field to None removes it. A ``null`` that came from the wire is written back unless the field is set.
    Of pydantic's secrets the value, which nothing else shows.

    What is read: ``null`` for a list, a map or a field with a default reads as empty or as the default.

    Class keyword:
        marks: what the schema of a definition says about this class and its subclasses, such as `ValidationRule`.
    """

    #: The marks of this class, without those of its bases.
    schema_marks: ClassVar[tuple[SchemaMark, ...]] = ()

    model_config: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, extra="allow", protected_namespaces=()
    )

    def __init_subclass__(cls, *, marks: tuple[SchemaMark, ...] = (), **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if isinstance(marks, SchemaMark):
            raise TypeError(f"{cls.__name__}: marks= takes a tuple of marks: marks=({marks!r},)")
        cls.schema_marks = tuple(marks)

    @classmethod
    def from_wire(cls, data: bytes | str | Mapping[str, Any]) -> Self:
        """Decode JSON (bytes, text, or already decoded).

        Raises:
            DecodeError: when it is not JSON or a field is not what the type says; ends with the field's path.
        """
        try:
            if isinstance(data, Mapping):
                return _from_document(cls, data)
            raw = data if isinstance(data, bytes) else data.encode()
            return _from_json_with_nulls(cls, raw) if _NULL.search(raw) else _from_json(cls, raw)
        except ValidationError as error:
            raise DecodeError(_sentence(cls, error)) from error
        except msgspec.DecodeError as error:
            raise DecodeError(f"{cls.__name__}: not JSON: {error}") from error

    def to_wire(self) -> dict[str, Any]:
        """Return the object as JSON-ready dicts and lists, by the rules of the class."""
        _settle(self)
        wire = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        if has_secrets(type(self)):
            revealed(self, wire)
        return wire

    def to_json(self) -> bytes:
        """Return the object as JSON bytes, by the rules of the class."""
        if has_secrets(type(self)):
            return msgspec.json.encode(self.to_wire())
        _settle(self)
        return self.__pydantic_serializer__.to_json(self, by_alias=True, exclude_unset=True)

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Show what was set or changed; the many defaults of Kubernetes types would hide it."""
        _settle(self)
        shown = [(name, self.__dict__[name]) for name in self.__dict__ if name in self.__pydantic_fields_set__]
        return [*shown, *(self.__pydantic_extra__ or {}).items()]

    def deep_copy(self) -> Self:
        """Return an independent copy: changing one never changes the other."""
        return _copy_model(self)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Copy as `deep_copy` does: faster than pydantic, which has to expect cycles."""
        return _copy_model(self)


# --- copying ----------------------------------------------------------------------------------------------------------

_ATOMS = frozenset((str, int, float, bool, type(None), datetime))


def _copy(value: Any) -> Any:
    """Copy a tree of models, lists and dicts; what else there may be is asked to copy itself."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is dict:
        return {key: _copy(item) for key, item in value.items()}
    if kind is list:
        return [_copy(item) for item in value]
    return _copy_model(value) if isinstance(value, Model) else copy.deepcopy(value)


def _copy_model(model: M) -> M:
    new = object.__new__(type(model))
    fields = {name: value if type(value) in _ATOMS else _copy(value) for name, value in model.__dict__.items()}
    extra, private = model.__pydantic_extra__, model.__pydantic_private__
    object.__setattr__(new, "__dict__", fields)
    object.__setattr__(new, "__pydantic_fields_set__", set(model.__pydantic_fields_set__))
    object.__setattr__(new, "__pydantic_extra__", _copy(extra))
    object.__setattr__(new, "__pydantic_private__", copy.deepcopy(private) if private else None)
    return new


# --- reading: null where something is expected ----------------------------------------------------------------------


def _from_json(cls: type[M], data: bytes) -> M:
    obj: M = cls.__pydantic_validator__.validate_json(data, by_alias=True, by_name=False)
    return obj


def _from_json_with_nulls(cls: type[M], data: bytes) -> M:
    document = msgspec.json.decode(data)
    try:
        obj = _from_json(cls, data)
    except ValidationError:
        return _from_document(cls, document)
    _keep_nulls(obj, document)
    return obj


def _from_document(cls: type[M], document: Mapping[str, Any]) -> M:
    """Validate a decoded document, reading nulls as empty where the type wants something, and keeping them."""
    validator = cls.__pydantic_validator__
    try:
        obj: M = validator.validate_python(document, by_alias=True, by_name=False)
    except ValidationError as error:
        obj = validator.validate_python(_without_nulls(document, error), by_alias=True, by_name=False)
    _keep_nulls(obj, document)
    return obj


def _without_nulls(document: Mapping[str, Any], error: ValidationError) -> Any:
    """Copy the document with the nulls that ``error`` complains of emptied; re-raise when it has other complaints."""
    errors = error.errors(include_url=False, include_context=False)
    if any(e["input"] is not None for e in errors):
        raise error
    emptied = msgspec.json.decode(msgspec.json.encode(document))
    for e in errors:
        *path, last = _real_path(emptied, e["loc"])
        parent = emptied
        for part in path:
            parent = parent[part]
        if e["type"] == "list_type":
            parent[last] = []
        elif e["type"] == "dict_type":
            parent[last] = {}
        elif isinstance(parent, dict):
            parent.pop(last, None)  # the field's default, or a clear "missing"
        else:
            raise error
    return emptied


def _real_path(document: Any, loc: tuple[int | str, ...]) -> list[Any]:
    """Leave out the parts of a pydantic location that are no keys of the document (names of union members)."""
    path: list[Any] = []
    below: Any = document
    for part in loc:
        is_key = part in below if isinstance(below, dict) else isinstance(below, list) and isinstance(part, int)
        if is_key:
            below = below[part]
            path.append(part)
    return path


def _keep_nulls(value: Any, wire: Any) -> None:
    """Remember each null of the wire beside the field that reads it as something else (or as None).

    It is kept as an extra under the wire's name, where it is written back until the field gets a value.
    """
    if isinstance(value, Model):
        if isinstance(wire, Mapping):
            _keep_nulls_of(value, wire)
    elif isinstance(value, list) and isinstance(wire, list):
        for item, wired in zip(value, wire, strict=False):
            _keep_nulls(item, wired)
    elif isinstance(value, dict) and isinstance(wire, Mapping):
        for key, item in value.items():
            _keep_nulls(item, wire.get(key))


def _keep_nulls_of(model: Model, wire: Mapping[str, Any]) -> None:
    fields = _fields_by_alias(type(model))
    for alias, wired in wire.items():
        if alias not in fields:
            continue
        name, has_parts = fields[alias]
        if wired is None:
            model.__pydantic_fields_set__.discard(name)
            if model.__pydantic_extra__ is not None:
                model.__pydantic_extra__[alias] = None
        elif has_parts:
            _keep_nulls(model.__dict__[name], wired)


@cache
def _fields_by_alias(cls: type[Model]) -> dict[str, tuple[str, bool]]:
    """Return, by the name on the wire, each field's name and whether there can be models below it."""
    return {
        field.serialization_alias or name: (name, _has_models(field.annotation))
        for name, field in cls.__pydantic_fields__.items()
    }


def _has_models(annotation: Any) -> bool:
    if isinstance(annotation, type) and issubclass(annotation, Model):
        return True
    return any(map(_has_models, get_args(annotation))) or isinstance(annotation, TypeVar | ForwardRef)


def _sentence(cls: type[Model], error: ValidationError) -> str:
    parts = [
        f"{e['msg']}, got {_short(e['input'])} - at {'.'.join(map(str, e['loc'])) or 'the top'}"
        for e in error.errors(include_url=False, include_context=False)[:5]
    ]
    return f"{cls.__name__}: {'; '.join(parts)}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# --- writing: what was set, and what was changed in place -------------------------------------------------------------


def _settle(model: Model) -> None:
    """Bring ``fields_set`` up to what must be written, here and below (see `Model`)."""
    fields, written, extra = type(model).__pydantic_fields__, model.__pydantic_fields_set__, model.__pydantic_extra__
    for name, value in model.__dict__.items():
        if value is None:
            written.discard(name)
            continue
        if not isinstance(value, (Model, list, dict, set)):
            if extra and name in written:
                extra.pop(_alias(type(model), name), None)
            continue
        _settle_below(value)
        if name not in written and _is_changed(value, fields[name]):
            written.add(name)
        if extra and name in written:
            extra.pop(_alias(type(model), name), None)


def _settle_below(value: Any) -> None:
    if isinstance(value, Model):
        _settle(value)
        return
    items: Iterable[Any] = value.values() if isinstance(value, dict) else value
    for item in items:
        if isinstance(item, (Model, list, dict)):
            _settle_below(item)


def _is_changed(value: Any, field: FieldInfo) -> bool:
    """Say whether a default that was never assigned has been changed in place."""
    if not value and field.default_factory in (list, dict):
        return False
    default = field.get_default(call_default_factory=True, validated_data={})
    if isinstance(value, Model) and value.__pydantic_fields_set__ != default.__pydantic_fields_set__:
        return True
    return bool(value != default)


def _alias(cls: type[Model], name: str) -> str:
    return cls.__pydantic_fields__[name].serialization_alias or name
