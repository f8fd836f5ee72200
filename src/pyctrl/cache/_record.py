"""One cached object: its JSON bytes, and the few words of its metadata that the cache needs at every step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from pyctrl._json import UNREADABLE
from pyctrl.api import (
    Key,
    Kind,
    KubernetesObject,
    OwnerReference,
    Unstructured,
    decode,
    decode_known,
)
from pyctrl.cache._compression import Compressor, Decompress
from pyctrl.cache._metadata import IdentityReader, ObjectIdentity, Owner, head_of, read_details
from pyctrl.cache._transform import BytesTransform, strip_managed_fields

__all__ = ["UNORDERED", "Record", "RecordReader", "version_number"]

O = TypeVar("O", bound=KubernetesObject | Unstructured)  # noqa: E741 - an object, typed or not

UNORDERED = 0  # the number of a resource version that is none: such versions cannot be compared


class Record(msgspec.Struct, gc=False, eq=False):  # gc=False: nothing in it refers to it, so collections skip it
    """An object as the cache keeps it: shared between readers, and never changed but for `held`.

    `labels`, `annotations` and the like decode the metadata each time they are asked, in a microsecond or two;
    `decode` makes a fresh object, which is the caller's own.
    """

    #: What is kept of it: its JSON, or what `unpack` makes its JSON of.
    kept: bytes
    name: str
    namespace: str
    uid: str
    #: The resource version as a number; those of one resource can be compared (KEP-5504). 0 when it is no number.
    version: int
    #: Which coverages hold the object, and from which of their lists; the business of `Store`.
    held: int = 0
    unpack: Decompress | None = None

    @property
    def data(self) -> bytes:
        """Its JSON."""
        return self.kept if self.unpack is None else self.unpack(self.kept)

    @property
    def key(self) -> Key:
        """Namespace and name."""
        return Key(self.namespace, self.name)

    @property
    def generation(self) -> int:
        """How often what is wanted has changed; 0 for kinds that do not count it."""
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
        """Whether its deletion was asked for."""
        return read_details(self.data).deletion_timestamp is not None

    @property
    def is_gone(self) -> bool:
        """Whether this is the last state of an object: it was to be deleted, and nothing has kept it any longer."""
        details = read_details(self.data)
        has_grace = bool(details.deletion_grace_period_seconds)
        return details.deletion_timestamp is not None and not details.finalizers and not has_grace

    @property
    def owner_references(self) -> list[OwnerReference]:
        """Its owners."""
        owners = read_details(self.data).owner_references or ()
        return [OwnerReference.from_wire(msgspec.to_builtins(owner)) for owner in owners]

    @property
    def owners(self) -> Sequence[Owner]:
        """Its owners as plain structs, at a tenth of the cost of `owner_references`."""
        return read_details(self.data).owner_references or ()

    @property
    def owner_uids(self) -> tuple[str, ...]:
        """The uids of its owners."""
        return tuple(owner.uid for owner in read_details(self.data).owner_references or ())

    def field(self, path: str) -> str | None:
        """Return a field as field selectors compare it (``spec.nodeName``), or None when it is absent."""
        try:
            value: Any = msgspec.json.decode(self.data)
        except UNREADABLE:  # one object must not fail the lists of all others
            head = head_of(self.data)
            value = msgspec.json.decode(head[1]) if head else None
        for part in path.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if isinstance(value, bool):
            return str(value).lower()
        return None if value is None else str(value)

    def decode(self, kind: Kind[O]) -> O:
        """Return a fresh object of a kind; a typed one is decoded when it is looked at.

        Raises:
            DecodeError: when it is of another kind. What does not fit, or is missing, is one where it is looked at.
        """
        return decode_known(kind, self.data, self.name, self.namespace, self.uid)


class TransformedRecord(Record):
    """An object whose JSON may be another one's: a transform can change its names too."""

    def decode(self, kind: Kind[O]) -> O:
        """Return a fresh object, of which nothing is known but its JSON. Raises DecodeError."""
        return decode(kind, self.data, lazily=True)


class RecordReader:
    """Makes records from the bytes of objects of one kind.

    Args:
        shape: what to do to the bytes that are kept; the record's other fields are those of the object as it came.
        packing: what compresses them then.
    """

    def __init__(self, shape: BytesTransform | None = None, packing: Compressor | None = None) -> None:
        self._shape = shape
        self._made = Record if shape in (None, strip_managed_fields) else TransformedRecord
        self._packing = packing
        self._identity = IdentityReader()
        self._namespaces: dict[str, str] = {}

    def __call__(self, data: bytes) -> Record:
        """Make the record of one object.

        Raises:
            DecodeError: when it is no Kubernetes object.
        """
        return self.record(data, self._identity(data))

    def record(self, data: bytes, found: ObjectIdentity) -> Record:
        """Make the record of an object whose identity is known already."""
        namespace = found.namespace or ""
        try:  # not version_number(): this is done for every object
            version = int(found.resource_version)
        except ValueError:
            version = UNORDERED
        kept, unpack = data, None
        if self._shape is not None:
            kept = self._shape(data)
        if self._packing is not None:
            kept, unpack = self._packing(kept, found.uid or "")
        if kept is not data:
            # A copy, as long as it is: what encoders return was longer once. The place behind it is free, but too short
            # for the next one, so that nothing was won: 4.5 KB stayed resident for an object of 4 KB in 0.6.
            kept = bytes(memoryview(kept))
        return self._made(
            kept,
            found.name,
            self._namespaces.setdefault(namespace, namespace),  # one string for all objects of a namespace
            found.uid or "",
            version,
            0,
            unpack,
        )


def version_number(resource_version: str) -> int:
    """Return a resource version as a number, `UNORDERED` when it is none."""
    try:
        return int(resource_version)
    except ValueError:
        return UNORDERED
