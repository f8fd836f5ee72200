"""Objects that cannot be decoded: their records, and a list of them for logs and metrics."""

from __future__ import annotations

import logging
from hashlib import blake2b
from typing import Any, TypeVar, cast

import msgspec

from pyctrl.api import (
    GroupVersionKind,
    Kind,
    ObjectLike,
    Unstructured,
    decode,
    decode_known,
    is_metadata_only,
    shown_wire,
)
from pyctrl.cache._metadata import head_of
from pyctrl.cache._record import UNORDERED, Record, version_number
from pyctrl.cache._store import Store
from pyctrl.errors import DecodeError

__all__ = ["UnreadableObjects", "UnreadableRecord", "digest", "unreadable_record"]

O = TypeVar("O", bound=ObjectLike)  # noqa: E741 - an object, typed or not

log = logging.getLogger("pyctrl.cache")

MAX_WARNINGS = 20  # objects of one kind that are logged as warnings, others at level debug
MAX_REMEMBERED = 10_000  # objects of one kind that are remembered, and as many events without a name
NAMED = 5  # objects that a message names


class UnreadableRecord(Record):
    """An object that cannot be decoded: `kept` has its bytes, `data` only its kind and its readable metadata.

    Its labels, owners, finalizers and ``Metadata[...]`` can be read; the object itself cannot.
    """

    gvk: GroupVersionKind = GroupVersionKind("", "", "")
    reason: str = ""

    @property
    def error(self) -> DecodeError:
        """The error that reads of the object raise."""
        return DecodeError(
            f"{self.gvk.kind} {self.key} at resource version {self.version} cannot be decoded: {self.reason}; "
            "its metadata can be read with Metadata[...]; repair or delete the object"
        )

    def decode(self, kind: Kind[O]) -> O:
        """Return the object for a metadata-only kind. Raises DecodeError for any other kind."""
        if is_metadata_only(kind):
            return decode(kind, self.data, lazily=True)
        raise self.error

    def decode_late(self, kind: Kind[O]) -> O:
        """Return an object that has a name, and raises DecodeError when anything else is read."""
        if is_metadata_only(kind):
            return decode(kind, self.data, lazily=True)
        if isinstance(kind, GroupVersionKind):
            return cast(O, _UnreadableObject(msgspec.json.decode(self.data), self.error))
        try:
            return decode_known(kind, self.kept, self.name, self.namespace, self.uid)
        except DecodeError as error:  # the class does not support lazy decoding
            raise self.error from error


class _UnreadableObject(Unstructured):
    """An untyped object whose kind and metadata alone can be read."""

    __slots__ = ("_error",)

    def __init__(self, head: dict[str, Any], error: DecodeError) -> None:
        super().__init__(head)
        self._error = error

    def __getitem__(self, field: str) -> Any:
        if field in ("apiVersion", "kind", "metadata"):
            return super().__getitem__(field)
        raise self._error

    def __iter__(self) -> Any:
        raise self._error

    def __len__(self) -> int:
        raise self._error

    def __repr__(self) -> str:
        return f"<an object that cannot be read: {self._error}>"

    def to_wire(self) -> dict[str, Any]:
        raise self._error


def unreadable_record(gvk: GroupVersionKind, data: bytes, reason: str) -> UnreadableRecord | None:
    """Return the record of an object that cannot be decoded; None if its name is unreadable, too."""
    found = head_of(data)
    if found is None:
        return None
    identity, head = found
    return UnreadableRecord(
        data,
        identity.name,
        identity.namespace or "",
        identity.uid or "",
        version_number(identity.resource_version),
        0,
        lambda _: head,
        gvk,
        reason,
    )


class UnreadableObjects:
    """The objects of one kind that cannot be decoded. Logs each version of an object once.

    Args:
        gvk: the kind.
        store: the store of the kind; a record that is no longer in it is forgotten.
    """

    def __init__(self, gvk: GroupVersionKind, store: Store) -> None:
        self.gvk: GroupVersionKind = gvk
        self._store = store
        self._records: dict[tuple[str, str], UnreadableRecord] = {}
        self._nameless: dict[bytes, str] = {}  # the reason, by the digest of the bytes
        self._earlier: dict[bytes, str] = {}  # those before the present list, until it ends

    def note(self, record: UnreadableRecord) -> None:
        """Take an object that is in the store."""
        key = (record.namespace, record.name)
        known = self._records.pop(key, None)
        self._records[key] = record
        if len(self._records) > MAX_REMEMBERED:
            del self._records[next(iter(self._records))]
        if known is None or known.version != record.version or record.version == UNORDERED:
            self._log("An object cannot be decoded, reads of it raise DecodeError", record.reason, record)

    def leave_out(self, mark: bytes, data: bytes, reason: str) -> None:
        """Take data, with its digest, that is left out because its name is unreadable."""
        if mark not in self._nameless and mark not in self._earlier:
            self._log("An object without a readable name is left out of the cache", reason, None, data)
        if len(self._nameless) < MAX_REMEMBERED:
            self._nameless[mark] = reason

    def begin_list(self) -> None:
        """Begin a list: it shows which of the data that was left out still exists."""
        self._earlier, self._nameless = {**self._earlier, **self._nameless}, {}

    def end_list(self) -> None:
        """End a list."""
        self._earlier = {}

    def _log(self, message: str, reason: str, record: Record | None, data: bytes = b"") -> None:
        level = logging.WARNING if len(self._records) + len(self._nameless) <= MAX_WARNINGS else logging.DEBUG
        facts: dict[str, object] = {"kind": self.gvk.kind, "group": self.gvk.group, "error": reason}
        if record is not None:
            facts |= {"namespace": record.namespace, "object": record.name, "resource_version": record.version}
        else:
            facts |= {"got": shown_wire(data)}
        log.log(level, message, extra=facts)

    @property
    def records(self) -> list[UnreadableRecord]:
        """The objects that cannot be decoded. Objects that were repaired or deleted are forgotten at this call."""
        gone = [key for key, record in self._records.items() if self._store.get(*key) is not record]
        for key in gone:
            del self._records[key]
        return list(self._records.values())

    def __len__(self) -> int:
        return len(self.records) + len({**self._earlier, **self._nameless})

    @property
    def text(self) -> str:
        """The objects that cannot be decoded, and why; "" when there are none."""
        records, nameless = self.records, {**self._earlier, **self._nameless}
        named = [f"{each.key} (resource version {each.version}): {each.reason}" for each in records[:NAMED]]
        if len(records) > NAMED:
            named.append(f"and {len(records) - NAMED} more")
        if nameless:
            named.append(f"{len(nameless)} without a readable name: {next(iter(nameless.values()))}")
        return "; ".join(named)


def digest(data: bytes) -> bytes:
    """Return a hash of the bytes."""
    return blake2b(data, digest_size=16).digest()
