"""The Prometheus series of a controller: controller-runtime's and client-go's under their names, and pyctrl's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from pyctrl._metrics import QUEUE_DURATIONS, Histogram, MetricFamily, cluster_label, counter, gauge, histogram
from pyctrl.controller._state import ControllerState
from pyctrl.controller._workqueue.queue import MAX_PRIORITY_LABELS, OTHER_PRIORITIES, Queue

if TYPE_CHECKING:
    from pyctrl.controller._reads.statistics import SubscriptionStatistics
    from pyctrl.controller._statistics import ControllerStatistics, QueueStatistics, ReconcileStatistics

__all__ = ["collect_controller"]

#: controller-runtime's label for all priorities beyond `MAX_PRIORITY_LABELS`.
EXCEEDED = "exceeded_cardinality_limit"


def collect_controller(
    controller: str,
    cluster: str,
    *,
    state: ControllerState,
    queue: Queue,
    durations: Histogram,
    statistics: Callable[[], ControllerStatistics],
    subscriptions: Iterable[SubscriptionStatistics] = (),
) -> Iterable[MetricFamily]:
    """Return the metric families of a controller; as in controller-runtime, most exist once it has started."""
    labels = {"controller": controller} | cluster_label(cluster)
    yield gauge("pyctrl_controller_ready", "1 while the controller is ready", (labels, state.is_well))
    states = [(labels | {"state": each.name.lower()}, float(each is state)) for each in ControllerState]
    yield gauge("pyctrl_controller_state", "1 for the present state of the controller", *states)
    if state is ControllerState.NOT_STARTED:
        return
    now = statistics()
    yield from _reconciles(labels, now.reconciles, durations)
    yield gauge("controller_runtime_max_concurrent_reconciles", "Workers", (labels, now.workers))
    yield gauge("controller_runtime_active_workers", "Workers that are reconciling", (labels, now.active_workers))
    yield from _queue({"name": controller} | labels, queue, now.queue)
    yield from _subscriptions({"controller": controller}, [*subscriptions])


def _reconciles(labels: dict[str, str], counts: ReconcileStatistics, durations: Histogram) -> Iterable[MetricFamily]:
    errors = counts.error + counts.terminal_error
    repeated = {"requeue_after": counts.requeue_after, "requeue": counts.requeue}
    ends = {"error": errors, **repeated, "success": counts.success}
    results = [(labels | {"result": result}, float(count)) for result, count in ends.items()]
    causes = [(labels | {"cause": cause}, float(count)) for cause, count in counts.causes.items()]
    prefix = "controller_runtime"
    yield counter(f"{prefix}_reconcile_total", "Reconciles by result", *results)
    yield counter(f"{prefix}_reconcile_errors_total", "Reconciles that failed", (labels, errors))
    yield counter(
        f"{prefix}_terminal_reconcile_errors_total",
        "Reconciles that failed and are not retried",
        (labels, counts.terminal_error),
    )
    yield counter(f"{prefix}_reconcile_panics_total", "Always 0: an exception counts as an error", (labels, 0))
    yield counter(
        f"{prefix}_reconcile_timeouts_total", "Reconciles cancelled by their timeout", (labels, counts.timeout)
    )
    yield histogram(f"{prefix}_reconcile_time_seconds", "Duration of reconciles", (labels, durations))
    yield counter("pyctrl_reconcile_causes_total", "Causes of reconciles; one may have several", *causes)
    yield counter(
        "pyctrl_self_caused_reconciles_total",
        "Reconciles that were caused only by this process's own writes",
        (labels, counts.self_caused),
    )
    yield counter(
        "pyctrl_forbidden_requests_total",
        "Requests of reconciles that the API server has forbidden",
        (labels, counts.forbidden),
    )


def _subscriptions(labels: dict[str, str], kinds: Sequence[SubscriptionStatistics]) -> Iterable[MetricFamily]:
    if not kinds:
        return
    prefix = "pyctrl_controller_subscription"
    yield gauge(
        f"{prefix}s", "Subscriptions of requests to objects and lists", *_by_kind(labels, kinds, "subscriptions")
    )
    yield gauge(
        f"{prefix}_reads", "Objects and lists with at least one subscription", *_by_kind(labels, kinds, "reads")
    )
    yield gauge(
        f"{prefix}s_largest",
        "Subscriptions to the object or list that has the most of them",
        *_by_kind(labels, kinds, "largest"),
    )
    yield counter(
        f"{prefix}_adds_total", "Requests added to the queue by subscriptions", *_by_kind(labels, kinds, "enqueued")
    )


def _by_kind(
    labels: dict[str, str], kinds: Sequence[SubscriptionStatistics], number: str
) -> list[tuple[dict[str, str], float]]:
    """Return a number of each kind that is read, with the labels of the series of caches."""
    found = []
    for each in kinds:
        names = {"group": each.kind.group, "version": each.kind.version, "kind": each.kind.kind}
        found.append((labels | names | cluster_label(each.cluster), float(getattr(each, number))))
    return found


def _queue(labels: dict[str, str], queue: Queue, now: QueueStatistics) -> Iterable[MetricFamily]:
    waits = [(labels | {"priority": _priority(priority)}, waited) for priority, waited in queue.waits.items()]
    whole = Histogram.sum(queue.waits.values(), QUEUE_DURATIONS)
    yield gauge("workqueue_depth", "Requests that are ready", *_depths(labels, queue, now))
    yield counter("workqueue_adds_total", "Requests that became ready", (labels, now.placed))
    yield histogram("workqueue_queue_duration_seconds", "Seconds from ready to taken by a worker", (labels, whole))
    yield histogram(
        "workqueue_work_duration_seconds", "Seconds from taken by a worker to finished", (labels, queue.works)
    )
    yield gauge(
        "workqueue_unfinished_work_seconds",
        "Seconds that the requests in progress have taken so far, in total",
        (labels, now.unfinished.total_seconds()),
    )
    longest = (labels, now.longest_working.total_seconds())
    yield gauge(
        "workqueue_longest_running_processor_seconds",
        "Seconds that the oldest request in progress has taken so far",
        longest,
    )
    yield counter(
        "workqueue_retries_total", "Adds for a later time: retries, timers, delayed adds", (labels, now.retries)
    )
    yield gauge("pyctrl_workqueue_waiting", "Deadlines that are not due yet", (labels, now.waiting))
    yield histogram("pyctrl_workqueue_wait_seconds", "Seconds from ready to taken by a worker, by priority", *waits)


def _depths(labels: dict[str, str], queue: Queue, now: QueueStatistics) -> list[tuple[dict[str, str], float]]:
    """Return the number of ready requests by priority, for each priority that has occurred and for 0."""
    depths = dict.fromkeys([0, *queue.waits], 0)
    for priority, count in now.ready_by_priority.items():
        place = priority if priority in depths or len(depths) < MAX_PRIORITY_LABELS else OTHER_PRIORITIES
        depths[place] = depths.get(place, 0) + count
    return [(labels | {"priority": _priority(priority)}, float(count)) for priority, count in depths.items()]


def _priority(priority: int) -> str:
    return EXCEEDED if priority == OTHER_PRIORITIES else str(priority)
