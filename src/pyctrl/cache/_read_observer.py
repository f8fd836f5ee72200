"""The observer of reads: a controller learns from it what each reconcile looks at."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pyctrl.api import GroupVersionKind, Key
    from pyctrl.cache._coverage import ListQuery
    from pyctrl.cache._informer import Informer

__all__ = ["ReadObserver", "read_observer"]


class ReadObserver(Protocol):
    """Is called with each read of a cache in a context, and in the tasks that were created in it.

    The methods must be quick and must not raise: they run inside the read. Reads that bypass the cache, such as those
    of `CachedClient.live`, are not observed.
    """

    @property
    def writer(self) -> object:
        """The identity to which own writes in this context are attributed; see `Informer.writer_of`."""
        ...

    def object_read(self, informer: Informer, key: Key) -> None:
        """Handle that the cache has answered `find` or `get`, with an object or with its absence."""

    def list_read(self, informer: Informer, query: ListQuery, index: tuple[str, str] | None) -> None:
        """Handle that the cache has answered `list`."""

    def not_answered(self, kind: GroupVersionKind, informer: Informer | None) -> None:
        """Handle that the cache cannot answer a read, so that it raises or goes to the server.

        There is no informer for a kind that is not cached.
        """


#: The observer of the reads of the current context.
read_observer: ContextVar[ReadObserver | None] = ContextVar("pyctrl_read_observer", default=None)
