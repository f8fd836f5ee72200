"""What one run of a request reads, and the changes of it that come meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from pyctrl.api import GroupVersionKind, Key
from pyctrl.cache import Informer, ListQuery
from pyctrl.controller._reads.reader import ReadTarget, Subscriber

if TYPE_CHECKING:
    from pyctrl.controller._reads.subscriptions import Subscriptions

__all__ = ["LateChange", "RunReads"]


class LateChange(Struct):
    """A change of something that a run has read before the run has ended.

    Whether the run has caused it itself is known at its end: the event may come before the answer of the write.
    """

    writer: Callable[[], object]  # returns who has made the change
    enqueue: Callable[[], None]  # adds the request to the queue


class RunReads:
    """What one run reads; the `ReadObserver` of its context.

    A read subscribes at once, so that no change after it is lost. Reads after the end of the run, by tasks that outlive
    it, do not subscribe.
    """

    __slots__ = ("_is_over", "_reader", "_subscriptions", "late", "reads")

    def __init__(self, subscriptions: Subscriptions, reader: Subscriber) -> None:
        self._subscriptions, self._reader = subscriptions, reader
        self._is_over = False
        #: What was read, in order, each once.
        self.reads: dict[ReadTarget, None] = {}
        #: The changes that came during the run.
        self.late: list[LateChange] = []

    @property
    def writer(self) -> Subscriber:
        """The request, whose own writes do not cause its next run."""
        return self._reader

    def object_read(self, informer: Informer, key: Key) -> None:
        """Subscribe to an object, whether it exists or not."""
        kind = self._subscriptions.kinds.get(informer)
        if kind is None:
            self._subscriptions.undeclared.object_read(informer, key)
        elif not self._is_over and not self._subscriptions.is_own_object(self._reader.request, informer, key):
            self._note(kind.object(key))

    def list_read(self, informer: Informer, query: ListQuery, index: tuple[str, str] | None) -> None:
        """Subscribe to a list."""
        kind = self._subscriptions.kinds.get(informer)
        if kind is None:
            self._subscriptions.undeclared.list_read(informer, query, index)
        elif not self._is_over:
            self._note(kind.list(query, index))

    def not_answered(self, kind: GroupVersionKind, informer: Informer | None) -> None:
        """Subscribe to the first list of a kind that is not synced yet."""
        reads = None if informer is None else self._subscriptions.kinds.get(informer)
        if reads is None:
            self._subscriptions.undeclared.not_answered(kind, informer)
        elif not self._is_over and not reads.informer.is_synced:
            self._note(reads.unsynced())

    def _note(self, read: ReadTarget) -> None:
        if read not in self.reads:
            self.reads[read] = None
            read.add(self._reader)

    def end(self) -> None:
        """End the run: further reads are not noted. Enqueue the request for changes that it has not made itself."""
        self._is_over = True
        for change in self.late:
            if change.writer() is not self._reader:
                change.enqueue()
        self.late.clear()
