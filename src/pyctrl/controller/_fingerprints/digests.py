"""Digests of objects and lists: equal if and only if nothing has changed, own writes confirmed."""

from __future__ import annotations

from functools import lru_cache
from hashlib import blake2b

from pyctrl.api import GroupVersionKind, Key
from pyctrl.cache import Informer, Record
from pyctrl.controller._reads.list_selection import ListSelection
from pyctrl.errors import CacheError

__all__ = ["DIGEST_BYTES", "list_digest", "object_digest", "record_digest", "to_digest"]

DIGEST_BYTES = 12  # of 10^9 objects some two have the same one with a probability of 10^-11
_MODULUS = 1 << (8 * DIGEST_BYTES)


def record_digest(gvk: GroupVersionKind, record: Record) -> bytes:
    """Return the digest of an object: of uid and version, and of the content of custom resources.

    A changed definition changes what the server answers for the same version, such as a new default. The content of
    built-in kinds does not count, so that no digest depends on a password in a Secret, which could be guessed by it.
    """
    state = f"{record.uid} {record.version}".encode()
    if not record.version or _is_custom(gvk.group):
        state += record.data
    return blake2b(state, digest_size=DIGEST_BYTES).digest()


def to_digest(total: int) -> bytes:
    """Return the digest of a set of objects from the sum of their digests."""
    return (total % _MODULUS).to_bytes(DIGEST_BYTES, "big")


def object_digest(informer: Informer, key: Key) -> bytes | None:
    """Return the digest of an object, b"" if there is none; None if it cannot be known now.

    It cannot be known while the watch has not confirmed a write of this process: the write may hide a change by others.
    """
    if not informer.lister.is_namespaced:
        key = Key("", key.name)
    try:
        if key in informer.lister.overlay.entries:
            return None
        record = informer.find(key)
    except CacheError:
        return None
    return b"" if record is None else record_digest(informer.gvk, record)


def list_digest(informer: Informer, selection: ListSelection) -> bytes | None:
    """Return the digest of a list, whatever its order; None if it cannot be known now, as for an object."""
    pending = informer.lister.overlay.entries
    if pending and any(selection.namespace in (None, key.namespace) for key in pending):
        return None
    try:
        records = informer.select(selection.query, selection.index)
    except CacheError:
        return None
    total = sum(int.from_bytes(record_digest(informer.gvk, record), "big") for record in records)
    return to_digest(total)


@lru_cache(256)
def _is_custom(group: str) -> bool:
    return "." in group and not group.endswith(".k8s.io")
