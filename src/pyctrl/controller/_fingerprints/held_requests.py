"""The requests of the first lists, held back until it is known which of them have not converged."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from pyctrl.controller._causes import ChangeCause, ReconcileCause
from pyctrl.controller._request import Request
from pyctrl.controller._workqueue.request_sinks import RequestSink

__all__ = ["HeldRequests"]


class HeldRequests:
    """A `RequestSink` that holds the requests for objects of first lists, and passes all others on at once.

    After `release` it passes on everything, also when a source is restarted and lists all objects again.
    """

    def __init__(self, queue: RequestSink) -> None:
        self._queue = queue
        #: The priority and the causes of the requests that are held.
        self.held: dict[Request, list[tuple[int, ReconcileCause]]] = {}
        #: Requests that were passed on, which run in any case.
        self.passed: set[Request] = set()
        self._is_holding = True

    def add(
        self,
        request: Request,
        *,
        priority: int = 0,
        after: timedelta | None = None,
        cause: ReconcileCause | None = None,
        is_gone: bool = False,
    ) -> None:
        """Hold or add a request; see `RequestSink`."""
        if self._is_holding:
            if type(cause) is ChangeCause and cause.initial:
                self.held.setdefault(request, []).append((priority, cause))
                return
            self.passed.add(request)
        self._queue.add(request, priority=priority, after=after, cause=cause, is_gone=is_gone)

    def drop(self, cluster: str) -> Sequence[Request]:
        """Drop the pending requests for objects of a cluster that is gone, and return them."""
        return self._queue.drop(cluster)

    def enqueue(self, request: Request) -> None:
        """Add a request that is held, with all of its causes."""
        for priority, cause in self.held.pop(request, ()):
            self._queue.add(request, priority=priority, cause=cause)

    def release(self) -> None:
        """Pass on everything from now on. What is held still is not added."""
        self._is_holding = False
        self.held.clear()
        self.passed.clear()
