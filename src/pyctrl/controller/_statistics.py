"""Numbers about controllers. Imported on first use, so that a start does not wait for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

__all__ = ["ControllerStatistics", "QueueStatistics", "ReconcileStatistics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileStatistics:
    """The number of a controller's reconciles since its start, by outcome and cause."""

    success: int = 0
    #: Succeeded with a requeue delay of zero or less, or was put off because the cache has an owner that is gone.
    requeue: int = 0
    #: Succeeded with a requeue delay.
    requeue_after: int = 0
    #: Failed and retried, including timeouts.
    error: int = 0
    #: Failed and not retried: a TerminalError, or an invalid result.
    terminal_error: int = 0
    timeout: int = 0
    #: The total time of all reconciles.
    took: timedelta = timedelta(0)
    #: Causes of reconciles by type (see `cause_label`); one reconcile may have several.
    causes: Mapping[str, int] = field(default_factory=dict)
    #: Reconciles that were caused only by writes of this process.
    self_caused: int = 0
    #: Requests of reconciles that the API server has forbidden, whatever the outcome of the reconcile.
    forbidden: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStatistics:
    """Numbers about a queue at one moment."""

    #: Requests that a worker could take now, in total and by priority.
    ready: int
    ready_by_priority: dict[int, int]
    #: Deadlines that are not due yet: retries, timers, delayed adds.
    waiting: int
    working: int
    #: Calls of `add` since the start.
    adds: int
    #: Requests that became ready, which client-go's workqueue counts as adds.
    placed: int
    #: Adds for a later time: retries, timers, delayed adds.
    retries: int
    longest_ready: timedelta
    longest_working: timedelta
    #: The sum of the times that the running reconciles have taken so far.
    unfinished: timedelta
    is_closed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerStatistics:
    """Numbers about a controller."""

    reconciles: ReconcileStatistics
    queue: QueueStatistics
    workers: int
    active_workers: int
