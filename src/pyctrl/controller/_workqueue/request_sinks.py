"""The interface by which sources add requests to a queue, and two wrappers: for one cluster, and with a limit."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from pyctrl.controller._causes import ReconcileCause
from pyctrl.controller._request import Request
from pyctrl.errors import ControllerError

__all__ = ["ClusterQueue", "LimitedSink", "RequestSink"]

log = logging.getLogger("pyctrl.controller")

#: Requests that a source may add in one turn of the event loop, which take some seconds. More count as an endless loop.
MAX_REQUESTS_PER_LOOP_TURN = 500_000


class RequestSink(Protocol):
    """The interface of a queue for sources."""

    def add(
        self,
        request: Request,
        *,
        priority: int = 0,
        after: timedelta | None = None,
        cause: ReconcileCause | None = None,
        is_gone: bool = False,
    ) -> None:
        """Add a request, to run now or after a delay; ignored once the queue is closed.

        With ``is_gone`` the object does not exist any more, and the run cancels the timer of an earlier one.
        """

    def drop(self, cluster: str) -> Sequence[Request]:
        """Drop the pending requests for objects of a cluster that is gone, and return them."""
        ...


class ClusterQueue:
    """Adds requests for one cluster: sets the cluster of those without one, and refuses those for another cluster.

    So a handler that was written for one cluster works unchanged in each.
    """

    def __init__(self, cluster: str, queue: RequestSink) -> None:
        self._cluster = cluster
        self._queue = queue
        self._has_warned = False

    def add(
        self,
        request: Request,
        *,
        priority: int = 0,
        after: timedelta | None = None,
        cause: ReconcileCause | None = None,
        is_gone: bool = False,
    ) -> None:
        """Add a request; see `RequestSink`."""
        if not request.cluster:
            request = request._replace(cluster=self._cluster)
        if request.cluster == self._cluster:
            self._queue.add(request, priority=priority, after=after, cause=cause, is_gone=is_gone)
        elif not self._has_warned:
            self._has_warned = True
            log.warning(
                "Dropping a request for another cluster: a controller reconciles objects of its own cluster",
                extra={"request": str(request), "cluster": self._cluster},
            )

    def drop(self, cluster: str) -> Sequence[Request]:
        """Drop the pending requests for objects of a cluster that is gone, and return them."""
        return self._queue.drop(cluster)


class LimitedSink:
    """Adds requests of a source, and fails when it adds too many without an await, which blocks the event loop.

    Raises:
        ControllerError: by `add`. The source fails by it, and is restarted as any other that fails.
    """

    def __init__(self, source: str, queue: RequestSink, *, most: int = MAX_REQUESTS_PER_LOOP_TURN) -> None:
        self._source, self._queue, self._most = source, queue, most
        self._added = 0

    def add(
        self,
        request: Request,
        *,
        priority: int = 0,
        after: timedelta | None = None,
        cause: ReconcileCause | None = None,
        is_gone: bool = False,
    ) -> None:
        """Add a request; see `RequestSink`."""
        if not self._added:
            asyncio.get_running_loop().call_soon(self._reset)
        self._added += 1
        if self._added > self._most:
            raise ControllerError(
                f"{self._source} added {self._most:,} requests without an await, which blocked the event loop; "
                "call `await asyncio.sleep(0)` in its loop"
            )
        self._queue.add(request, priority=priority, after=after, cause=cause, is_gone=is_gone)

    def drop(self, cluster: str) -> Sequence[Request]:
        """Drop the pending requests for objects of a cluster that is gone, and return them."""
        return self._queue.drop(cluster)

    def _reset(self) -> None:
        self._added = 0
