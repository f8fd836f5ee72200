"""The pydantic base of typed objects: camelCase on the wire, lossless, and writing only fields that are set."""

from __future__ import annotations

import copy
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cache
from inspect import Signature
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

__all__ = ["Model", "dump_without_values", "from_bytes", "json_without_values"]


M = TypeVar("M", bound="Model")

#: A null as the value of a member. A match inside a string costs time but has no effect.
_NULL = re.compile(rb":\s*null")
_ANY_NULL = re.compile(rb"null")  # a pre-check: most documents have none, and it takes 40 % of that time


if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:

    class ModelMetaclass(type(BaseModel)):
        """Metaclass of models: pydantic's, with a signature that is made when it is requested."""

        @property
        def __signature__(cls) -> Signature:
            # Here: only help(), editors, and pydantic for fields whose default is a model request signatures.
            from pyctrl.api._model.signature import signature_of

            return signature_of(cls)

        @__signature__.setter
        def __signature__(cls, value: object) -> None:
            """Drop pydantic's signature, which has the names on the wire and `**extra_data`."""


class Model(BaseModel, metaclass=ModelMetaclass):
    """Base of specs, statuses and all their parts.

    Fields are snake_case in Python and camelCase on the wire (``Field(validation_alias=…, serialization_alias=…)``
    for another name). Fields of the wire that the class does not name are kept and written back, so that an operator
    never drops fields it does not know.

    Writing: every field that was set or decoded is written, and every default that was changed in place
    (``pod.metadata.labels["a"] = "b"``). Unchanged defaults and None are never written, so setting an optional field to
    None removes it. A ``null`` that came from the wire is written back unless the field is set. Pydantic's secrets are
    written with their value, which no other output shows. A class with ``hide_input_in_errors=True`` in its
    `model_config`, such as `Secret`, shows no values in errors and warnings. Its repr leaves out the values of fields
    with ``Field(repr=False)`` and of fields that the class does not name.

    Reading: ``null`` for a list, a map or a field with a default reads as empty or as the default.

    Class keyword:
        marks: markers of this class and its subclasses for the schema of a definition, such as `ValidationRule`.
    """

    #: The markers of this class, without those of its bases.
    schema_marks: ClassVar[tuple[SchemaMarker, ...]] = ()

    model_config: ClassVar[ConfigDict] = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, extra="allow", protected_namespaces=()
    )

    # Fields that a cached read has not decoded yet are not in the instance's dict. Code that needs all fields, such as
    # pydantic's writing, comparing, copying and pickling in Python and in Rust, reads __dict__, which decodes the rest.
    # Reading a single field ends in __getattr__. Both are in the class body: Python ignores them when set afterwards.
    __dict__ = property(decode_pending, set_own_dict)

    if TYPE_CHECKING:

        def __init__(self, /, **data: Any) -> None:  # for its text, which editors show at each call of a class
            """Create an object from its fields, which are keyword arguments. The others have their defaults.

            Raises pydantic's ValidationError if a value does not fit its type.
            """

    if not TYPE_CHECKING:  # as in pydantic: otherwise type checkers would accept any attribute

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
                _ = self.__pydantic_extra__  # pydantic reads it directly, so it must be decoded first
            return super().__getattr__(name)

        def __delattr__(self, name: str) -> None:
            decode_pending(self)  # otherwise decoding would restore the attribute
            super().__delattr__(name)

    def __init_subclass__(cls, *, marks: tuple[SchemaMarker, ...] = (), **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if isinstance(marks, SchemaMarker):
            raise TypeError(f"{cls.__name__}: marks= takes a tuple of markers: marks=({marks!r},)")
        cls.schema_marks = tuple(marks)

    @classmethod
    def from_wire(cls, data: bytes | str | Mapping[str, Any]) -> Self:
        """Decode JSON (bytes, text, or already decoded).

        Raises:
            DecodeError: the data is not JSON or a field does not fit its type. The message ends with the field's path.
        """
        try:
            if isinstance(data, Mapping):
                obj = _from_document(cast(SchemaValidator, cls.__pydantic_validator__), data)
            else:
                raw = data if isinstance(data, bytes) else data.encode()
                obj = from_bytes(cast(SchemaValidator, cls.__pydantic_validator__), raw)
        except ValidationError as error:
            message = f"{cls.__name__}: {validation_message(error, of=cls)}"
            raise DecodeError(message) from (None if hides_values(cls) else error)
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
                return json_without_values(self)
            return self.__pydantic_serializer__.to_json(self, by_alias=True, exclude_unset=True)
        except PydanticSerializationError:
            self.model_dump()  # raises the DecodeError of a pending field unwrapped
            raise

    if not TYPE_CHECKING:  # pydantic's signatures are what type checkers should see
        # Without super(): pydantic's own methods only pass all options to the serializer, and cost as much time again.

        def model_dump(self, *, mode: str = "python", warnings: Any = True, **options: Any) -> dict[str, Any]:
            dump = self.__pydantic_serializer__.to_python
            if not may_hide_values(type(self)):
                return dump(self, mode=mode, warnings=warnings, **options)
            return dump_without_values(self, lambda each: dump(self, mode=mode, warnings=each, **options), warnings)

        def model_dump_json(self, *, warnings: Any = True, **options: Any) -> str:
            dump = self.__pydantic_serializer__.to_json
            if not may_hide_values(type(self)):
                return dump(self, warnings=warnings, **options).decode()
            return dump_without_values(self, lambda each: dump(self, warnings=each, **options), warnings).decode()

    def __repr_args__(self) -> Iterable[tuple[str | None, Any]]:
        """Show fields that were set or changed; the many defaults of Kubernetes types would hide them."""
        update_fields_set(self)
        is_hidden, fields = hides_values(type(self)), self.__pydantic_fields__
        for name, value in self.__dict__.items():
            if name in self.__pydantic_fields_set__ and (fields[name].repr or is_hidden):
                yield name, value if fields[name].repr else hidden(value)
        for name, value in (self.__pydantic_extra__ or {}).items():
            yield name, hidden(value) if is_hidden else value

    def deep_copy(self) -> Self:
        """Return an independent copy."""
        return _copy_model(self)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Copy as `deep_copy` does. Faster than pydantic's copy, which has to handle cycles."""
        return _copy_model(self)


# --- copying ----------------------------------------------------------------------------------------------------------

_SHARED = frozenset((str, int, float, bool, type(None), datetime, PendingFields))  # immutable


def _copy(value: Any) -> Any:
    """Copy a tree of models, lists and dicts; other values are copied with `copy.deepcopy`."""
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
    extra = model.__pydantic_extra__  # first: it may decode the whole model
    set_extra(new, _copy(extra) if extra else extra if extra is None else {})
    set_fields_set(new, set(model.__pydantic_fields_set__))
    set_own_dict(
        new, {name: value if type(value) in _SHARED else _copy(value) for name, value in own_dict(model).items()}
    )
    return new


# --- reading: null where a value is expected ----------------------------------------------------------------------


def from_bytes(validator: SchemaValidator, data: bytes) -> Any:
    """Validate JSON, reading null as empty where the type requires a value. Raises pydantic's ValidationError."""
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
    """Validate a decoded document, reading null as empty where the type requires a value, and keeping the nulls."""
    try:
        obj = validator.validate_python(document, by_alias=True, by_name=False)
    except ValidationError as error:
        obj = validator.validate_python(_without_nulls(document, error), by_alias=True, by_name=False)
    _keep_nulls(obj, document)
    return obj


def _without_nulls(document: Any, error: ValidationError) -> Any:
    """Copy the document and empty the nulls that ``error`` reports; re-raise the error if it reports anything else."""
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
            parent.pop(last, None)  # gives the field's default, or pydantic's "missing" error
        else:
            raise error
    return emptied


def _real_path(document: Any, loc: tuple[int | str, ...]) -> list[Any]:
    """Return a pydantic location without its parts that are not keys of the document (names of union members)."""
    path: list[Any] = []
    below: Any = document
    for part in loc:
        is_key = part in below if isinstance(below, dict) else isinstance(below, list) and isinstance(part, int)
        if is_key:
            below = below[part]
            path.append(part)
    return path


def _keep_nulls(value: Any, wire: Any) -> None:
    """Keep each null of the wire beside the field that reads it as another value (or as None).

    It is kept as an extra under the name on the wire, and written back until the field gets a value.
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
    """Map the name on the wire to each field's name and whether its value can contain models."""
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

#: One warning per line. The value in the middle is a repr and may contain anything, hence the last ``input_type``.
_COMPLAINT = re.compile(r"Expected `([^`]*)`.*?\[(?:field_name='([^']*)', )?input_value=.*, input_type=(\w+)\]")


def dump_without_values(model: BaseModel, dump: Callable[[Any], R], warning_mode: SerializationWarnings = True) -> R:
    """Serialize a model. Pydantic's warnings are repeated without values, which may be those of a Secret.

    Args:
        model: the model to serialize.
        dump: serializes it; takes pydantic's parameter ``warnings``.
        warning_mode: that parameter, as the caller passed it.

    Takes 2 µs more than pydantic alone, so it is only used for classes for which `may_hide_values` is true.
    """
    if warning_mode not in (True, "warn"):
        return dump(warning_mode)
    try:
        return dump("error")
    except PydanticSerializationError as error:
        found = [_warning_text(*match) for match in _COMPLAINT.findall(str(error))]
    result = dump("none")  # raises errors; only warnings are handled below
    if found:
        warnings.warn(
            f"{type(model).__name__} is not what its type says: {'; '.join(found)}", UserWarning, stacklevel=4
        )
    return result


def json_without_values(model: BaseModel) -> bytes:
    """Serialize the fields of a model that are set, under their names on the wire; see `dump_without_values`."""
    dump = model.__pydantic_serializer__.to_json
    return dump_without_values(model, lambda each: dump(model, by_alias=True, exclude_unset=True, warnings=each))


def _warning_text(expected: str, field: str, got: str) -> str:
    return f"{field or 'a value'}: expected {expected}, got {got}"
