"""The pydantic base of everything typed: camelCase on the wire, lossless, and honest about what was set."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, ForwardRef, Literal, Self, TypeVar, cast, get_args

import msgspec
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticSerializationError, SchemaValidator

from pyctrl._json import UNREADABLE, why_unreadable
from pyctrl.api._model.fields_set import update_fields_set
from pyctrl.api._model.pending import (
    PENDING,
    PendingFields,
    decode_pending,
    own_dict,
    pydantic_slot,
    set_extra,
    set_fields_set,
    set_own_dict,
    set_private,
    take_over,
    validation_message,
)
from pyctrl.api._secrets import has_secrets, hidden, hides_values, may_hide_values, revealed
from pyctrl.api._value_markers import SchemaMarker
from pyctrl.errors import DecodeError

__all__ = ["Model", "from_bytes", "quiet_json", "quietly"]


M = TypeVar("M", bound="Model")

#: A null as the value of a member. One inside of a string costs time and nothing else.
_NULL = re.compile(rb":\s*null")
_ANY_NULL = re.compile(rb"null")  # found, or most often not, in 40 % of that time


class Model(BaseModel):
    """Base of specs, statuses and all their parts.

    Fields are snake_case in Python and camelCase on the wire (``Field(validation_alias=…, serialization_alias=…)``
    for another name). What the wire has and the class does not name is kept and written back, so that an operator
    that knows half of a type never loses the other half.

    What is written: every field that was set or decoded, and every default that has been changed in place
    (``pod.metadata.labels["a"] = "b"``). Never written: defaults that nobody touched, and None; so setting an
    optional field to None removes it. A ``null`` that came from the wire is written back unless the field is set.
    Of pydantic's secrets the value, which nothing else shows. A class with ``hide_input_in_errors=True`` in its
    `model_config`, as `Secret` is one, shows no value in errors and warnings, and in its repr none of fields with
    ``Field(repr=False)`` and of what the class does not name.

    What is read: ``null`` for a list, a map or a field with a default reads as empty or as the default.

    Class keyword:
        marks: what the schema of a definition says about this class and its subclasses, such as `ValidationRule`.
    """

    #: The marks of this class, without those of its bases.
    schema_marks: ClassVar[tuple[SchemaMarker, ...]] = ()

    model_config: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, extra="allow", protected_namespaces=()
    )

    # What a read from a cache has not decoded yet is not in the instance's dict. Whoever wants all fields, as pydantic
    # does to write, compare, copy or pickle, in Python and in Rust, asks for __dict__, which decodes the rest; looking
    # at one field ends in __getattr__. In the body and not set afterwards: only so does Python ask the class for it.
    __dict__ = property(decode_pending, set_own_dict)

    if not TYPE_CHECKING:  # as in pydantic: or else every attribute would be right

        def __getattr__(self, name: str) -> Any:
            own = own_dict(self)
            pending = own.get(PENDING)
            if pending is not None:
                if pending.raws is None and pending.members() is None:
                    take_over(self, pending.read_at_once())
                    return getattr(self, name)
                if (part := pending.plan.parts.get(name)) is not None:
                    return own.setdefault(name, pending.read(part))
                if (found := pydantic_slot(self, pending, name)) is not None:
                    return found
                _ = self.__pydantic_extra__  # pydantic looks there, and not for what comes late
            return super().__getattr__(name)

        def __delattr__(self, name: str) -> None:
            decode_pending(self)  # or else it would come back
            super().__delattr__(name)

    def __init_subclass__(cls, *, marks: tuple[SchemaMarker, ...] = (), **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if isinstance(marks, SchemaMarker):
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
                obj = _from_document(cast(SchemaValidator, cls.__pydantic_validator__), data)
            else:
                raw = data if isinstance(data, bytes) else data.encode()
                obj = from_bytes(cast(SchemaValidator, cls.__pydantic_validator__), raw)
        except ValidationError as error:
            told = f"{cls.__name__}: {validation_message(error, of=cls)}"
            raise DecodeError(told) from (None if hides_values(cls) else error)
        except UNREADABLE as error:
            raise DecodeError(f"{cls.__name__}: not JSON that can be decoded: {why_unreadable(error)}") from error
        return cast(Self, obj)

    def to_wire(self) -> dict[str, Any]:
        """Return the object as JSON-ready dicts and lists, by the rules of the class."""
        update_fields_set(self)
        wire: dict[str, Any]
        if not may_hide_values(type(self)):
            wire = self.__pydantic_serializer__.to_python(self, mode="json", by_alias=True, exclude_unset=True)
            return wire
        wire = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        if has_secrets(type(self)):
            revealed(self, wire)
        return wire

    def to_json(self) -> bytes:
        """Return the object as JSON bytes, by the rules of the class."""
        may_hide = may_hide_values(type(self))
        if may_hide and has_secrets(type(self)):
            return msgspec.json.encode(self.to_wire())
        update_fields_set(self)
        try:
            if may_hide:
                return quiet_json(self)
            return self.__pydantic_serializer__.to_json(self, by_alias=True, exclude_unset=True)
        except PydanticSerializationError:
            self.model_dump()  # a DecodeError of what was pending comes through here as it is
            raise

    if not TYPE_CHECKING:  # pydantic's signatures are what type checkers should see
        # Without super(): pydantic's own only hand all options to the serializer, and take as long as it does.

        def model_dump(self, *, mode: str = "python", warnings: Any = True, **options: Any) -> dict[str, Any]:
            dump = self.__pydantic_serializer__.to_python
            if not may_hide_values(type(self)):
                return dump(self, mode=mode, warnings=warnings, **options)
            return quietly(self, lambda told: dump(self, mode=mode, warnings=told, **options), warnings)

        def model_dump_json(self, *, warnings: Any = True, **options: Any) -> str:
            dump = self.__pydantic_serializer__.to_json
            if not may_hide_values(type(self)):
                return dump(self, warnings=warnings, **options).decode()
            return quietly(self, lambda told: dump(self, warnings=told, **options), warnings).decode()

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Show what was set or changed; the many defaults of Kubernetes types would hide it."""
        update_fields_set(self)
        is_hidden, fields = hides_values(type(self)), self.__pydantic_fields__
        for name, value in self.__dict__.items():
            if name in self.__pydantic_fields_set__ and (fields[name].repr or is_hidden):
                yield name, value if fields[name].repr else hidden(value)
        for name, value in (self.__pydantic_extra__ or {}).items():
            yield name, hidden(value) if is_hidden else value

    def deep_copy(self) -> Self:
        """Return an independent copy: changing one never changes the other."""
        return _copy_model(self)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Copy as `deep_copy` does: faster than pydantic, which has to expect cycles."""
        return _copy_model(self)


# --- copying ----------------------------------------------------------------------------------------------------------

_SHARED = frozenset((str, int, float, bool, type(None), datetime, PendingFields))  # they never change


def _copy(value: Any) -> Any:
    """Copy a tree of models, lists and dicts; what else there may be is asked to copy itself."""
    kind = type(value)
    if kind in _SHARED:
        return value
    if kind is dict:
        return {key: _copy(item) for key, item in value.items()}
    if kind is list:
        return [_copy(item) for item in value]
    return _copy_model(value) if issubclass(kind, Model) else copy.deepcopy(value)


def _copy_model(model: M) -> M:
    new = object.__new__(type(model))
    private = model.__pydantic_private__
    set_private(new, copy.deepcopy(private) if private else None)
    own = own_dict(model)
    if PENDING in own and own[PENDING].is_untouched:
        set_own_dict(new, own.copy())
        return new
    extra = model.__pydantic_extra__  # first: it may find out that all has to be decoded at once
    set_extra(new, _copy(extra) if extra else extra if extra is None else {})
    set_fields_set(new, set(model.__pydantic_fields_set__))
    set_own_dict(
        new, {name: value if type(value) in _SHARED else _copy(value) for name, value in own_dict(model).items()}
    )
    return new


# --- reading: null where something is expected ----------------------------------------------------------------------


def from_bytes(validator: SchemaValidator, data: bytes) -> Any:
    """Validate JSON, reading nulls as empty where the type wants something. Raises pydantic's ValidationError."""
    if not (_ANY_NULL.search(data) and _NULL.search(data)):
        return validator.validate_json(data, by_alias=True, by_name=False)
    document = msgspec.json.decode(data)
    try:
        obj = validator.validate_json(data, by_alias=True, by_name=False)
    except ValidationError:
        return _from_document(validator, document)
    _keep_nulls(obj, document)
    return obj


