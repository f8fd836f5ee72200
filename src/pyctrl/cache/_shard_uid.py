"""The uid by which hash ranges select an object, its own or that of its owner, and the label that has its slot."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol, TypeAlias

from pyctrl.api import ShardRange, hash_field

__all__ = [
    "SHARD_LABEL",
    "SHARED",
    "SLOTS",
    "OwnerKinds",
    "OwnerLike",
    "shard_label",
    "shard_label_selector",
    "shard_uid",
    "slot_of_uid",
]

#: The label whose value is the slot of an object, for servers that cannot select by hash.
SHARD_LABEL = "pyctrl.io/shard"
#: Its value for an object that belongs to no single owner.
_ALL = "all"

#: The number of slots, a power of two: the first bits of a hash are a slot. A member's share of them differs from its
#: fair share by about ``sqrt(N / 2 / SLOTS)`` of it among N equal members: 4 % for 4 of them, 16 % for 50.
SLOTS = 1024

_SHIFT = 64 - (SLOTS.bit_length() - 1)

#: The group and kind of owners, in any version.
OwnerKinds: TypeAlias = Collection[tuple[str, str]]

#: Stands for the uid of an object that belongs to no single owner: it is covered together with any range.
SHARED = ""


class OwnerLike(Protocol):
    """An owner reference."""

    @property
    def api_version(self) -> str:
        """Group and version."""
        ...

    @property
    def kind(self) -> str:
        """The kind."""
        ...

    @property
    def uid(self) -> str:
        """The uid."""
        ...


def shard_uid(uid: str, owners: Sequence[OwnerLike], kinds: OwnerKinds) -> str:
    """Return the uid whose hash decides which ranges an object belongs to.

    Without ``kinds`` it is the object's own. With them it is that of its owner, if it has one owner, and that of these
    kinds. An object without owner, with one of another kind, or with several is `SHARED`: a list of the objects of any
    of its owners must have it.
    """
    if not kinds:
        return uid
    if len(owners) != 1:
        return SHARED
    owner = owners[0]
    return owner.uid if (owner.api_version.rpartition("/")[0], owner.kind) in kinds else SHARED


def slot_of_uid(uid: str) -> int:
    """Return the slot of a uid: the first bits of its FNV-1a hash, which KEP-5866's ``shardRange`` compares."""
    return hash_field(uid) >> _SHIFT


def shard_label(uid: str) -> str:
    """Return the value of `SHARD_LABEL` for an object that is selected by a uid."""
    return _ALL if uid == SHARED else str(slot_of_uid(uid))


def shard_label_selector(ranges: Iterable[ShardRange], *, has_shared: bool = True) -> str:
    """Return the label selector of the slots that have a part in some ranges.

    Args:
        ranges: the ranges.
        has_shared: whether objects that belong to no single owner are selected, too.
    """
    chosen = {
        str(slot): None for each in ranges for slot in range(each.start >> _SHIFT, ((each.end - 1) >> _SHIFT) + 1)
    }
    values = [*chosen, *([_ALL] * has_shared)]
    if len(chosen) <= SLOTS // 2:  # the shorter of two texts: at most 2.5 KB
        return f"{SHARD_LABEL} in ({','.join(values)})"
    missing = [value for value in [*map(str, range(SLOTS)), _ALL] if value not in {*values}]
    return f"{SHARD_LABEL},{SHARD_LABEL} notin ({','.join(missing)})" if missing else SHARD_LABEL
