"""How controllers are doing, in numbers. Imported when somebody asks, which a start does not wait for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta

__all__ = ["ControllerStatistics", "QueueStatistics", "ReconcileStatistics"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileStatistics:
    """How often a controller's reconciles ended how, since it started."""

    success: int = 0
    #: Succeeded, and asked to run again at once: with a delay of zero or less.
    requeue: int = 0
    #: Succeeded, and asked to run again after a delay.
    requeue_after: int = 0
    #: Failed and tried again; those that timed out are among them.
    error: int = 0
    #: Failed and not tried again: a TerminalError, or a result that is none.
    terminal_error: int = 0
    timeout: int = 0
    #: Time spent in reconciles, all together.
    took: timedelta = timedelta(0)
    #: How often each kind of cause made a request run (see `cause_label`); one run may have had several.
    causes: Mapping[str, int] = field(default_factory=dict)
    #: Of those that ran only because this process itself had written something.
    self_caused: int = 0
    #: Requests of reconciles that the API server has forbidden, whatever became of the reconcile.
    forbidden: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStatistics:
    """How a queue is doing at one moment."""

    #: Requests a worker could take now, in all and by priority.
    ready: int
    ready_by_priority: dict[int, int]
    #: Deadlines that are not due yet: retries, timers, delayed adds.
    waiting: int
    working: int
    #: Since the start: how often something was added, and how often a later run was asked for.
    adds: int
    #: How often a request that was not ready became so: what Go's queue counts as an add.
    placed: int
    retries: int
    longest_ready: timedelta
    longest_working: timedelta
    #: How long all that is being worked on has been so, together.
    unfinished: timedelta
    is_closed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerStatistics:
    """How a controller is doing."""

    reconciles: ReconcileStatistics
    queue: QueueStatistics
    workers: int
    active_workers: int
