"""How a controller behaves, apart from what it watches and what it does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

from pyctrl.controller._workqueue.rate_limiters import RateLimiter
from pyctrl.errors import BuilderError

__all__ = ["Absence", "ControllerOptions", "OnSyncFailure"]


class Absence(Enum):
    """What it means for a controller that the cluster does not serve a kind which it follows."""

    #: Something is wrong: it does not begin before, and is not ready.
    FAULT = "fault"
    #: There is nothing to do: it rests until the kind is served.
    REST = "rest"
    #: Nothing: it works without.
    IGNORE = "ignore"


class OnSyncFailure(Enum):
    """What a source that fails, or has not told what is there within ``cache_sync_timeout``, means to its manager."""

    #: The controller waits until it works, says why, and is not ready; all others run.
    WAIT = "wait"
    #: The manager ends with the error, as controller-runtime's does. A missing right is waited for all the same.
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerOptions:
    """The options of one controller, with controller-runtime's defaults."""

    #: Unique in its manager; separates logs and metrics. By default the reconciled kind in lower case.
    name: str | None = None
    #: How many requests are reconciled at the same time; never two of one object. `Controller.workers` changes it.
    workers: int = 1
    #: How long failed requests wait; by default `ExponentialBackoff`, 5 ms to 1000 s for each request by itself.
    limiter: RateLimiter | None = None
    #: Whether it runs on the leader only, where the manager elects one; otherwise every replica reconciles.
    only_leader: bool = True
    #: What one reconcile may take before it is cancelled and counts as failed; no limit by default.
    reconcile_timeout: timedelta | None = None
    #: What the first list of a source may take before the controller counts as failing; see `OnSyncFailure`.
    cache_sync_timeout: timedelta = timedelta(minutes=2)

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise BuilderError(f"a controller needs at least one worker, got workers={self.workers}")
