"""A pending request of a queue, with deadline and causes, for logs and tests."""

from __future__ import annotations

import math

from msgspec import Struct

from pyctrl.controller._causes import ReconcileCause
from pyctrl.controller._request import Request

__all__ = ["QueueItem"]


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
    causes: tuple[ReconcileCause, ...]

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
