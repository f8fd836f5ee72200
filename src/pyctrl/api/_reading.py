"""Reads objects without decoding them: what is looked at is decoded then. See docs/design/reads.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import msgspec
from pydantic_core import from_json

from ._fields import FieldPart, Unfit, is_plain, validator_of
from ._model import Model, from_bytes
from ._object import KubernetesObject, Metadata
from ._pending import PENDING, Pending, set_extra, set_own_dict, set_private

__all__ = ["read_lazily"]

T = TypeVar("T", bound=KubernetesObject)

MOST_SHAPES = 64  # sets of keys that are remembered of a class; objects of a kind have a handful
WORTH_WAITING = 512  # bytes of a part: to decode less, some 4 µs, costs no more than to put it off

_scan = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def read_lazily(cls: type[T], data: bytes) -> T | None:
    """Read an object of a kind whose fields are decoded when they are looked at.

    None when it must be decoded at once: its class could tell the difference, or it is not quite what is expected.
    What is wrong with a field is a DecodeError where the field is looked at first.
    """
    plan = _plan(cls)
    if plan is None:
        return None
    try:
        raws = _scan(data)
    except msgspec.DecodeError:
        return None
    shape = plan.shape(raws)
    if shape is None or not plan.is_of_kind(raws):
        return None
    own = {"api_version": cls.gvk.api_version, "kind": cls.gvk.kind, PENDING: Pending(plan, data, raws)}
    found: T = _instance(cls, own, shape, raws)
    return found


def _read_part(cls: type[Model], raw: msgspec.Raw, parent: Pending, alias: str) -> Model | None:
    """Read a part of an object likewise."""
    plan = _plan(cls) if len(raw) >= WORTH_WAITING else None
    if plan is None:
        return None
    try:
        raws = _scan(raw)
    except msgspec.DecodeError:
        return None
    shape = plan.shape(raws)
    if shape is None:
        return None
    pending = Pending(plan, raw, raws, (*parent.path, alias), parent.top or parent)
    found: Model = _instance(cls, {PENDING: pending}, shape, raws)
    return found


@dataclass(frozen=True, slots=True)
class _Shape:
    """What the keys of an object say: which fields are set, and what the class does not name."""

    fields_set: frozenset[str]
    extras: tuple[str, ...]


def _instance(cls: type[Model], own: dict[str, Any], shape: _Shape, raws: Mapping[str, msgspec.Raw]) -> Any:
    obj = object.__new__(cls)
    set_own_dict(obj, own)  # see `late_slot` for what is not set
    if shape.extras:
        set_extra(obj, {key: from_json(bytes(raws[key])) for key in shape.extras})
    set_private(obj, None)
    return obj


class _Plan:
    """How the instances of one class are read."""

    def __init__(self, cls: type[Model], parts: Mapping[str, FieldPart]) -> None:
        self.cls, self.parts = cls, parts
        self._names = {part.alias: name for name, part in parts.items()}
        self._required = {name for name, info in cls.__pydantic_fields__.items() if info.is_required()}
        self._is_view = issubclass(cls, Metadata)
        self._shapes: dict[tuple[str, ...], _Shape | None] = {}
        self._identity: tuple[tuple[str, bytes], ...] = ()
        if issubclass(cls, KubernetesObject) and not self._is_view:
            self._identity = (("apiVersion", _json(cls.gvk.api_version)), ("kind", _json(cls.gvk.kind)))

    def decode(self, data: bytes) -> Any:
        """Make an instance of which nothing is pending."""
        return from_bytes(validator_of(self.cls), data)

    def fields_set(self, raws: Mapping[str, msgspec.Raw]) -> set[str]:
        """Return the names of the fields that the wire has."""
        shape = self.shape(raws)
        assert shape is not None  # or else it would have been decoded at once
        return set(shape.fields_set)

    def is_of_kind(self, raws: Mapping[str, msgspec.Raw]) -> bool:
        """Say whether an object is of the kind that is read, or does not say, as in lists."""
        return not [key for key, value in self._identity if key in raws and bytes(raws[key]) != value]

    def shape(self, raws: Mapping[str, msgspec.Raw]) -> _Shape | None:
        """Return the shape of what has these members; None when it must be decoded at once.

        So it is when a required field is missing, and when a field is null: nulls are kept beside their fields.
        """
        if 4 in map(len, raws.values()) and any(bytes(raw) == b"null" for raw in raws.values()):
            return None
        keys = tuple(raws)
        return self._shapes[keys] if keys in self._shapes else self._new_shape(keys)

    def _new_shape(self, keys: tuple[str, ...]) -> _Shape | None:
        names = frozenset(self._names.get(key, key) for key in keys)
        extras = tuple(key for key in keys if key not in self._names)
        if self._is_view:  # which leaves out what it does not know, and has been given its kind
            names, extras = names | {"api_version", "kind"}, ()
        shape = _Shape(names, extras) if names >= self._required else None
        if len(self._shapes) < MOST_SHAPES:
            self._shapes[keys] = shape
        return shape


def _json(text: str) -> bytes:
    return msgspec.json.encode(text)


@cache
def _plan(cls: type[Model]) -> _Plan | None:
    """Return how to read a class without decoding; None when it could tell, or a field does not allow it."""
    if not is_plain(cls) or getattr(cls.from_wire, "__func__", None) not in _FROM_WIRE:
        return None
    try:
        fields = cls.__pydantic_fields__.items()
        return _Plan(cls, {name: FieldPart(name, info, _read_part) for name, info in fields})
    except Unfit:
        return None


_FROM_WIRE = tuple(cls.from_wire.__func__ for cls in (Model, KubernetesObject, Metadata))  # type: ignore[attr-defined]
