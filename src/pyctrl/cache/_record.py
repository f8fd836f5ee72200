"""A cached object: its JSON bytes, and the metadata that the cache needs for every event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from pyctrl._json import UNREADABLE
from pyctrl.api import Key, Kind, ObjectLike, OwnerReference, decode, decode_known
from pyctrl.cache._compression import Compressor, Decompress
from pyctrl.cache._metadata import IdentityReader, ObjectIdentity, Owner, head_of, read_details
from pyctrl.cache._transform import BytesTransform, strip_managed_fields

__all__ = ["UNORDERED", "Record", "RecordReader", "version_number"]

O = TypeVar("O", bound=ObjectLike)  # noqa: E741 - an object, typed or not

UNORDERED = 0  # stands for a resource version that is not a number: such versions do not compare


class Record(msgspec.Struct, gc=False, eq=False):  # gc=False: nothing in it refers to it, so collections skip it
    """An object as the cache stores it: shared between readers, and immutable except for `held`.

    `labels`, `annotations` and the like decode the metadata at each access, in a microsecond or two. `decode` returns a
    fresh object that belongs to the caller.
    """

    #: The bytes that are stored: JSON, or compressed JSON for `unpack`.
    kept: bytes
    name: str
    namespace: str
    uid: str
    #: The resource version as a number; those of one resource compare (KEP-5504). 0 when it is not a number.
    version: int
    #: The store writers that hold the object, as bits; see `StoreWriter`.
    held: int = 0
    unpack: Decompress | None = None

    @property
    def data(self) -> bytes:
        """The JSON of the object."""
        return self.kept if self.unpack is None else self.unpack(self.kept)

    @property
    def key(self) -> Key:
        """Namespace and name."""
        return Key(self.namespace, self.name)

    @property
    def generation(self) -> int:
        """The ``metadata.generation``; 0 for kinds without one."""
        return read_details(self.data).generation or 0

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels."""
        return read_details(self.data).labels or {}

    @property
    def annotations(self) -> Mapping[str, str]:
        """The annotations."""
        return read_details(self.data).annotations or {}

    @property
    def finalizers(self) -> tuple[str, ...]:
        """The finalizers."""
        return read_details(self.data).finalizers or ()

    @property
    def is_deleting(self) -> bool:
        """Whether it has a deletionTimestamp."""
        return read_details(self.data).deletion_timestamp is not None

    @property
    def is_gone(self) -> bool:
        """Whether this is the last state of a deleted object: no finalizer and no grace period is left.

        The finalizers of a namespace are those of its spec, too.
        """
        details = read_details(self.data)
        if details.deletion_timestamp is None or details.finalizers or details.deletion_grace_period_seconds:
            return False
        return self.field("spec.finalizers") in (None, "[]")

    @property
    def owner_references(self) -> list[OwnerReference]:
        """The owner references."""
        owners = read_details(self.data).owner_references or ()
        return [OwnerReference.from_wire(msgspec.to_builtins(owner)) for owner in owners]

    @property
    def owners(self) -> Sequence[Owner]:
        """The owner references as plain structs, at a tenth of the cost of `owner_references`."""
        return read_details(self.data).owner_references or ()

    def has_same_ownership(self, other: Record) -> bool:
        """Return whether owners, finalizers and deletion are those of another state of the object."""
        mine, its = read_details(self.data), read_details(other.data)
        return (
            self.uid == other.uid
            and mine.owner_references == its.owner_references
            and mine.finalizers == its.finalizers
            and mine.deletion_timestamp == its.deletion_timestamp
        )

    @property
    def owner_uids(self) -> tuple[str, ...]:
        """The uids of the owners."""
        return tuple([owner.uid for owner in read_details(self.data).owner_references or ()])

    def field(self, path: str) -> str | None:
        """Return a field as field selectors compare it (``spec.nodeName``), or None when it is absent."""
        try:
            value: Any = msgspec.json.decode(self.data)
        except UNREADABLE:  # one object must not break the lists of all others
            head = head_of(self.data)
            value = msgspec.json.decode(head[1]) if head else None
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if isinstance(value, bool):
            return str(value).lower()
        return None if value is None else str(value)

    def decode(self, kind: Kind[O]) -> O:
        """Return a fresh object of a kind; the fields of a typed object are decoded on first use.

        Raises:
            DecodeError: the object is of another kind. A field that is missing or does not fit its type raises it on
                first use.
        """
        return decode_known(kind, self.data, self.name, self.namespace, self.uid)


class TransformedRecord(Record):
    """An object that was transformed: its JSON may have another name and kind than the record."""

    def decode(self, kind: Kind[O]) -> O:
        """Return a fresh object, decoded from the JSON alone. Raises DecodeError."""
        return decode(kind, self.data, lazily=True)


class RecordReader:
    """Makes records from the bytes of objects of one kind.

    Args:
        shape: transforms the bytes that are stored; the other fields of the record are those of the original object.
        packing: compresses the transformed bytes.
    """

    def __init__(self, shape: BytesTransform | None = None, packing: Compressor | None = None) -> None:
        self._shape = shape
        self._made = Record if shape in (None, strip_managed_fields) else TransformedRecord
        self._packing = packing
        #: Decodes the identity of an object. Raises DecodeError.
        self.identity: IdentityReader = IdentityReader()
        self._namespaces: dict[str, str] = {}

    def __call__(self, data: bytes) -> Record:
        """Make the record of one object.

        Raises:
            DecodeError: the data is not a Kubernetes object.
        """
        return self.record(data, self.identity(data))

    def record(self, data: bytes, found: ObjectIdentity) -> Record:
        """Make the record of an object whose identity is decoded already."""
        namespace = found.namespace or ""
        try:  # inlined version_number(): this runs for every event
            version = int(found.resource_version)
        except ValueError:
            version = UNORDERED
        kept, unpack = data, None
        if self._shape is not None:
            kept = self._shape(data)
        if self._packing is not None:
            kept, unpack = self._packing(kept, found.uid or "")
        if kept is not data:
            # An exact copy. The bytes that encoders return were shrunk in place, and the free space behind them is too
            # short to be used: 4.5 KB stayed resident for an object of 4 KB.
            kept = bytes(memoryview(kept))
        return self._made(
            kept,
            found.name,
            self._namespaces.setdefault(namespace, namespace),  # one string object for each namespace
            found.uid or "",
            version,
            0,
            unpack,
        )


def version_number(resource_version: str) -> int:
    """Return a resource version as a number, `UNORDERED` when it is not a number."""
    try:
        return int(resource_version)
    except ValueError:
        return UNORDERED
