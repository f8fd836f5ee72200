"""What subscribers of an informer are told: changes of the store, whose objects stay bytes until they are wanted."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from pyctrl.api import Key, KindLike
from pyctrl.cache._record import Record

__all__ = ["Change", "Created", "Deleted", "Synced", "Updated"]

# Structs and not dataclasses: one is made for every event, and these are made six times as fast.


class Created(msgspec.Struct, frozen=True, gc=False):
    """An object has come into the store.

    Attributes:
        new: the object.
        initial: whether it was there before the informer: found by its first list, or replayed to a subscriber.
    """

    new: Record
    initial: bool = False

    @property
    def key(self) -> Key:
        """Which object."""
        return self.new.key

    def decode(self, kind: KindLike) -> Any:
        """Return a fresh object of a kind."""
        return self.new.decode(kind)


class Updated(msgspec.Struct, frozen=True, gc=False):
    """An object has another version.

    Attributes:
        old: the object as it was; versions between the two may have been missed.
        new: the object as it is.
    """

    old: Record
    new: Record

    @property
    def key(self) -> Key:
        """Which object."""
        return self.new.key

    def decode(self, kind: KindLike) -> Any:
        """Return a fresh object of a kind, as it is."""
        return self.new.decode(kind)

    def decode_old(self, kind: KindLike) -> Any:
        """Return a fresh object of a kind, as it was."""
        return self.old.decode(kind)


class Deleted(msgspec.Struct, frozen=True, gc=False):
    """An object has left the store: it is gone, or it no longer matches the selectors.

    Attributes:
        old: the object as it was last seen.
        was_seen: whether the deletion itself was seen. False when a list lacked the object, so that later states of
            it were missed.
    """

    old: Record
    was_seen: bool = True

    @property
    def key(self) -> Key:
        """Which object."""
        return self.old.key

    def decode(self, kind: KindLike) -> Any:
        """Return a fresh object of a kind, as it was last seen."""
        return self.old.decode(kind)


class Synced(msgspec.Struct, frozen=True, gc=False):
    """Everything that was there when the subscription began has been told. Comes once."""


#: One thing that a subscriber is told.
Change: TypeAlias = Created | Updated | Deleted | Synced
