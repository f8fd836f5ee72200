"""Logging of the pending requests of a queue: those that are dropped at its end, and a periodic dump."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from pyctrl.controller._workqueue.queue import Queue

__all__ = ["DUMP_LEVEL", "dropped_fields", "log_items"]

log = logging.getLogger("pyctrl.controller.queue")

DUMP_LEVEL = logging.DEBUG - 4  # Go's V(5), as `parse_level` maps it
DUMP_SECONDS = 10.0  # as in controller-runtime
SHOWN = 10  # dropped requests that are logged
DUMPED = 1000  # requests in a dump; some 100 KB


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
