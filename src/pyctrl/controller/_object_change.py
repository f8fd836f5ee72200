"""A change as predicates and handlers see it: old and new, decoded only when somebody looks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal, cast

from typing_extensions import TypeVar

from pyctrl.api import KindLike

if TYPE_CHECKING:
    from pyctrl.cache import Record

__all__ = ["ObjectChange"]

T_co = TypeVar("T_co", covariant=True, default=Any)


class ObjectChange(Generic[T_co]):
    """One change of one object of kind T.

    ``before`` and ``after`` are the cache's records, which give the metadata at little cost; ``old`` and ``new`` decode
    the object, once for all who look at this change: treat what they return as read-only.
    """

    __slots__ = ("_kind", "_new", "_old", "after", "before", "cluster", "is_initial")

    def __init__(
        self,
        kind: KindLike,
        before: Record | None,
        after: Record | None,
        *,
        is_initial: bool = False,
        cluster: str = "",
    ) -> None:
        self._kind = kind
        #: What was there; None when the object is new.
        self.before: Record | None = before
        #: What is there now; None when the object is gone.
        self.after: Record | None = after
        #: Whether it is news only to us: the object was there when the cache began to watch.
        self.is_initial: bool = is_initial
        #: The cluster that the object lives in; "" for that of the manager.
        self.cluster: str = cluster
        self._old: object = None
        self._new: object = None

    @property
    def change(self) -> Literal["created", "updated", "deleted"]:
        """What happened."""
        if self.after is None:
            return "deleted"
        return "created" if self.before is None else "updated"

    @property
    def is_resync(self) -> bool:
        """Whether nothing happened: the object is shown again as it was."""
        before, after = self.before, self.after
        if before is None or after is None or before.version != after.version:
            return False
        return before.version > 0 or before.data == after.data  # 0: not numbers, so they cannot be told apart

    @property
    def records(self) -> list[Record]:
        """The states there are: old, then new."""
        return [state for state in (self.before, self.after) if state is not None]

    @property
    def current(self) -> Record:
        """The newest state there is; the last one of an object that is gone."""
        current = self.before if self.after is None else self.after
        assert current is not None  # there is one of the two, or nothing has happened
        return current

    @property
    def old(self) -> T_co | None:
        """The object as it was; None when it is new."""
        if self._old is None and self.before is not None:
            self._old = self.before.decode(self._kind)
        return cast("T_co | None", self._old)

    @property
    def new(self) -> T_co | None:
        """The object as it is; None when it is gone."""
        if self._new is None and self.after is not None:
            self._new = self.after.decode(self._kind)
        return cast("T_co | None", self._new)

    @property
    def objects(self) -> list[T_co]:
        """The states there are, decoded: old, then new."""
        return [state for state in (self.old, self.new) if state is not None]
