"""The changes that an informer reports. Their objects are decoded on demand."""

from __future__ import annotations

from typing import Any, TypeAlias

import msgspec

from pyctrl.api import Key, KindLike
from pyctrl.cache._record import Record

__all__ = ["Change", "Created", "Deleted", "Synced", "Updated"]

# Structs, not dataclasses: one is made for every event, and a Struct is made six times as fast.


class Created(msgspec.Struct, frozen=True, gc=False):
    """An object is new in the store.

    Attributes:
        new: the object.
        initial: whether it existed before: it is from the first list, or is replayed to a new subscriber.
        was_seen: whether a watch event reported it, see `Updated`.
    """

    new: Record
    initial: bool = False
    was_seen: bool = True

    @property
    def key(self) -> Key:
        """The key of the object."""
        return self.new.key

    def decode(self, kind: KindLike) -> Any:
        """Return a fresh object of a kind."""
        return self.new.decode(kind)


class Updated(msgspec.Struct, frozen=True, gc=False):
    """An object has another version.

    Attributes:
        old: the object before.
        new: the object now.
        was_seen: whether a watch event reported it, so that it is a single change of the object. False when a list had
            another version, so that changes in between may have been missed.
    """

    old: Record
    new: Record
    was_seen: bool = True

    @property
    def key(self) -> Key:
        """The key of the object."""
        return self.new.key

    def decode(self, kind: KindLike) -> Any:
        """Return a fresh object of a kind, in the state now."""
        return self.new.decode(kind)

    def decode_old(self, kind: KindLike) -> Any:
        """Return a fresh object of a kind, in the state before."""
        return self.old.decode(kind)


class Deleted(msgspec.Struct, frozen=True, gc=False):
    """An object has left the store: it is gone, or it no longer matches the selectors.

    Attributes:
        old: the last known state of the object.
        was_seen: whether a watch event reported the deletion. False when a list lacked the object, so that later states
            of it were missed.
    """

    old: Record
    was_seen: bool = True

    @property
    def key(self) -> Key:
        """The key of the object."""
        return self.old.key

    def decode(self, kind: KindLike) -> Any:
        """Return a fresh object of a kind, in its last known state."""
        return self.old.decode(kind)


class Synced(msgspec.Struct, frozen=True, gc=False):
    """The subscriber has received everything that existed when its subscription began. Comes once."""


#: What an informer reports to a subscriber or listener.
Change: TypeAlias = Created | Updated | Deleted | Synced
