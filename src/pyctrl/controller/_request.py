"""The request that a reconciler is called with, and the result that it returns."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from pyctrl.api import Key

if TYPE_CHECKING:
    from pyctrl.api import Object

__all__ = ["Request", "Result"]


class Request(NamedTuple):
    """The object to reconcile. It does not say why: a reconciler acts on state, not on events."""

    namespace: str
    name: str
    #: The cluster that the object is in; "" for the cluster of the manager.
    cluster: str = ""

    @classmethod
    def of(cls, obj: Object) -> Request:
        """Return the request for an object."""
        return cls(obj.metadata.namespace, obj.metadata.name)

    @property
    def key(self) -> Key:
        """The object's key, for reads: ``await self.client.find(PodSet, request.key)``."""
        return Key(self.namespace, self.name)

    def __str__(self) -> str:
        return f"{self.cluster}:{self.key}" if self.cluster else str(self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """When a successful reconcile runs again; a failed reconcile raises.

    None, ``Result()`` and ``Result.done()`` are the same: at the next change.
    """

    #: Run again after this time at the latest. An earlier change causes an earlier run, and the deadline stays unless
    #: that run sets a new one. Zero means after the rate limiter's delay: 5 ms, doubled with each run that returns zero
    #: again, up to 1000 s, and back to 5 ms when a run ends otherwise. It does not count as an error. A negative delay
    #: counts as zero, with a warning.
    requeue_after: timedelta | None = None
    #: The priority of that next run; by default that of this run.
    priority: int | None = None

    @classmethod
    def done(cls) -> Result:
        """Return the result for: run again at the next change."""
        return cls()

    @classmethod
    def after(cls, delay: timedelta, *, priority: int | None = None) -> Result:
        """Return the result for: run again in ``delay`` at the latest. For zero see `requeue_after`."""
        return cls(requeue_after=delay, priority=priority)
