"""Metrics without a Prometheus library: histograms, metric families, and the `Collector` protocol.

Counting is always on and cheap. A `Collector` returns its metric families on request; the manager collects those of
all its runnables.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from msgspec import Struct

__all__ = [
    "DURATIONS",
    "QUEUE_DURATIONS",
    "RECONCILE_DURATIONS",
    "REQUEST_DURATIONS",
    "REQUEST_SIZES",
    "Collector",
    "Histogram",
    "MetricFamily",
    "Sample",
    "WebhookMetrics",
    "cluster_label",
    "counter",
    "gauge",
    "histogram",
    "labelled",
]

# controller-runtime's and client-go's buckets, so that existing dashboards and recording rules work.
#: For work queues and webhooks: ExponentialBuckets(10e-9, 10, 12).
QUEUE_DURATIONS = tuple(float(f"1e{exponent}") for exponent in range(-8, 4))
DURATIONS = QUEUE_DURATIONS
#: For reconciles.
RECONCILE_DURATIONS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5),
    *(1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0),
)
#: For requests to the API server, in seconds and in bytes.
REQUEST_DURATIONS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
REQUEST_SIZES = (
    *(64.0, 256.0, 512.0, 1024.0, 4096.0, 16384.0, 65536.0),
    *(262144.0, 1048576.0, 4194304.0, 16777216.0),
)


class Histogram:
    """Counts of observed values by bucket, and their sum.

    A bucket counts the values above the previous bound, up to its own; a last one counts the values above all bounds.
    """

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds: tuple[float, ...] = tuple(bounds)
        self.counts: list[int] = [0] * (len(self.bounds) + 1)
        self.total: float = 0.0

    def observe(self, value: float) -> None:
        """Count a value: a binary search and two additions."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    @classmethod
    def sum(cls, parts: Iterable[Histogram], bounds: Sequence[float]) -> Histogram:
        """Return the histogram of the values of all parts."""
        whole = cls(bounds)
        for part in parts:
            whole.counts = [mine + theirs for mine, theirs in zip(whole.counts, part.counts, strict=True)]
            whole.total += part.total
        return whole


#: Labels and a value.
Sample: TypeAlias = tuple[Mapping[str, str], float | Histogram]


class MetricFamily(Struct, frozen=True):
    """A Prometheus metric: name, type, help text and series."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    samples: Sequence[Sample]


def counter(name: str, meaning: str, *samples: Sample) -> MetricFamily:
    """Return a family of counters; the name ends with ``_total``."""
    return MetricFamily(name, "counter", meaning, samples)


def gauge(name: str, meaning: str, *samples: Sample) -> MetricFamily:
    """Return a family of gauges."""
    return MetricFamily(name, "gauge", meaning, samples)


def histogram(name: str, meaning: str, *samples: Sample) -> MetricFamily:
    """Return a family of histograms."""
    return MetricFamily(name, "histogram", meaning, samples)


def cluster_label(cluster: str) -> dict[str, str]:
    """Return the cluster label of series; none for the manager's own cluster.

    It is not ``cluster``, which external labels and relabelling use for the cluster that Prometheus runs in.
    """
    return {"member_cluster": cluster} if cluster else {}


def labelled(families: Iterable[MetricFamily], labels: Mapping[str, str]) -> Iterable[MetricFamily]:
    """Add labels to all samples."""
    for family in families:
        samples = [({**own, **labels}, value) for own, value in family.samples]
        yield MetricFamily(family.name, family.kind, family.meaning, samples)


@runtime_checkable
class Collector(Protocol):
    """An object with metrics. The metrics of a runnable that is a collector are part of its manager's."""

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return the metrics counted so far; several collectors may have the same family with different labels."""
        ...


class WebhookMetrics:
    """Metrics of webhook requests by path, under controller-runtime's names.

    The webhook server registers each path, handles each request within `request`, and returns these metrics as its own.
    """

    def __init__(self) -> None:
        self._latencies: dict[str, Histogram] = {}
        self._codes: dict[tuple[str, int], int] = {}
        self._in_flight: dict[str, int] = {}
        self._panics = {False: 0, True: 0}  # by whether it was a conversion

    def register(self, path: str) -> None:
        """Create the series of a path, with the codes 200 and 500 at 0."""
        self._latencies.setdefault(path, Histogram(DURATIONS))
        self._in_flight.setdefault(path, 0)
        for code in (200, 500):
            self._codes.setdefault((path, code), 0)

    @contextmanager
    def request(self, path: str) -> Iterator[Callable[[int], None]]:
        """Measure one request; call the yielded function with the status code, which is 500 otherwise."""
        self.register(path)
        codes: list[int] = []
        began = asyncio.get_running_loop().time()
        self._in_flight[path] += 1
        try:
            yield codes.append
        finally:
            self._in_flight[path] -= 1
            self._latencies[path].observe(asyncio.get_running_loop().time() - began)
            code = (path, codes[-1] if codes else 500)
            self._codes[code] = self._codes.get(code, 0) + 1

    def failed(self, *, is_conversion: bool = False) -> None:
        """Count an unexpected exception in a webhook."""
        self._panics[is_conversion] += 1

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return controller-runtime's webhook metrics."""
        prefix = "controller_runtime_webhook"
        yield histogram(
            f"{prefix}_latency_seconds",
            "Duration of requests",
            *(({"webhook": path}, seen) for path, seen in self._latencies.items()),
        )
        yield counter(
            f"{prefix}_requests_total",
            "Requests by status code of the response; a denial is a 200",
            *(({"webhook": path, "code": str(code)}, count) for (path, code), count in self._codes.items()),
        )
        yield gauge(
            f"{prefix}_requests_in_flight",
            "Requests in progress",
            *(({"webhook": path}, count) for path, count in self._in_flight.items()),
        )
        yield counter(f"{prefix}_panics_total", "Exceptions in admission webhooks", ({}, self._panics[False]))
        yield counter(
            "controller_runtime_conversion_webhook_panics_total",
            "Exceptions in conversion webhooks",
            ({}, self._panics[True]),
        )
