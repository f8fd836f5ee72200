"""Decoders of single fields, and the classes whose fields can be decoded separately."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass
from types import UnionType
from typing import Annotated, Any, Union, cast, get_args, get_origin

import msgspec
from pydantic import BaseModel, ConfigDict, PydanticUserError, TypeAdapter
from pydantic.fields import FieldInfo
from pydantic_core import SchemaValidator
from typing_extensions import is_typeddict

from pyctrl.api._model.fields_set import allows_extra, default_of
from pyctrl.api._model.model import Model, from_bytes
from pyctrl.api._model.pending import PendingFields

__all__ = ["NotDecodableAlone", "SingleFieldDecoder", "is_plain", "validator_of"]

_HARMLESS = {"title", "json_schema_extra", "defer_build", "arbitrary_types_allowed", "use_attribute_docstrings"}
_CUSTOM_HOOKS = ("__getattr__", "__delattr__", "__getattribute__", "__setattr__", "__eq__", "__new__", "__dict__")

#: Decoders for types that msgspec, which is faster, reads as pydantic does or rejects.
_SIMPLE: list[tuple[Any, Callable[[msgspec.Raw], Any]]] = [
    (kind, msgspec.json.Decoder(kind).decode) for kind in (str, int, bool, list[str], dict[str, str])
]

#: Decodes a part of an object whose own fields may stay pending; None when it has to be decoded at once.
DecodeModel = Callable[[type[Model], msgspec.Raw, PendingFields, str], Model | None]


class NotDecodableAlone(Exception):
    """A field that can only be decoded together with the others of its class."""


def is_plain(cls: type[Model]) -> bool:
    """Return whether no code of the class runs when an instance is made, or could detect how it was made."""
    decorators = cls.__pydantic_decorators__
    validators = (decorators.model_validators, decorators.root_validators, decorators.field_validators)
    bases = cls.__mro__[: cls.__mro__.index(Model)]
    return (
        not any((*validators, decorators.validators, cls.__private_attributes__))
        and not (cls.__pydantic_post_init__ or cls.__pydantic_custom_init__)
        and not cls.__pydantic_generic_metadata__["parameters"]
        and all(_found(cls, name) is _found(Model, name) for name in _CUSTOM_HOOKS)
        and not any("__pydantic_extra__" in vars(base).get("__annotations__", ()) for base in bases)
        and _decisive(cls.model_config) == _decisive(Model.model_config)
        and _is_complete(cls)
    )


def _found(cls: type, name: str) -> object:
    """Return the attribute of this name of a class or of the first of its bases that has it."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def _decisive(config: ConfigDict) -> dict[str, Any]:
    return {name: value for name, value in config.items() if name not in _HARMLESS}


def _is_complete(cls: type[Model]) -> bool:
    """Return whether the types of all fields are known, after trying to resolve the missing ones."""
    if cls.__pydantic_fields_complete__:
        return True
    try:
        return cls.model_rebuild(raise_errors=False) is not False
    except PydanticUserError:
        return False


def validator_of(cls: type[Model]) -> SchemaValidator:
    """Return the validator of a class; it is built at the first use."""
    if not cls.__pydantic_complete__:
        cls.model_rebuild()
    return cast(SchemaValidator, cls.__pydantic_validator__)


class SingleFieldDecoder:
    """Decoder of one field of a class. Its validator is built at the first use."""

    def __init__(self, name: str, info: FieldInfo, read_part: DecodeModel) -> None:
        """Inspect a field.

        Raises:
            NotDecodableAlone: it needs the other fields, or takes its JSON from another member.
        """
        alias = info.validation_alias
        if not isinstance(alias, str) or allows_extra(info) or info.discriminator or info.validate_default:
            raise NotDecodableAlone(name)
        if name in ("api_version", "kind") and info.annotation is not str:
            raise NotDecodableAlone(name)
        if _has_inherited_config(info.annotation):
            raise NotDecodableAlone(name)
        self.alias = alias
        #: Makes the value of an absent field.
        self.default: Callable[[], Any] = default_of(info)
        self._info, self._read_part = info, read_part
        #: The class of a value that can be pending itself.
        self.model: type[Model] | None = None if info.metadata else _model_of(info.annotation)
        self._simple = None if info.metadata else _simple_of(info.annotation)
        self._validator: SchemaValidator | None = None

    def decode(self, raw: msgspec.Raw, pending: PendingFields) -> Any:
        """Return the value, whose own parts may be pending."""
        if self._simple is not None:
            try:
                return self._simple(raw)
            except msgspec.MsgspecError:
                pass  # pydantic accepts more, and its errors say what is wrong
        elif self.model is not None:
            part = self._read_part(self.model, raw, pending, self.alias)
            if part is not None:
                return part
        if self._validator is None:
            self._validator = self._new_validator()
        return from_bytes(self._validator, bytes(raw))

    def _new_validator(self) -> SchemaValidator:
        if self.model is not None:
            return validator_of(self.model)  # the field is not null: objects with nulls are decoded at once
        info = self._info
        annotation: Any = Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation
        has_config = isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel)
        # a plain class's config differs from this one in deferring at most
        return cast(
            SchemaValidator, TypeAdapter(annotation, config=None if has_config else Model.model_config).validator
        )


def _has_inherited_config(annotation: Any) -> bool:
    """Return whether a type takes over the config of the class that it is a field of, and so needs that class."""
    return isinstance(annotation, type) and (is_dataclass(annotation) or is_typeddict(annotation))


def _simple_of(annotation: Any) -> Callable[[msgspec.Raw], Any] | None:
    """Return the decoder of a field of a simple type, or of a simple type or None."""
    kind = _not_none(annotation)
    return next((decode for simple, decode in _SIMPLE if kind == simple), None)


def _not_none(annotation: Any) -> Any:
    """Return the type of an optional type; None for a union of several types."""
    if get_origin(annotation) not in (Union, UnionType):
        return annotation
    kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
    return kinds[0] if len(kinds) == 1 else None


def _model_of(annotation: Any) -> type[Model] | None:
    """Return the class of a field that is a model or an optional model."""
    kind = _not_none(annotation)
    return kind if isinstance(kind, type) and issubclass(kind, Model) else None
