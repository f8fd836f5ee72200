"""What is still JSON of a model: its fields are decoded when they are looked at. See docs/design/reads.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec
from pydantic import BaseModel, ValidationError

from pyctrl.errors import DecodeError

__all__ = [
    "PENDING",
    "Part",
    "Pending",
    "Plan",
    "complaints",
    "late_slot",
    "own_dict",
    "set_extra",
    "set_fields_set",
    "set_own_dict",
    "set_private",
    "whole_dict",
]

#: The dict in which an instance has its fields; its ``__dict__`` is `whole_dict`.
own_dict: Callable[[BaseModel], dict[str, Any]] = BaseModel.__dict__["__dict__"].__get__
set_own_dict: Callable[[BaseModel, dict[str, Any]], None] = BaseModel.__dict__["__dict__"].__set__
#: Its other slots, set without the detour over ``__setattr__``.
set_fields_set: Callable[[BaseModel, set[str]], None] = BaseModel.__dict__["__pydantic_fields_set__"].__set__
set_extra: Callable[[BaseModel, dict[str, Any] | None], None] = BaseModel.__dict__["__pydantic_extra__"].__set__
set_private: Callable[[BaseModel, dict[str, Any] | None], None] = BaseModel.__dict__["__pydantic_private__"].__set__

PENDING = " pending"  # the key of a `Pending` in that dict; a name that no field can have


class Part(Protocol):
    """How one field is made of its JSON."""

    #: Its name on the wire.
    alias: str

    def decode(self, raw: msgspec.Raw, pending: Pending) -> Any:
        """Make the value, whose own parts may be pending. Raises pydantic's ValidationError."""

    def default(self) -> Any:
        """Make the value when the wire has none."""


class Plan(Protocol):
    """How the instances of one class are made of JSON."""

    cls: type[Any]
    #: By the name of the field.
    parts: Mapping[str, Any]

    def decode(self, data: bytes) -> Any:
        """Make an instance of which nothing is pending. Raises pydantic's ValidationError."""

    def fields_set(self, raws: Mapping[str, msgspec.Raw]) -> set[str]:
        """Return the names of the fields that the wire has."""


class Pending(msgspec.Struct, gc=False):  # gc=False: nothing in it refers to it
    """What is not decoded yet of one model. It never changes, so that copies of the model share it."""

    plan: Plan
    data: bytes | msgspec.Raw
    raws: Mapping[str, msgspec.Raw]  # by the name on the wire; those too that are decoded by now
    path: tuple[str, ...] = ()  # where the model is in its object
    top: Pending | None = None  # of the object, when the model is a part of it

    def read(self, name: str) -> Any:
        """Make the value of a field.

        Raises:
            DecodeError: it does not fit the type.
        """
        part = self.plan.parts[name]
        raw = self.raws.get(part.alias)
        if raw is None:
            return part.default()
        try:
            return part.decode(raw, self)
        except ValidationError as error:
            raise self._error(error, (*self.path, part.alias)) from error

    def read_all(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """Make the values of all fields but those that are known. Raises DecodeError."""
        fields = self.plan.cls.__pydantic_fields__
        if self.top is None and len(known) > 1 + _ALWAYS_KNOWN:
            return {name: known[name] if name in known else self.read(name) for name in fields}
        try:
            fresh = own_dict(self.plan.decode(bytes(self.data)))
        except ValidationError as error:
            raise self._error(error, self.path) from error
        return {name: known[name] if name in known else fresh[name] for name in fields}

    def _error(self, error: ValidationError, path: tuple[str, ...]) -> DecodeError:
        top = self.top or self
        try:
            names = msgspec.json.decode(top.raws.get("metadata", b"{}"), type=_Names)
        except msgspec.DecodeError:
            names = _Names()
        whose = "/".join(filter(None, (names.namespace, names.name)))
        return DecodeError(f"{top.plan.cls.__name__}{whose and f' {whose}'}: {complaints(error, path)}")


_ALWAYS_KNOWN = 2  # api_version and kind, of objects


class _Names(msgspec.Struct):
    name: str = ""
    namespace: str | None = None


def late_slot(model: BaseModel, pending: Pending, name: str) -> Any:
    """Fill one of pydantic's slots, a set and a dict that most reads need not; None when it is another name."""
    if name == "__pydantic_fields_set__":
        set_fields_set(model, found := pending.plan.fields_set(pending.raws))
        return found
    if name == "__pydantic_extra__":
        set_extra(model, extra := dict[str, Any]())
        return extra
    return None


def whole_dict(model: BaseModel) -> dict[str, Any]:
    """Decode what is pending, and return the instance's dict: fields in their order, and what else there is."""
    own = own_dict(model)
    if PENDING not in own:
        return own
    pending: Pending = own[PENDING]
    _ = model.__pydantic_fields_set__, model.__pydantic_extra__  # what is late comes now
    whole = pending.read_all(own)
    whole.update((name, value) for name, value in own.items() if name not in whole and name is not PENDING)
    set_own_dict(model, whole)  # at once: whoever looks meanwhile sees the one or the other
    return whole


def complaints(error: ValidationError, below: tuple[str, ...] = ()) -> str:
    """Say what is wrong and where; ``below`` is the place of what was decoded."""
    return "; ".join(
        f"{e['msg']}, got {_short(e['input'])} - at {'.'.join(map(str, (*below, *e['loc']))) or 'the top'}"
        for e in error.errors(include_url=False, include_context=False)[:5]
    )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
