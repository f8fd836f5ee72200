"""Which classes and fields can be decoded one field at a time, and how it is done."""

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

#: What decodes values of types that msgspec, which is quicker, reads as pydantic does, or not at all.
_SIMPLE: list[tuple[Any, Callable[[msgspec.Raw], Any]]] = [
    (kind, msgspec.json.Decoder(kind).decode) for kind in (str, int, bool, list[str], dict[str, str])
]

#: Reads a part of an object whose own fields may be pending; None when it has to be decoded at once.
DecodeModel = Callable[[type[Model], msgspec.Raw, PendingFields, str], Model | None]


class NotDecodableAlone(Exception):
    """A field that can only be decoded together with the others of its class."""


def is_plain(cls: type[Model]) -> bool:
    """Say whether nothing that is a class's own runs when an instance is made, or could see how it was made."""
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
    """Return what a class or the first of its bases has of this name."""
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def _decisive(config: ConfigDict) -> dict[str, Any]:
    return {name: value for name, value in config.items() if name not in _HARMLESS}


def _is_complete(cls: type[Model]) -> bool:
    """Say whether the types of all fields are known, after looking for those that were not."""
    if cls.__pydantic_fields_complete__:
        return True
    try:
        return cls.model_rebuild(raise_errors=False) is not False
    except PydanticUserError:
        return False


def validator_of(cls: type[Model]) -> SchemaValidator:
    """Return what decodes a class; it is built at its first use."""
    if not cls.__pydantic_complete__:
        cls.model_rebuild()
    return cast(SchemaValidator, cls.__pydantic_validator__)


class SingleFieldDecoder:
    """One field of a class. What decodes it is made at its first use."""

    def __init__(self, name: str, info: FieldInfo, read_part: DecodeModel) -> None:
        """Look at a field.

        Raises:
            Unfit: it needs the other fields, or has its JSON from somewhere else.
        """
        alias = info.validation_alias
        if not isinstance(alias, str) or allows_extra(info) or info.discriminator or info.validate_default:
            raise NotDecodableAlone(name)
        if name in ("api_version", "kind") and info.annotation is not str:
            raise NotDecodableAlone(name)
        if _has_inherited_config(info.annotation):
            raise NotDecodableAlone(name)
        self.alias = alias
        #: Makes the value of a field that is not there.
        self.default: Callable[[], Any] = default_of(info)
        self._info, self._read_part = info, read_part
        #: The class of what can be pending itself.
        self.model: type[Model] | None = None if info.metadata else _model_of(info.annotation)
        self._simple = None if info.metadata else _simple_of(info.annotation)
        self._validator: SchemaValidator | None = None

    def decode(self, raw: msgspec.Raw, pending: PendingFields) -> Any:
        """Make the value, whose own parts may be pending."""
        if self._simple is not None:
            try:
                return self._simple(raw)
            except msgspec.MsgspecError:
                pass  # pydantic takes more, and says what is wrong
        elif self.model is not None:
            part = self._read_part(self.model, raw, pending, self.alias)
            if part is not None:
                return part
        if self._validator is None:
            self._validator = self._new_validator()
        return from_bytes(self._validator, bytes(raw))

    def _new_validator(self) -> SchemaValidator:
        if self.model is not None:
            return validator_of(self.model)  # the field is not null: such objects are decoded at once
        info = self._info
        annotation: Any = Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation
        has_config = isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel)
        # the config of a plain class, but for what it may say of deferring
        return cast(
            SchemaValidator, TypeAdapter(annotation, config=None if has_config else Model.model_config).validator
        )


def _has_inherited_config(annotation: Any) -> bool:
    """Say whether a type takes over the config of the class that it is a field of, which needs that class."""
    return isinstance(annotation, type) and (is_dataclass(annotation) or is_typeddict(annotation))


def _simple_of(annotation: Any) -> Callable[[msgspec.Raw], Any] | None:
    """Return what decodes a field of a simple type, or of such a one and None beside."""
    kind = _not_none(annotation)
    return next((decode for simple, decode in _SIMPLE if kind == simple), None)


def _not_none(annotation: Any) -> Any:
    """Return a type without the None that it can be beside; None when it can be several things."""
    if get_origin(annotation) not in (Union, UnionType):
        return annotation
    kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
    return kinds[0] if len(kinds) == 1 else None


def _model_of(annotation: Any) -> type[Model] | None:
    """Return the class of a field that is a model, or can be None beside."""
    kind = _not_none(annotation)
    return kind if isinstance(kind, type) and issubclass(kind, Model) else None
