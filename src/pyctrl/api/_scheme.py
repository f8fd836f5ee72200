"""Which class stands for which kind, and what a reader may be asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, TypeVar

from pyctrl.api._lazy_decoding import decode_known_lazily, decode_lazily
from pyctrl.api._names import GroupVersionKind, UntypedKind
from pyctrl.api._object import KubernetesObject, Metadata
from pyctrl.api._unstructured import Object, Unstructured
from pyctrl.errors import BuilderError, NotRegistered

__all__ = ["Kind", "KindLike", "Scheme", "decode", "decode_known", "is_metadata_only", "kind_of"]

O = TypeVar("O", bound=KubernetesObject | Unstructured)  # noqa: E741 - an object, typed or not

#: A kind whose objects are read as ``O``: its class, ``Metadata[...]`` of it, or its GroupVersionKind for Unstructured.
Kind: TypeAlias = type[O] | UntypedKind[O]
#: A kind, where the type of its objects does not matter.
KindLike: TypeAlias = type[KubernetesObject] | GroupVersionKind


def kind_of(kind: Kind[O]) -> GroupVersionKind:
    """Return the GroupVersionKind that a class, a metadata view or a GroupVersionKind stands for.

    Raises:
        NotRegistered: when it is a class that is no kind (it lacks ``group=`` and ``version=``) or something else.
    """
    if isinstance(kind, GroupVersionKind):
        return kind
    gvk: object = getattr(kind, "gvk", None)
    if isinstance(gvk, GroupVersionKind):
        return gvk
    raise NotRegistered(getattr(kind, "__name__", repr(kind)))


def is_metadata_only(kind: Kind[O]) -> bool:
    """Say whether only metadata is asked for."""
    return isinstance(kind, type) and issubclass(kind, Metadata)


def decode(kind: Kind[O], data: bytes, *, lazily: bool = False) -> O:
    """Decode an object of a kind; an item of a list gets the kind that it lacks.

    Args:
        kind: its kind.
        data: its JSON.
        lazily: decode each field of a typed object when it is looked at for the first time. What does not fit the
            type is a DecodeError there then.

    Raises:
        DecodeError: see `KubernetesObject.from_wire` and `Unstructured.from_wire`.
    """
    if not isinstance(kind, GroupVersionKind):
        cls: Any = kind  # not a cast: this runs for every object of a list
        typed: O | None = decode_lazily(cls, data) if lazily else None
        if typed is None:
            typed = cls.from_wire(data)
        return typed
    obj: Any = Unstructured.from_wire(data)
    if not obj.kind:
        obj.api_version, obj.kind = kind.api_version, kind.kind
    untyped: O = obj
    return untyped


def decode_known(kind: Kind[O], data: bytes, name: str, namespace: str, uid: str) -> O:
    """Decode an object lazily of which this much is known: nothing of a typed one before something else is looked at.

    Args:
        kind: its kind.
        data: its JSON, which begins as an API server writes it; or else it is looked into at once.
        name, namespace, uid: as the JSON has them; "" is what it does not have.

    Raises:
        DecodeError: see `decode`.
    """
    if not isinstance(kind, GroupVersionKind):
        cls: Any = kind
        found: O | None = decode_known_lazily(cls, data, name, namespace, uid)
        if found is not None:
            return found
    return decode(kind, data, lazily=True)


class Scheme:
    """The classes that an operator knows, by kind; for reading objects whose kind is known only when they come."""

    def __init__(self, *types: type[KubernetesObject]) -> None:
        self._types: dict[GroupVersionKind, type[KubernetesObject]] = {}
        for cls in types:
            self.add(cls)

    def add(self, cls: type[KubernetesObject]) -> None:
        """Register a class. Adding it again is fine; another class of the same kind is a `BuilderError`."""
        gvk = kind_of(cls)
        known = self._types.setdefault(gvk, cls)
        if known is not cls:
            raise BuilderError(f"{gvk} is {known.__qualname__} already; it cannot be {cls.__qualname__} as well")

    def type_for(self, gvk: GroupVersionKind) -> type[KubernetesObject] | None:
        """Return the class of a kind, or None."""
        return self._types.get(gvk)

    def require(self, gvk: GroupVersionKind) -> type[KubernetesObject]:
        """Return the class of a kind.

        Raises:
            NotRegistered: when there is none.
        """
        cls = self.type_for(gvk)
        if cls is None:
            raise NotRegistered(gvk)
        return cls

    def decode(self, data: bytes) -> Object:
        """Decode an object of any kind: typed when its class is registered, else Unstructured."""
        obj = Unstructured.from_wire(data)
        cls = self.type_for(obj.gvk)
        return obj if cls is None else cls.from_wire(data)

    def __contains__(self, gvk: object) -> bool:
        return gvk in self._types

    def __iter__(self) -> Iterator[GroupVersionKind]:
        return iter(self._types)
