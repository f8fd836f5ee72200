"""JSON of a model that is not decoded yet. Fields are decoded when they are read. See docs/design/reads.md."""

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

#: The dict that holds an instance's fields; its ``__dict__`` is `decode_pending`.
own_dict: Callable[[BaseModel], dict[str, Any]] = BaseModel.__dict__["__dict__"].__get__
set_own_dict: Callable[[BaseModel, dict[str, Any]], None] = BaseModel.__dict__["__dict__"].__set__
#: Its other slots, set without ``__setattr__``.
set_fields_set: Callable[[BaseModel, set[str]], None] = BaseModel.__dict__["__pydantic_fields_set__"].__set__
set_extra: Callable[[BaseModel, dict[str, Any] | None], None] = BaseModel.__dict__["__pydantic_extra__"].__set__
set_private: Callable[[BaseModel, dict[str, Any] | None], None] = BaseModel.__dict__["__pydantic_private__"].__set__

PENDING = " pending"  # the key of a `PendingFields` in that dict; not a valid field name


class FieldDecoder(Protocol):
    """Decodes one field from its JSON."""

    #: The field's name on the wire.
    alias: str

    def decode(self, raw: msgspec.Raw, pending: PendingFields) -> Any:
        """Return the value, whose own parts may be pending. Raises pydantic's ValidationError."""

    def default(self) -> Any:
        """Return the value of a field that the wire does not have."""


class ModelDecoder(Protocol):
    """Decodes instances of one class from JSON."""

    cls: type[Any]
    #: By the name of the field.
    parts: Mapping[str, Any]  # of `FieldDecoder`s

    @property
    def metadata(self) -> ModelDecoder | None:
        """The decoder of an object's metadata; None when it is not an `ObjectMeta`."""

    def split(self, data: bytes | msgspec.Raw) -> Mapping[str, msgspec.Raw] | None:
        """Return the members by their names on the wire; None when the whole has to be decoded at once."""

    def decode(self, data: bytes) -> Any:
        """Return an instance without pending fields. Raises pydantic's ValidationError."""

    def fields_set(self, raws: Mapping[str, msgspec.Raw]) -> set[str]:
        """Return the names of the fields that the wire has."""

    def extras(self, raws: Mapping[str, msgspec.Raw]) -> dict[str, Any]:
        """Return the members of the wire that the class does not name."""


class PendingFields(msgspec.Struct, gc=False):  # gc=False: it is in no reference cycle
    """Fields of one model that are not decoded yet.

    Its only change is that the JSON is split when first needed. Copies of the model can therefore share it.
    """

    plan: ModelDecoder
    data: bytes | msgspec.Raw | None  # None: the parent's member, when the parent has not been split either
    raws: Mapping[str, msgspec.Raw] | None = None  # by the name on the wire, including decoded ones
    parent: PendingFields | None = None  # the model that contains this one under the name `alias`
    alias: str = ""

    @property
    def is_untouched(self) -> bool:
        """Whether this is a part of which only fields known without its JSON were read."""
        return self.raws is None and self.parent is not None

    def members(self) -> Mapping[str, msgspec.Raw] | None:
        """Return the members by their names on the wire; None when the whole has to be decoded at once."""
        if self.raws is None:
            if self.data is None and self.parent is not None:
                self.data = (self.parent.members() or {}).get(self.alias)
            if self.data is not None:
                self.raws = self.plan.split(self.data)
        return self.raws

    def read(self, part: FieldDecoder) -> Any:
        """Return the value of a field; the JSON must have been split.

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
        """Return the members of the wire that the class does not name. Raises DecodeError."""
        try:
            return self.plan.extras(self.raws or {})
        except UNREADABLE as error:
            raise self._error(error) from error

    def read_all(self, known: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of all fields, decoding those that are not in ``known``. Raises DecodeError."""
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
        """Return an object's metadata if only fields known without its JSON were read; else None."""
        if self.plan.metadata is None or (found := known.get("metadata")) is None:
            return None
        pending = own_dict(found).get(PENDING)
        return found if pending is not None and pending.is_untouched else None

    def read_at_once(self) -> BaseModel:
        """Return the model without pending fields. Raises DecodeError."""
        if self.parent is None:
            found: BaseModel = self.plan.cls.from_wire(bytes(self.data or b""))
            return found
        # Without data the parent has to be decoded at once.
        return self._whole() if self.data is not None else getattr(self.parent.read_at_once(), self.alias)

    def _whole(self) -> BaseModel:
        try:
            found: BaseModel = self.plan.decode(bytes(self.data or b""))
        except UNREADABLE as error:
            raise self._error(error) from (None if hides_values(self._top) else error)
        return found

    @property
    def _top(self) -> type[BaseModel]:
        """The class of the outermost object."""
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
    """Fill one of pydantic's slots, a set and a dict that most reads do not need; None for any other name."""
    raws = pending.raws or {}
    if name == "__pydantic_fields_set__":
        set_fields_set(model, found := pending.plan.fields_set(raws))
        return found
    if name == "__pydantic_extra__":
        set_extra(model, extra := pending.extras())
        return extra
    return None


def decode_pending(model: BaseModel) -> dict[str, Any]:
    """Decode the pending fields and return the instance's dict: fields in order, then its other attributes."""
    own = own_dict(model)
    if PENDING not in own:
        return own
    pending: PendingFields = own[PENDING]
    if pending.members() is None:
        take_over(model, pending.read_at_once())
        return own_dict(model)
    _ = model.__pydantic_fields_set__, model.__pydantic_extra__  # fills both slots
    return _own_dict_without_pending(model, pending.read_all(own))


def take_over(model: BaseModel, fresh: BaseModel) -> None:
    """Complete a model from an equal, fully decoded one that has no other references."""
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
    set_own_dict(model, whole)  # one assignment: concurrent readers see the old or the new dict
    return whole


def validation_message(error: ValidationError, below: tuple[str, ...] = (), *, of: type[BaseModel]) -> str:
    """Return the text of a validation error: what is wrong, and at which path.

    Args:
        error: pydantic's error.
        below: the path of the decoded part.
        of: the class of the object; some classes hide values in messages.
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
