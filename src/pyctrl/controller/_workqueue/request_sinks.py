"""The ends of a queue that sources see: for a controller in another cluster, and for a source that may never wait."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from pyctrl.controller._causes import Cause
from pyctrl.controller._request import Request
from pyctrl.errors import ControllerError

__all__ = ["ClusterQueue", "LimitedSink", "RequestSink"]

log = logging.getLogger("pyctrl.controller")

#: Requests that a source may add in one turn of the event loop: some seconds of it. A list of everything that there is
#: may be long; one that is longer than this is taken for endless.
MAX_REQUESTS_PER_LOOP_TURN = 500_000


class RequestSink(Protocol):
    """The end of the queue that sources see."""

    def add(
        self,
        request: Request,
        *,
        priority: int = 0,
        after: timedelta | None = None,
        cause: Cause | None = None,
        is_gone: bool = False,
    ) -> None:
        """Ask for a run of a request, now or after a while; ignored once the queue is closed.

        With ``is_gone`` the object does not exist any more, and this run takes away the timer of an earlier one.
        """

    def drop(self, cluster: str) -> Sequence[Request]:
        """Forget the requests for objects of a cluster that is gone, and return them."""
        ...


class ClusterQueue:
    """Takes requests for one cluster: those that name none are for it, those that name another one are refused.

    So handlers that were written for one cluster, and know of no others, work unchanged in each.
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
        cause: Cause | None = None,
        is_gone: bool = False,
    ) -> None:
        """Ask for a run of a request; see `RequestSink`."""
        if not request.cluster:
            request = request._replace(cluster=self._cluster)
        if request.cluster == self._cluster:
            self._queue.add(request, priority=priority, after=after, cause=cause, is_gone=is_gone)
        elif not self._has_warned:
            self._has_warned = True
            log.warning(
                "A request for another cluster is dropped: a controller takes those for its own cluster",
                extra={"request": str(request), "cluster": self._cluster},
            )

    def drop(self, cluster: str) -> Sequence[Request]:
        """Forget the requests for objects of a cluster that is gone, and return them."""
        return self._queue.drop(cluster)


class LimitedSink:
    """Takes requests from a source, until it has added too many without ever waiting: its loop would stop the program.

    Raises:
        ControllerError: by `add`, where the source then fails, and is run again later like any that has failed.
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
        cause: Cause | None = None,
        is_gone: bool = False,
    ) -> None:
        """Ask for a run of a request; see `RequestSink`."""
        if not self._added:
            asyncio.get_running_loop().call_soon(self._item)
        self._added += 1
        if self._added > self._most:
            raise ControllerError(
                f"{self._source} added {self._most:,} requests without waiting, and the event loop served nothing else "
                "meanwhile; let its loop `await asyncio.sleep(0)` now and then"
            )
        self._queue.add(request, priority=priority, after=after, cause=cause, is_gone=is_gone)

    def drop(self, cluster: str) -> Sequence[Request]:
        """Forget the requests for objects of a cluster that is gone, and return them."""
        return self._queue.drop(cluster)

    def _item(self) -> None:
        self._added = 0
