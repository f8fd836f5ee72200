"""Pending requests of a queue as log fields: those that are dropped at the end, and a periodic dump."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from pyctrl.controller._causes import Cause
from pyctrl.controller._request import Request

if TYPE_CHECKING:
    from pyctrl.controller._workqueue.queue import Queue

__all__ = ["DUMP_LEVEL", "QueueItem", "dropped_fields", "log_items"]

log = logging.getLogger("pyctrl.controller.queue")

DUMP_LEVEL = logging.DEBUG - 4  # Go's V(5), as `parse_level` maps it
DUMP_SECONDS = 10.0  # as in controller-runtime
SHOWN = 10  # dropped requests that are logged
DUMPED = 1000  # requests in a dump; some 100 KB


class QueueItem(Struct, frozen=True, kw_only=True):
    """A pending request.

    Attributes:
        request: the request.
        priority: its highest priority.
        due: the seconds until it is due; 0 when it is ready, infinite for a delay set after the queue was closed.
        causes: why it is pending.
    """

    request: Request
    priority: int
    due: float
    causes: tuple[Cause, ...]

    @property
    def is_ready(self) -> bool:
        """Whether it is due."""
        return self.due <= 0

    def __str__(self) -> str:
        when = "ready" if self.is_ready else "later" if math.isinf(self.due) else f"in {self.due:.1f} s"
        why = [", ".join(map(str, self.causes))] * bool(self.causes)
        return f"{self.request} ({'; '.join([f'priority {self.priority}', when, *why])})"

    def fields(self) -> dict[str, object]:
        """Return the item as log fields, with controller-runtime's names where there are some."""
        due = None if math.isinf(self.due) else round(max(0.0, self.due), 3)
        causes = [str(cause) for cause in self.causes]
        return {"key": str(self.request), "priority": self.priority, "readyIn": due, "causes": causes}


def dropped_fields(queue: Queue) -> dict[str, object]:
    """Return log fields about the requests that are dropped: their number, the number of ready ones, and the first."""
    dropped = len(queue.remaining())
    if not dropped:
        return {}
    some = [str(item) for item in queue.items(SHOWN)]
    return {
        "dropped": dropped,
        "ready": queue.statistics().ready,
        "requests": some if dropped <= SHOWN else [*some, "…"],
    }


async def log_items(queue: Queue, fields: Mapping[str, object]) -> None:
    """Log the pending requests of a queue every ten seconds, until cancelled."""
    while True:
        await asyncio.sleep(DUMP_SECONDS)
        facts = {"count": len(queue.remaining()), "items": [item.fields() for item in queue.items(DUMPED)]}
        log.log(DUMP_LEVEL, "workqueue_items", extra={**fields, **facts})
