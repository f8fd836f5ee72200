"""Write observer: the protocol through which a cache sees the writes of its own process immediately."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from pyctrl.api import GroupVersionKind, Key

__all__ = ["WriteMutator", "WriteObserver", "WriteVerb"]

WriteVerb: TypeAlias = Literal["create", "update", "patch", "apply", "delete", "delete_all_of"]


class WriteObserver(Protocol):
    """Observes every write of a client and of the clients derived from it, except dry runs.

    Both methods run in the writer's task and must not block. ``key`` has no name before an object with a generated
    name is created, and when a whole collection is deleted.
    """

    def before(self, gvk: GroupVersionKind, key: Key) -> None:
        """Handle that a write of this object is about to be sent."""
        ...

    def after(
        self, gvk: GroupVersionKind, key: Key, verb: WriteVerb, body: bytes | None, error: BaseException | None
    ) -> None:
        """Handle the end of the write, with an answer or with an error.

        Args:
            gvk: the kind that was written.
            key: the object that was written, with its final name.
            verb: the verb of the write.
            body: the answer: the object as the server keeps it, and for deletes its last state or a Status. None when
                the object changed and the answer is something else, such as a Scale.
            error: why there is no answer; after any error but an `ApiError` the server may have acted.
        """
        ...


class WriteMutator(Protocol):
    """Changes what a client and the clients derived from it write, before it is sent; as an admission webhook does.

    It is called for whole objects: create, update and apply, dry runs included, but not for sub-resources.
    """

    def mutate(self, gvk: GroupVersionKind, verb: WriteVerb, body: bytes) -> bytes:
        """Return the JSON to write instead of ``body``."""
        ...
