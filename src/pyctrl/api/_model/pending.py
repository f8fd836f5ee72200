"""What is still JSON of a model: its fields are decoded when they are looked at. See docs/design/reads.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import msgspec
from pydantic import BaseModel, ValidationError

from pyctrl._json import UNREADABLE, why_unreadable
from pyctrl.api._secrets import hides_values
from pyctrl.errors import DecodeError

__all__ = [
    "PENDING",
    "FieldDecoder",
    "ModelDecoder",
    "PendingFields",
    "decode_pending",
    "own_dict",
    "pydantic_slot",
    "set_extra",
    "set_fields_set",
    "set_own_dict",
    "set_private",
    "take_over",
    "validation_message",
]

#: The dict in which an instance has its fields; its ``__dict__`` is `decode_pending`.
own_dict: Callable[[BaseModel], dict[str, Any]] = BaseModel.__dict__["__dict__"].__get__
set_own_dict: Callable[[BaseModel, dict[str, Any]], None] = BaseModel.__dict__["__dict__"].__set__
#: Its other slots, set without the detour over ``__setattr__``.
set_fields_set: Callable[[BaseModel, set[str]], None] = BaseModel.__dict__["__pydantic_fields_set__"].__set__
set_extra: Callable[[BaseModel, dict[str, Any] | None], None] = BaseModel.__dict__["__pydantic_extra__"].__set__
set_private: Callable[[BaseModel, dict[str, Any] | None], None] = BaseModel.__dict__["__pydantic_private__"].__set__

PENDING = " pending"  # the key of a `PendingFields` in that dict; a name that no field can have


class FieldDecoder(Protocol):
    """How one field is made of its JSON."""

    #: Its name on the wire.
    alias: str

    def decode(self, raw: msgspec.Raw, pending: PendingFields) -> Any:
        """Make the value, whose own parts may be pending. Raises pydantic's ValidationError."""

    def default(self) -> Any:
        """Make the value when the wire has none."""


class ModelDecoder(Protocol):
    """How the instances of one class are made of JSON."""

    cls: type[Any]
    #: By the name of the field.
    parts: Mapping[str, Any]  # of `FieldDecoder`s

    @property
    def metadata(self) -> ModelDecoder | None:
        """Of objects: how their metadata is made; None when that is not what all objects have."""

    def split(self, data: bytes | msgspec.Raw) -> Mapping[str, msgspec.Raw] | None:
        """Return the members by their names on the wire; None when all has to be decoded at once."""

    def decode(self, data: bytes) -> Any:
        """Make an instance of which nothing is pending. Raises pydantic's ValidationError."""

    def fields_set(self, raws: Mapping[str, msgspec.Raw]) -> set[str]:
        """Return the names of the fields that the wire has."""

    def extras(self, raws: Mapping[str, msgspec.Raw]) -> dict[str, Any]:
        """Return what the wire has and the class does not name."""


