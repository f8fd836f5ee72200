"""Untyped objects, for any kind."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Self, TypeAlias

import msgspec

from pyctrl._json import UNREADABLE, why_unreadable
from pyctrl.api._meta import ObjectMeta
from pyctrl.api._names import GroupVersionKind, Key
from pyctrl.api._object import KubernetesObject
from pyctrl.api._secrets import redacted
from pyctrl.errors import DecodeError

__all__ = ["Object", "Unstructured"]

_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class Unstructured(MutableMapping[str, Any]):
    """An object as nested dicts and lists, with typed metadata.

    ``obj["spec"]["size"] = 3`` reads and changes everything but the metadata. The metadata is `obj.metadata`, an
    `ObjectMeta`; ``obj["metadata"]`` raises KeyError, so that there is a single copy. The object takes ownership of the
    dicts that it is created from.
    """

    __slots__ = ("_content", "_metadata")

    def __init__(self, content: dict[str, Any]) -> None:
        self._content = content
        self._metadata: ObjectMeta | None = None

    @classmethod
    def new(cls, gvk: GroupVersionKind, *, name: str = "", namespace: str = "", **content: Any) -> Self:
        """Make an object of a kind: ``Unstructured.new(gvk, name="a", namespace="default", spec={...})``."""
        metadata = {k: v for k, v in (("name", name), ("namespace", namespace)) if v}
        return cls({"apiVersion": gvk.api_version, "kind": gvk.kind, "metadata": metadata, **content})

    @classmethod
    def from_wire(cls, data: bytes | str | Mapping[str, Any]) -> Self:
        """Decode JSON (bytes, text, or already decoded; of a mapping only the top level is copied).

        Raises:
            DecodeError: the data is not a JSON object.
        """
        try:
            content = dict(data) if isinstance(data, Mapping) else _decode(data)
        except UNREADABLE as error:
            raise DecodeError(f"not JSON that can be decoded: {why_unreadable(error)}") from error
        if not isinstance(content, dict):
            raise DecodeError(f"expected a JSON object, got {type(content).__name__}")
        return cls(content)

    @property
    def api_version(self) -> str:
        """``group/version``, or the version alone in the core group."""
        return str(self._content.get("apiVersion") or "")

    @api_version.setter
    def api_version(self, value: str) -> None:
        self._content["apiVersion"] = value

    @property
    def kind(self) -> str:
        """The kind's name."""
        return str(self._content.get("kind") or "")

    @kind.setter
    def kind(self, value: str) -> None:
        self._content["kind"] = value

    @property
    def gvk(self) -> GroupVersionKind:
        """The kind, with group and version."""
        return GroupVersionKind.parse(self.api_version, self.kind)

    @property
    def metadata(self) -> ObjectMeta:
        """The object's metadata, typed. It is decoded at the first use."""
        if self._metadata is None:
            self._metadata = ObjectMeta.from_wire(self._content.pop("metadata", None) or {})
        return self._metadata

    @property
    def key(self) -> Key:
        """Namespace and name."""
        if self._metadata is None:  # decoding all of it takes fifty times as long
            found = self._content.get("metadata")
            name, namespace = (found.get("name"), found.get("namespace")) if type(found) is dict else (None, None)
            if type(name) is str and (namespace is None or type(namespace) is str):
                return Key(namespace or "", name)
        return Key.of(self)

    def to_wire(self) -> dict[str, Any]:
        """Return the object as JSON-ready dicts and lists, shared with the object below the top level."""
        if self._metadata is None:
            return dict(self._content)
        content = {k: v for k, v in self._content.items() if k in ("apiVersion", "kind")}
        return {**content, "metadata": self._metadata.to_wire(), **self._content}

    def to_json(self) -> bytes:
        """Return the object as JSON bytes."""
        return _encode(self.to_wire())

    def deep_copy(self) -> Self:
        """Return an independent copy."""
        return type(self)(copy.deepcopy(self.to_wire()))

    def __getitem__(self, field: str) -> Any:
        self._refuse_metadata(field)
        return self._content[field]

    def __setitem__(self, field: str, value: Any) -> None:
        self._refuse_metadata(field)
        self._content[field] = value

    def __delitem__(self, field: str) -> None:
        self._refuse_metadata(field)
        del self._content[field]

    @staticmethod
    def _refuse_metadata(field: str) -> None:
        if field == "metadata":
            raise KeyError("metadata is read and changed as .metadata, which is typed")

    def __iter__(self) -> Iterator[str]:
        return (field for field in self._content if field != "metadata")

    def __len__(self) -> int:
        return len(self._content) - ("metadata" in self._content)

    __hash__ = None  # type: ignore[assignment]  # it can be changed, like a dict

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unstructured) and self.to_wire() == other.to_wire()

    def __repr__(self) -> str:
        return f"Unstructured({redacted(self.to_wire())!r})"


#: Any object, typed or untyped: both have `gvk`, `key`, `metadata`, `to_wire` and `to_json`.
Object: TypeAlias = KubernetesObject | Unstructured
