"""Options of a controller."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

from pyctrl.controller._workqueue.rate_limiters import RateLimiter
from pyctrl.errors import BuilderError

__all__ = ["Absence", "ControllerOptions", "OnSyncFailure"]


class Absence(Enum):
    """How a controller takes it that the cluster does not serve a kind that it follows."""

    #: As a problem: it does not start before the kind is served, and is not ready.
    FAULT = "fault"
    #: It rests until the kind is served, and is ready.
    REST = "rest"
    #: It works without the kind.
    IGNORE = "ignore"


class OnSyncFailure(Enum):
    """What happens when a source fails, or is not synced within ``cache_sync_timeout``."""

    #: The controller waits until the source works and is not ready; its log and state say why. All others run.
    WAIT = "wait"
    #: The manager ends with the error, as controller-runtime's does. It waits for missing permissions nevertheless.
    END = "end"


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerOptions:
    """The options of one controller, with controller-runtime's defaults."""

    #: Unique in its manager; a label of logs and metrics. By default the reconciled kind in lower case.
    name: str | None = None
    #: Requests that are reconciled at the same time; never two for one object. `Controller.workers` changes it.
    workers: int = 1
    #: Decides the delay of retries; by default `ExponentialBackoff`, 5 ms to 1000 s for each request.
    limiter: RateLimiter | None = None
    #: Whether it runs on the leader only, if the manager elects one; False: every replica reconciles everything. None
    #: (the default) is True, but with `pyctrl.manager.Sharding` every replica reconciles its share.
    only_leader: bool | None = None
    #: The time after which a reconcile is cancelled and fails; no limit by default.
    reconcile_timeout: timedelta | None = None
    #: The time after which a source that is not synced counts as failing; see `OnSyncFailure`.
    cache_sync_timeout: timedelta = timedelta(minutes=2)
    #: Whether a restart may leave out requests that have converged, if the manager keeps fingerprints. False for a
    #: reconciler that must see every object after each start, as to fill a metric or a dictionary.
    fingerprints: bool = True

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise BuilderError(f"a controller needs at least one worker, got workers={self.workers}")
