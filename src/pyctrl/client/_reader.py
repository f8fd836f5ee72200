"""Reading, as a protocol: what a reconciler may ask of a live client and of a cached one alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar, overload

from pyctrl.api import GroupVersionKind, Key, KubernetesObject, Unstructured
from pyctrl.client._options import Fields, Labels

__all__ = ["Reader"]

T = TypeVar("T", bound=KubernetesObject)


class Reader(Protocol):
    """Reads objects, live or from a cache.

    A class gives objects of that class, ``Metadata[...]`` of it only their metadata, and a GroupVersionKind gives
    `Unstructured`. Every object that is returned belongs to the caller.
    """

    @overload
    async def get(self, kind: type[T], key: Key) -> T: ...
    @overload
    async def get(self, kind: GroupVersionKind, key: Key) -> Unstructured: ...

    @overload
    async def find(self, kind: type[T], key: Key) -> T | None: ...
    @overload
    async def find(self, kind: GroupVersionKind, key: Key) -> Unstructured | None: ...

    @overload
    async def list(
        self, kind: type[T], *, namespace: str | None = None, labels: Labels = None, fields: Fields = None
    ) -> Sequence[T]: ...
    @overload
    async def list(
        self,
        kind: GroupVersionKind,
        *,
        namespace: str | None = None,
        labels: Labels = None,
        fields: Fields = None,
    ) -> Sequence[Unstructured]: ...
