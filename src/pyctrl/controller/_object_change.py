"""A change of an object as predicates and handlers see it: old and new state, decoded on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, cast

from msgspec import Struct
from typing_extensions import TypeVar

from pyctrl.api import KindLike

if TYPE_CHECKING:
    from pyctrl.cache import Record

__all__ = ["ObjectChange"]

T_co = TypeVar("T_co", covariant=True, default=Any)


class ObjectChange(Struct, Generic[T_co], eq=False):  # a Struct: one is made for every event
    """One change of one object of kind T.

    ``before`` and ``after`` are the cache's records, which give the metadata at little cost. ``old`` and ``new`` decode
    the object, once for all predicates and handlers of this change: treat them as read-only.
    """

    kind: KindLike
    #: The state before the change; None when the object is new.
    before: Record | None
    #: The state after the change; None when the object is gone.
    after: Record | None
    #: Whether the object is from the first list: it existed before the cache began to watch.
    is_initial: bool = False
    #: The cluster that the object is in; "" for that of the manager.
    cluster: str = ""
    _old: object = None
    _new: object = None

    @property
    def change(self) -> Literal["created", "updated", "deleted"]:
        """The type of the change."""
        if self.after is None:
            return "deleted"
        return "created" if self.before is None else "updated"

    @property
    def is_resync(self) -> bool:
        """Whether nothing changed: both states are of the same version."""
        before, after = self.before, self.after
        if before is None or after is None or before.version != after.version:
            return False
        return before.version > 0 or before.data == after.data  # 0: the versions are not numbers and do not compare

    @property
    def records(self) -> list[Record]:
        """The states that exist: old, then new."""
        return [state for state in (self.before, self.after) if state is not None]

    @property
    def current(self) -> Record:
        """The newest state; the last one of an object that is gone."""
        current = self.before if self.after is None else self.after
        assert current is not None  # a change has a state before or after it
        return current

    @property
    def old(self) -> T_co | None:
        """The object before the change; None when it is new."""
        if self._old is None and self.before is not None:
            self._old = self.before.decode(self.kind)
        return cast("T_co | None", self._old)

    @property
    def new(self) -> T_co | None:
        """The object after the change; None when it is gone."""
        if self._new is None and self.after is not None:
            self._new = self.after.decode(self.kind)
        return cast("T_co | None", self._new)

    @property
    def objects(self) -> list[T_co]:
        """The states that exist, decoded: old, then new."""
        return [state for state in (self.old, self.new) if state is not None]

    def __repr__(self) -> str:
        return f"<ObjectChange: {self.current.key} {self.change}>"  # not the data: it may be a Secret's