def _from_document(validator: SchemaValidator, document: Any) -> Any:
    """Validate a decoded document, reading nulls as empty where the type wants something, and keeping them."""
    try:
        obj = validator.validate_python(document, by_alias=True, by_name=False)
    except ValidationError as error:
        obj = validator.validate_python(_without_nulls(document, error), by_alias=True, by_name=False)
    _keep_nulls(obj, document)
    return obj


def _without_nulls(document: Any, error: ValidationError) -> Any:
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


R = TypeVar("R")
SerializationWarnings = bool | Literal["none", "warn", "error"]

#: One complaint a line; the value is between, as its repr, and may look like anything, hence the last ``input_type``.
_COMPLAINT = re.compile(r"Expected `([^`]*)`.*?\[(?:field_name='([^']*)', )?input_value=.*, input_type=(\w+)\]")


def quietly(model: BaseModel, dump: Callable[[Any], R], told: SerializationWarnings = True) -> R:
    """Serialize a model; warnings of pydantic are repeated without values, which may be those of a Secret.

    Args:
        model: what is serialized.
        dump: does it, with pydantic's parameter ``warnings``.
        told: that parameter, as the caller wants it.

    Takes 2 µs more than pydantic does, so it is only for classes of which `may_hide_values` is true.
    """
    if told not in (True, "warn"):
        return dump(told)
    try:
        return dump("error")
    except PydanticSerializationError as error:
        found = [_warning_text(*match) for match in _COMPLAINT.findall(str(error))]
    result = dump("none")  # raises what is no warning
    if found:
        warnings.warn(
            f"{type(model).__name__} is not what its type says: {'; '.join(found)}", UserWarning, stacklevel=4
        )
    return result


def quiet_json(model: BaseModel) -> bytes:
    """Serialize what was set of a model, under the names of the wire; see `quietly`."""
    dump = model.__pydantic_serializer__.to_json
    return quietly(model, lambda told: dump(model, by_alias=True, exclude_unset=True, warnings=told))


def _warning_text(expected: str, field: str, got: str) -> str:
    return f"{field or 'a value'}: expected {expected}, got {got}"
