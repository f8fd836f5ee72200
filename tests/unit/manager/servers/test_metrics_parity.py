"""controller-runtime's table of metrics, literally, compared with a manager's metrics."""

from __future__ import annotations

from pyctrl._metrics import Histogram, MetricFamily
from tests.unit.manager.servers.test_metrics_table import told

RECONCILES = (
    ".005 .01 .025 .05 .1 .15 .2 .25 .3 .35 .4 .45 .5 .6 .7 .8 .9 1 1.25 1.5 1.75 2 2.5 3 3.5 4 4.5 5 6 7 8 9 10 15 20 "
    "25 30 40 50 60"
)
QUEUES = "1e-8 1e-7 1e-6 1e-5 1e-4 1e-3 1e-2 1e-1 1 10 100 1000"
REQUESTS = ".005 .025 .1 .25 .5 1 2 4 8 15 30 60"
SIZES = "64 256 512 1024 4096 16384 65536 262144 1048576 4194304 16777216"

#: Each series of controller-runtime 0.25 but two that do not apply here: name, type, labels, buckets.
THEIRS = """
controller_runtime_reconcile_total                        | counter   | controller result
controller_runtime_reconcile_errors_total                 | counter   | controller
controller_runtime_terminal_reconcile_errors_total        | counter   | controller
controller_runtime_reconcile_panics_total                 | counter   | controller
controller_runtime_reconcile_timeouts_total               | counter   | controller
controller_runtime_reconcile_time_seconds                 | histogram | controller               | RECONCILES
controller_runtime_max_concurrent_reconciles              | gauge     | controller
controller_runtime_active_workers                         | gauge     | controller
workqueue_depth                                           | gauge     | name controller priority
workqueue_adds_total                                      | counter   | name controller
workqueue_queue_duration_seconds                          | histogram | name controller          | QUEUES
workqueue_work_duration_seconds                           | histogram | name controller          | QUEUES
workqueue_unfinished_work_seconds                         | gauge     | name controller
workqueue_longest_running_processor_seconds               | gauge     | name controller
workqueue_retries_total                                   | counter   | name controller
rest_client_requests_total                                | counter   | code method host
rest_client_request_duration_seconds                      | histogram | verb host                | REQUESTS
rest_client_request_size_bytes                            | histogram | verb host                | SIZES
rest_client_response_size_bytes                           | histogram | verb host                | SIZES
rest_client_request_retries_total                         | counter   | code verb host
leader_election_master_status                             | gauge     | name
leader_election_slowpath_total                            | counter   | name
certwatcher_read_certificate_total                        | counter   |
certwatcher_read_certificate_errors_total                 | counter   |
controller_runtime_webhook_latency_seconds                | histogram | webhook                  | QUEUES
controller_runtime_webhook_requests_total                 | counter   | webhook code
controller_runtime_webhook_requests_in_flight             | gauge     | webhook
controller_runtime_webhook_panics_total                   | counter   |
controller_runtime_conversion_webhook_panics_total        | counter   |
"""
BUCKETS = {"RECONCILES": RECONCILES, "QUEUES": QUEUES, "REQUESTS": REQUESTS, "SIZES": SIZES}

Row = tuple[str, frozenset[str], tuple[float, ...]]


def expected() -> dict[str, Row]:
    """The parsed table."""
    rows: dict[str, Row] = {}
    for line in THEIRS.strip().splitlines():
        name, kind, labels, *buckets = (cell.strip() for cell in line.split("|"))
        bounds = tuple(float(bound) for bound in BUCKETS[buckets[0]].split()) if buckets else ()
        rows[name] = (kind, frozenset(labels.split()), bounds)
    return rows


def row_of(family: MetricFamily) -> Row:
    """The row of a metric family, whose samples must agree."""
    labels = {frozenset(labels) for labels, _ in family.samples}
    bounds = {value.bounds if isinstance(value, Histogram) else () for _, value in family.samples}
    assert len(labels) <= 1, family.name
    assert len(bounds) <= 1, family.name
    return family.kind, next(iter(labels), frozenset()), next(iter(bounds), ())


async def test_each_series_of_controller_runtime_is_told_with_its_type_labels_and_buckets() -> None:
    """The metrics have controller-runtime's types, labels and buckets; no other metric has one of its prefixes."""
    ours = [family for family in await told() if not family.name.startswith("pyctrl_")]

    assert {family.name: row_of(family) for family in ours} == expected()


async def test_counters_begin_at_nothing() -> None:
    """All four results of reconciles, and 200 and 500 of each webhook, exist with 0 from the start."""
    ours = {family.name: family for family in await told()}
    results = {labels["result"] for labels, _ in ours["controller_runtime_reconcile_total"].samples}
    codes = {labels["code"] for labels, _ in ours["controller_runtime_webhook_requests_total"].samples}

    assert results == {"error", "requeue_after", "requeue", "success"}
    assert codes == {"200", "500"}
