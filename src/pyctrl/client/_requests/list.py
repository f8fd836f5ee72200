"""Lists of objects with their resource version and continue token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar, overload

import msgspec

from pyctrl._json import UNREADABLE, why_unreadable
from pyctrl.api import Kind, ListMeta, ObjectLike, decode
from pyctrl.errors import DecodeError

__all__ = ["EncodedList", "ObjectList"]

T_co = TypeVar("T_co", covariant=True)
O = TypeVar("O", bound=ObjectLike)  # noqa: E741 - an object, typed or not


class ObjectList(Sequence[T_co], Generic[T_co]):  # noqa: PLW1641 - compared by its objects, which are mutable
    """A page of objects, or all of them: a sequence with the list's metadata."""

    __slots__ = ("_metadata", "items")

    def __init__(self, items: Sequence[T_co], metadata: ListMeta | None = None) -> None:
        self.items: Sequence[T_co] = items
        self._metadata = metadata

    @property
    def metadata(self) -> ListMeta:
        """The metadata of the list; empty for a list from a cache."""
        if self._metadata is None:
            self._metadata = ListMeta()
        return self._metadata

    @property
    def resource_version(self) -> str:
        """The version of the list, from which a watch continues."""
        return self.metadata.resource_version

    @property
    def continue_token(self) -> str:
        """The ``continue_token`` of the next page; "" on the last one."""
        return self.metadata.continue_

    @overload
    def __getitem__(self, index: int) -> T_co: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T_co]: ...
    def __getitem__(self, index: int | slice) -> T_co | Sequence[T_co]:
        return self.items[index]

    def __iter__(self) -> Iterator[T_co]:
        return iter(self.items)

    def __len__(self) -> int:
        return len(self.items)

    def __eq__(self, other: object) -> bool:
        """Compare the objects with those of any sequence: ``await client.list(Pod) == []``. Lists are not hashable."""
        if isinstance(other, Sequence) and not isinstance(other, str | bytes):
            return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))
        return NotImplemented

    def __repr__(self) -> str:
        return f"ObjectList({len(self.items)} items at version {self.resource_version!r})"


class _Envelope(msgspec.Struct):
    metadata: msgspec.Raw = msgspec.Raw(b"{}")
    items: list[msgspec.Raw] | None = None


class EncodedList:
    """A list whose items are bytes until they are decoded.

    Raises:
        DecodeError: the bytes are not a list.
    """

    __slots__ = ("_items", "metadata")

    def __init__(self, body: bytes) -> None:
        try:
            envelope = msgspec.json.decode(body, type=_Envelope)
        except UNREADABLE as error:
            raise DecodeError(f"expected a list of objects: {why_unreadable(error)}") from error
        self._items = envelope.items or []
        self.metadata = ListMeta.from_wire(bytes(envelope.metadata))

    def objects(self, kind: Kind[O]) -> Iterator[O]:
        """Iterate over the objects, decoding one at a time."""
        return (decode(kind, bytes(item)) for item in self._items)

    def decoded(self, kind: Kind[O]) -> ObjectList[O]:
        """Decode every object."""
        return ObjectList(list(self.objects(kind)), self.metadata)