class PendingFields(msgspec.Struct, gc=False):  # gc=False: nothing in it refers to it
    """What is not decoded yet of one model.

    It changes in one way only: what is not split is split when it is needed. So copies of the model share it.
    """

    plan: ModelDecoder
    data: bytes | msgspec.Raw | None  # None: that of its member of the parent, which has not been split either
    raws: Mapping[str, msgspec.Raw] | None = None  # by the name on the wire; those too that are decoded by now
    parent: PendingFields | None = None  # when the model is a part of another one, there under this name
    alias: str = ""

    @property
    def is_untouched(self) -> bool:
        """Whether this is a part of which nothing was looked at but what was known without its JSON."""
        return self.raws is None and self.parent is not None

    def members(self) -> Mapping[str, msgspec.Raw] | None:
        """Return the members by their names on the wire; None when all has to be decoded at once."""
        if self.raws is None:
            if self.data is None and self.parent is not None:
                self.data = (self.parent.members() or {}).get(self.alias)
            if self.data is not None:
                self.raws = self.plan.split(self.data)
        return self.raws

    def read(self, part: FieldDecoder) -> Any:
        """Make the value of a field of what is split.

        Raises:
            DecodeError: it does not fit the type.
        """
        raw = self.raws.get(part.alias) if self.raws else None
        if raw is None:
            return part.default()
        try:
            return part.decode(raw, self)
        except UNREADABLE as error:
            raise self._error(error, part.alias) from (None if hides_values(self._top) else error)

    def extras(self) -> dict[str, Any]:
        """Make what the wire has and the class does not name. Raises DecodeError."""
        try:
            return self.plan.extras(self.raws or {})
        except UNREADABLE as error:
            raise self._error(error) from error

    def read_all(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """Make the values of all fields but those that are known. Raises DecodeError."""
        fields = self.plan.cls.__pydantic_fields__
        metadata = self.untouched(known)
        if self.parent is None and len(known) > 1 + _ALWAYS_KNOWN + (metadata is not None):
            parts = self.plan.parts
            return {name: known[name] if name in known else self.read(parts[name]) for name in fields}
        fresh = own_dict(self._whole())
        if metadata is not None:
            take_over(metadata, fresh["metadata"])
        return {name: known[name] if name in known else fresh[name] for name in fields}

    def untouched(self, known: Mapping[str, Any]) -> BaseModel | None:
        """Return the metadata of an object if nothing was looked at in it but what was known without its JSON."""
        if self.plan.metadata is None or (found := known.get("metadata")) is None:
            return None
        pending = own_dict(found).get(PENDING)
        return found if pending is not None and pending.is_untouched else None

    def read_at_once(self) -> BaseModel:
        """Make the model of which nothing is pending. Raises DecodeError."""
        if self.parent is None:
            found: BaseModel = self.plan.cls.from_wire(bytes(self.data or b""))
            return found
        # Without data it is the parent that has to be decoded at once.
        return self._whole() if self.data is not None else getattr(self.parent.read_at_once(), self.alias)

    def _whole(self) -> BaseModel:
        try:
            found: BaseModel = self.plan.decode(bytes(self.data or b""))
        except UNREADABLE as error:
            raise self._error(error) from (None if hides_values(self._top) else error)
        return found

    @property
    def _top(self) -> type[BaseModel]:
        """The class of the object that this is a part of."""
        top = self
        while top.parent is not None:
            top = top.parent
        return top.plan.cls

    def _error(self, error: Exception, *below: str) -> DecodeError:
        path, top = below, self
        while top.parent is not None:
            path, top = (top.alias, *path), top.parent
        try:
            names = msgspec.json.decode((top.members() or {}).get("metadata", b"{}"), type=_Names)
        except UNREADABLE:
            names = _Names()
        whose = "/".join(filter(None, (names.namespace, names.name)))
        if isinstance(error, ValidationError):
            what = validation_message(error, path, of=top.plan.cls)
        else:
            what = f"{why_unreadable(error)} - at {'.'.join(path) or 'the top'}"
        return DecodeError(f"{top.plan.cls.__name__}{whose and f' {whose}'}: {what}")


_ALWAYS_KNOWN = 2  # api_version and kind, of objects


class _Names(msgspec.Struct):
    name: str = ""
    namespace: str | None = None


def pydantic_slot(model: BaseModel, pending: PendingFields, name: str) -> Any:
    """Fill one of pydantic's slots, a set and a dict that most reads need not; None when it is another name."""
    raws = pending.raws or {}
    if name == "__pydantic_fields_set__":
        set_fields_set(model, found := pending.plan.fields_set(raws))
        return found
    if name == "__pydantic_extra__":
        set_extra(model, extra := pending.extras())
        return extra
    return None


def decode_pending(model: BaseModel) -> dict[str, Any]:
    """Decode what is pending, and return the instance's dict: fields in their order, and what else there is."""
    own = own_dict(model)
    if PENDING not in own:
        return own
    pending: PendingFields = own[PENDING]
    if pending.members() is None:
        take_over(model, pending.read_at_once())
        return own_dict(model)
    _ = model.__pydantic_fields_set__, model.__pydantic_extra__  # what is late comes now
    return _own_dict_without_pending(model, pending.read_all(own))


def take_over(model: BaseModel, fresh: BaseModel) -> None:
    """Give a model what it lacks of an equal one, of which nothing is pending, and which nobody else has."""
    known, values = own_dict(model), own_dict(fresh)
    pending: PendingFields = known[PENDING]
    set_fields_set(model, fresh.__pydantic_fields_set__)
    set_extra(model, fresh.__pydantic_extra__)
    if pending.is_untouched:
        set_own_dict(model, values)
        return
    metadata = pending.untouched(known)
    if metadata is not None:
        take_over(metadata, values["metadata"])
    _own_dict_without_pending(model, {name: known[name] if name in known else values[name] for name in values})


def _own_dict_without_pending(model: BaseModel, whole: dict[str, Any]) -> dict[str, Any]:
    whole.update((name, value) for name, value in own_dict(model).items() if name not in whole and name is not PENDING)
    set_own_dict(model, whole)  # at once: whoever looks meanwhile sees the one or the other
    return whole


def validation_message(error: ValidationError, below: tuple[str, ...] = (), *, of: type[BaseModel]) -> str:
    """Say what is wrong and where.

    Args:
        error: what pydantic says.
        below: the place of what was decoded.
        of: the class of the object; values of those that hide them are left out.
    """
    is_hidden = hides_values(of)
    return "; ".join(
        f"{e['msg']}{'' if is_hidden else ', got ' + _short(e['input'])}"
        f" - at {'.'.join(map(str, (*below, *e['loc']))) or 'the top'}"
        for e in error.errors(include_url=False, include_context=False)[:5]
    )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
