"""Lazy decoding: fields of an object are decoded when they are read. See docs/design/reads.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

import msgspec
from pydantic_core import from_json

from pyctrl._json import UNREADABLE
from pyctrl.api._meta import ObjectMeta
from pyctrl.api._model.field_decoders import NotDecodableAlone, SingleFieldDecoder, is_plain, validator_of
from pyctrl.api._model.model import Model, from_bytes
from pyctrl.api._model.pending import PENDING, PendingFields, set_own_dict, set_private
from pyctrl.api._object import KubernetesObject, Metadata

__all__ = ["decode_known_lazily", "decode_lazily"]

T = TypeVar("T", bound=KubernetesObject)

MOST_SHAPES = 64  # sets of keys that are remembered per class; objects of a kind have a handful
METADATA = "metadata"
LAZY_MINIMUM_BYTES = 512  # bytes of a part; decoding a smaller one (some 4 µs) costs no more than deferring it

_NULL = msgspec.Raw(b"null")
_scan = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def decode_lazily(cls: type[T], data: bytes) -> T | None:
    """Return an object of a kind whose fields are decoded when they are read.

    None when the object must be decoded at once: its class could detect the difference, or its JSON is unusual.
    Reading a field that does not fit its type raises DecodeError.
    """
    plan = _model_decoder(cls)
    raws = None if plan is None else plan.split(data)
    if plan is None or raws is None:
        return None
    found: T = _instance(
        cls, {"api_version": plan.api_version, "kind": plan.kind, PENDING: PendingFields(plan, data, raws)}
    )
    return found


def decode_known_lazily(cls: type[T], data: bytes, name: str, namespace: str, uid: str) -> T | None:
    """Return an object whose name, namespace and uid are known. Its JSON is read with the first other field.

    None when that is not possible: use `decode_lazily`. If the object is malformed, reading a field that is not
    known here raises DecodeError.
    """
    plan = _model_decoder(cls)
    if plan is None or plan.metadata is None or not data.startswith(plan.heads):
        return None
    top = PendingFields(plan, data)
    rest = PendingFields(plan.metadata, None, None, top, METADATA)
    metadata = _instance(ObjectMeta, {"name": name, "namespace": namespace, "uid": uid, PENDING: rest})
    own = {"api_version": plan.api_version, "kind": plan.kind, METADATA: metadata, PENDING: top}
    found: T = _instance(cls, own)
    return found


def _decode_part(cls: type[Model], raw: msgspec.Raw, parent: PendingFields, alias: str) -> Model | None:
    """Return a part of an object, decoded lazily; None when it must be decoded at once."""
    plan = _model_decoder(cls)
    raws = None if plan is None else plan.split(raw)
    if plan is None or raws is None:
        return None
    found: Model = _instance(cls, {PENDING: PendingFields(plan, raw, raws, parent, alias)})
    return found


def _instance(cls: type[Model], own: dict[str, Any]) -> Any:
    obj = object.__new__(cls)
    set_own_dict(obj, own)  # `pydantic_slot` fills the others
    set_private(obj, None)
    return obj


@dataclass(frozen=True, slots=True)
class _Shape:
    """The meaning of a set of keys: the fields that are set, and the keys that the class does not name."""

    fields_set: frozenset[str]
    extras: tuple[str, ...]
    is_complete: bool  # no required field is missing


class _ModelDecoder:
    """Decodes instances of one class lazily."""

    def __init__(self, cls: type[Model], parts: Mapping[str, SingleFieldDecoder]) -> None:
        self.cls, self.parts = cls, parts
        self._names = {part.alias: name for name, part in parts.items()}
        self._required = {name for name, info in cls.__pydantic_fields__.items() if info.is_required()}
        self._is_view = issubclass(cls, Metadata)
        self._shapes: dict[tuple[str, ...], _Shape] = {}
        self._identity: tuple[tuple[str, msgspec.Raw], ...] = ()
        # Of metadata few fields are read: a pod's deletion timestamp takes 4 µs instead of 7.
        self._least = 0 if issubclass(cls, KubernetesObject | ObjectMeta) else LAZY_MINIMUM_BYTES
        self.api_version = self.kind = ""
        #: The decoder of its metadata; None when it is not an `ObjectMeta`.
        self.metadata: _ModelDecoder | None = None
        #: Beginnings of JSON whose kind need not be checked.
        self.heads: tuple[bytes, ...] = (b"{",)
        if issubclass(cls, KubernetesObject):
            self._know_kind(cls.gvk.api_version, cls.gvk.kind)

    def _know_kind(self, api_version: str, kind: str) -> None:
        self.api_version, self.kind = api_version, kind
        if self.parts[METADATA].model is ObjectMeta:
            self.metadata = _model_decoder(ObjectMeta)
        if not self._is_view:
            version, name = msgspec.json.encode(api_version), msgspec.json.encode(kind)
            self._identity = (("apiVersion", msgspec.Raw(version)), ("kind", msgspec.Raw(name)))
            self.heads = (
                b'{"apiVersion":%s,"kind":%s,' % (version, name),  # custom resources: in the order of the alphabet
                b'{"kind":%s,"apiVersion":%s,' % (name, version),
                b'{"metadata":{',  # items of lists of built-in kinds
            )

    def split(self, data: bytes | msgspec.Raw) -> Mapping[str, msgspec.Raw] | None:
        """Return the members of JSON that can be decoded field by field.

        None when it cannot: it is of another kind, lacks a required field, or a field is null (nulls are kept beside
        their fields).
        """
        if len(data) < self._least:
            return None
        try:
            raws = _scan(data)
        except UNREADABLE:
            return None
        for key, value in self._identity:
            if raws.get(key, value) != value:  # an item of a list may lack it
                return None
        return None if _NULL in raws.values() or not self._shape(raws).is_complete else raws

    def decode(self, data: bytes) -> Any:
        """Return an instance without pending fields."""
        return from_bytes(validator_of(self.cls), data)

    def fields_set(self, raws: Mapping[str, msgspec.Raw]) -> set[str]:
        """Return the names of the fields that the wire has."""
        return set(self._shape(raws).fields_set)

    def extras(self, raws: Mapping[str, msgspec.Raw]) -> dict[str, Any]:
        """Return the members of the wire that the class does not name."""
        return {key: from_json(bytes(raws[key])) for key in self._shape(raws).extras}

    def _shape(self, raws: Mapping[str, msgspec.Raw]) -> _Shape:
        keys = tuple(raws)
        return self._shapes.get(keys) or self._new_shape(keys)

    def _new_shape(self, keys: tuple[str, ...]) -> _Shape:
        names = frozenset(self._names.get(key, key) for key in keys)
        extras = tuple(key for key in keys if key not in self._names)
        if self._is_view:  # a view drops unknown fields, and its kind is set
            names, extras = names | {"api_version", "kind"}, ()
        shape = _Shape(names, extras, names >= self._required)
        if len(self._shapes) < MOST_SHAPES:
            self._shapes[keys] = shape
        return shape


@cache
def _model_decoder(cls: type[Model]) -> _ModelDecoder | None:
    """Return the lazy decoder of a class; None when the class could detect it, or a field does not allow it."""
    found: type = cls
    if not issubclass(found, Model) or not is_plain(cls) or getattr(cls.from_wire, "__func__", None) not in _FROM_WIRE:
        return None
    if issubclass(cls, KubernetesObject) and not hasattr(cls, "gvk"):
        return None  # a nested object of any kind
    try:
        fields = cls.__pydantic_fields__.items()
        return _ModelDecoder(cls, {name: SingleFieldDecoder(name, info, _decode_part) for name, info in fields})
    except NotDecodableAlone:
        return None


_FROM_WIRE = tuple(cls.from_wire.__func__ for cls in (Model, KubernetesObject, Metadata))  # type: ignore[attr-defined]
