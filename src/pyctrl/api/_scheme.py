"""The scheme: classes by kind, and the decoding of objects of a kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias, TypeVar

from pyctrl.api._lazy_decoding import decode_known_lazily, decode_lazily
from pyctrl.api._names import GroupVersionKind, UntypedKind
from pyctrl.api._object import KubernetesObject, Metadata
from pyctrl.api._openapi_models import ObjectLike, OpenApiModel, is_model_class
from pyctrl.api._unstructured import Object, Unstructured
from pyctrl.errors import BuilderError, NotRegistered

__all__ = ["Kind", "KindLike", "Scheme", "decode", "decode_known", "is_metadata_only", "kind_of"]

O = TypeVar("O", bound=ObjectLike)  # noqa: E741 - an object, typed or not

#: A kind whose objects decode as ``O``: a class, ``Metadata[...]`` of it, a model class of kubernetes_asyncio, or a
#: GroupVersionKind (Unstructured).
Kind: TypeAlias = type[O] | UntypedKind[O]
#: A kind, where the type of its objects does not matter.
KindLike: TypeAlias = type[KubernetesObject] | type[OpenApiModel] | GroupVersionKind


def kind_of(kind: Kind[O]) -> GroupVersionKind:
    """Return the GroupVersionKind that a class, a metadata view or a GroupVersionKind stands for.

    Raises:
        NotRegistered: it is a class without ``group=`` and ``version=``, or not a kind at all, such as a V1PodSpec.
    """
    if isinstance(kind, GroupVersionKind):
        return kind
    gvk: object = getattr(kind, "gvk", None)
    if isinstance(gvk, GroupVersionKind):
        return gvk
    if is_model_class(kind):
        from pyctrl.api import _openapi_conversion  # here: most programs have no models

        cls: Any = kind
        found = _openapi_conversion.gvk_of(cls)
        if found is not None:
            return found
    raise NotRegistered(getattr(kind, "__name__", repr(kind)))


def is_metadata_only(kind: Kind[O]) -> bool:
    """Return whether a kind stands for the metadata of its objects only."""
    return isinstance(kind, type) and issubclass(kind, Metadata)


def decode(kind: Kind[O], data: bytes, *, lazily: bool = False) -> O:
    """Decode an object of a kind. An item of a list gets the apiVersion and kind that it lacks.

    Args:
        kind: the object's kind.
        data: the object's JSON.
        lazily: decode each field of a typed object when it is first read. A field that does not fit its type then
            raises DecodeError.

    Raises:
        DecodeError: see `KubernetesObject.from_wire` and `Unstructured.from_wire`.
    """
    if not isinstance(kind, GroupVersionKind):
        cls: Any = kind  # not a cast: this runs for every object of a list
        typed: O | None = decode_lazily(cls, data) if lazily else None
        if typed is None:
            from_wire = getattr(cls, "from_wire", None)
            typed = from_wire(data) if from_wire is not None else _decode_model(cls, data)
        return typed
    obj: Any = Unstructured.from_wire(data)
    if not obj.kind:
        obj.api_version, obj.kind = kind.api_version, kind.kind
    untyped: O = obj
    return untyped


def _decode_model(cls: type, data: bytes) -> Any:
    if not is_model_class(cls):
        raise NotRegistered(cls.__name__)
    from pyctrl.api import _openapi_conversion  # here: most programs have no models

    return _openapi_conversion.from_wire(cls, data)


def decode_known(kind: Kind[O], data: bytes, name: str, namespace: str, uid: str) -> O:
    """Decode an object lazily whose name, namespace and uid are known. Nothing else of a typed object is read yet.

    Args:
        kind: the object's kind.
        data: the object's JSON. It is read at once unless it begins as API servers write it.
        name: as in the JSON; so are namespace and uid. "" for absent ones.

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
    """Registry of the classes of kinds, to decode objects whose kind is known only at run time."""

    def __init__(self, *types: type[KubernetesObject]) -> None:
        self._types: dict[GroupVersionKind, type[KubernetesObject]] = {}
        for cls in types:
            self.add(cls)

    def add(self, cls: type[KubernetesObject]) -> None:
        """Register a class. Adding the same class twice is allowed.

        Raises:
            BuilderError: another class of the same kind is registered.
        """
        gvk = kind_of(cls)
        known = self._types.setdefault(gvk, cls)
        if known is not cls:
            raise BuilderError(f"{gvk} is registered as {known.__qualname__}; it cannot be {cls.__qualname__} as well")

    def type_for(self, gvk: GroupVersionKind) -> type[KubernetesObject] | None:
        """Return the class of a kind, or None."""
        return self._types.get(gvk)

    def require(self, gvk: GroupVersionKind) -> type[KubernetesObject]:
        """Return the class of a kind.

        Raises:
            NotRegistered: no class is registered for it.
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
