"""The end of a queue that sources see, when the controller lives in another cluster than the manager's."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta

from pyctrl.controller._causes import Cause
from pyctrl.controller._queue import Intake
from pyctrl.controller._reconciler import Request

__all__ = ["IntakeOf"]

log = logging.getLogger("pyctrl.controller")


class IntakeOf:
    """Takes requests for one cluster: those that name none are for it, those that name another one are refused.

    So handlers that were written for one cluster, and know of no others, work unchanged in each.
    """

    def __init__(self, cluster: str, queue: Intake) -> None:
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
        """Ask for a run of a request; see `Intake`."""
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
