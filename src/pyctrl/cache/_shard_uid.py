"""The uid by which hash ranges select an object: its own, or that of its owner."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol, TypeAlias

__all__ = ["SHARED", "OwnerKinds", "OwnerLike", "shard_uid"]

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
