"""One run of a request, observed to know whether it has converged."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyctrl.api import GroupVersionKind, Key
from pyctrl.cache import Informer, ListQuery, ReadObserver, Record
from pyctrl.controller._reads.reader import ReadTarget, Subscriber
from pyctrl.controller._reads.run_reads import RunReads
from pyctrl.controller._request import Request

if TYPE_CHECKING:
    from pyctrl.controller._fingerprints.converged import ConvergedRequests

__all__ = ["ChangeMeanwhile", "OwnWriter", "TrackedRun"]


class OwnWriter(NamedTuple):
    """The identity of a request as a writer, for controllers without ``reads``."""

    controller: str
    request: Request


class ChangeMeanwhile(NamedTuple):
    """A change during a run. Whether the run has made it is known at its end."""

    informer: Informer
    record: Record
    is_deletion: bool
    was_seen: bool


class TrackedRun:
    """The `ReadObserver` of a run: passes reads on to subscriptions, and notes those that they do not have.

    Attributes:
        request: the request.
        inner: the observer of the subscriptions.
        reader: the request as the reader of what the subscriptions do not have.
        reads: these reads.
        doubt: why it cannot be known whether the run has converged; "" if it may have.
        live: the requests that the run has sent to read from the server.
        meanwhile: the changes that came during the run.
    """

    __slots__ = ("_of", "doubt", "inner", "is_over", "live", "meanwhile", "reader", "reads", "request")

    def __init__(self, of: ConvergedRequests, request: Request, inner: ReadObserver) -> None:
        self._of = of
        self.request: Request = request
        self.inner: ReadObserver = inner
        self.reader: Subscriber = Subscriber(request)
        self.reads: dict[ReadTarget, None] = {}
        self.doubt: str = ""
        self.live: list[str] = []
        self.meanwhile: list[ChangeMeanwhile] = []
        self.is_over: bool = False

    @property
    def writer(self) -> object:
        """The identity of the request as a writer."""
        return self.inner.writer if isinstance(self.inner, RunReads) else OwnWriter(self._of.controller, self.request)

    def object_read(self, informer: Informer, key: Key) -> None:
        """Note a read of an object."""
        if not self.is_over and self._is_new(informer) and not self._of.is_own_object(self.request, informer, key):
            self._note(self._of.silent(informer).object(key))
        self.inner.object_read(informer, key)

    def list_read(self, informer: Informer, query: ListQuery, index: tuple[str, str] | None) -> None:
        """Note a read of a list."""
        if not self.is_over and self._is_new(informer):
            self._note(self._of.silent(informer).list(query, index))
        self.inner.list_read(informer, query, index)

    def not_answered(self, kind: GroupVersionKind, informer: Informer | None) -> None:
        """Note a read that the cache could not answer."""
        self.doubt = self.doubt or f"the cache did not answer a read of {kind.kind}"
        self.inner.not_answered(kind, informer)

    def _is_new(self, informer: Informer) -> bool:
        if informer.cluster:
            self.doubt = self.doubt or f"it reads {informer.gvk.kind} of another cluster"
            return False
        return not self._of.is_subscribed(informer)

    def _note(self, read: ReadTarget) -> None:
        if read not in self.reads:
            self.reads[read] = None
            read.add(self.reader)
