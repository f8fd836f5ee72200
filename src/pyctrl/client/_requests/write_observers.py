"""Who is told of writes: the hook through which a cache sees its process's own changes at once."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from pyctrl.api import GroupVersionKind, Key

__all__ = ["WriteObserver", "WriteVerb"]

WriteVerb: TypeAlias = Literal["create", "update", "patch", "apply", "delete", "delete_all_of"]


class WriteObserver(Protocol):
    """Is told of every write of a client and of those derived from it; dry runs are no writes.

    Both methods run in the writer's task and must return at once. ``key`` has no name before an object is created
    with a generated one, and when a whole collection is deleted.
    """

    def before(self, gvk: GroupVersionKind, key: Key) -> None:
        """A write of this object is about to be sent."""
        ...

    def after(
        self, gvk: GroupVersionKind, key: Key, verb: WriteVerb, body: bytes | None, error: BaseException | None
    ) -> None:
        """The write has ended: with an answer, or with an error.

        Args:
            gvk: the kind that was written.
            key: the object that was written, by its final name.
            verb: what was done.
            body: the answer: the object as it is now, and for deletes whatever the server sent, the last state or a
                Status. None when the object has changed and the answer was something else, as of ``scale``.
            error: why there is no answer; after anything but an `ApiError` the server may have acted.
        """
        ...
