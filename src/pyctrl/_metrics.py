"""Numbers about what runs, as Prometheus has them: histograms that are cheap to feed, and families of series.

Counting happens where things happen, always, and costs next to nothing; nobody needs a library for it. What
something has counted it tells as families, when asked (`Collector`); the manager asks all that it runs.
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

# controller-runtime's and client-go's buckets, so that existing dashboards and recording rules fit.
#: Of workqueues and of webhooks: ExponentialBuckets(10e-9, 10, 12).
QUEUE_DURATIONS = tuple(float(f"1e{exponent}") for exponent in range(-8, 4))
DURATIONS = QUEUE_DURATIONS
#: Of reconciles.
RECONCILE_DURATIONS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.25, 1.5),
    *(1.75, 2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0),
)
#: Of requests to the API server, in seconds and in bytes.
REQUEST_DURATIONS = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0)
REQUEST_SIZES = (
    *(64.0, 256.0, 512.0, 1024.0, 4096.0, 16384.0, 65536.0),
    *(262144.0, 1048576.0, 4194304.0, 16777216.0),
)


class Histogram:
    """How many values came, how large they were together, and how many in each bucket.

    A bucket holds the values up to its bound that are above the one before; one more holds the rest.
    """

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: Sequence[float]) -> None:
        self.bounds: tuple[float, ...] = tuple(bounds)
        self.counts: list[int] = [0] * (len(self.bounds) + 1)
        self.total: float = 0.0

    def observe(self, value: float) -> None:
        """Take a value: a search among a dozen numbers and two additions."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    @classmethod
    def sum(cls, parts: Iterable[Histogram], bounds: Sequence[float]) -> Histogram:
        """Return what one histogram would have that had seen it all."""
        whole = cls(bounds)
        for part in parts:
            whole.counts = [mine + theirs for mine, theirs in zip(whole.counts, part.counts, strict=True)]
            whole.total += part.total
        return whole


#: Labels and a value.
Sample: TypeAlias = tuple[Mapping[str, str], float | Histogram]


class MetricFamily(Struct, frozen=True):
    """A name of Prometheus, what it means, and its series."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    meaning: str
    samples: Sequence[Sample]


def counter(name: str, meaning: str, *samples: Sample) -> MetricFamily:
    """Return a family of numbers that only grow; its name ends with ``_total``."""
    return MetricFamily(name, "counter", meaning, samples)


def gauge(name: str, meaning: str, *samples: Sample) -> MetricFamily:
    """Return a family of numbers that go up and down."""
    return MetricFamily(name, "gauge", meaning, samples)


def histogram(name: str, meaning: str, *samples: Sample) -> MetricFamily:
    """Return a family of histograms."""
    return MetricFamily(name, "histogram", meaning, samples)


def cluster_label(cluster: str) -> dict[str, str]:
    """Return the label of series about another cluster than the manager's own, whose series have none.

    It is not ``cluster``: that is what Prometheus calls the cluster it scrapes in, by external labels and relabelling.
    """
    return {"member_cluster": cluster} if cluster else {}


def labelled(families: Iterable[MetricFamily], labels: Mapping[str, str]) -> Iterable[MetricFamily]:
    """Put labels on all samples."""
    for family in families:
        samples = [({**own, **labels}, value) for own, value in family.samples]
        yield MetricFamily(family.name, family.kind, family.meaning, samples)


@runtime_checkable
class Collector(Protocol):
    """Something that tells numbers about itself. A runnable that does is part of its manager's metrics."""

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return what it has counted so far; several may tell of the same family, with other labels."""
        ...


class WebhookMetrics:
    """Counts what webhooks are asked, by path, under controller-runtime's names.

    The server of webhooks registers each path, answers inside of `request`, and gives `collect_metrics` as its own.
    """

    def __init__(self) -> None:
        self._latencies: dict[str, Histogram] = {}
        self._codes: dict[tuple[str, int], int] = {}
        self._in_flight: dict[str, int] = {}
        self._panics = {False: 0, True: 0}  # by whether it was a conversion

    def register(self, path: str) -> None:
        """Begin the series of a path; 200 and 500 are told of from the start."""
        self._latencies.setdefault(path, Histogram(DURATIONS))
        self._in_flight.setdefault(path, 0)
        for code in (200, 500):
            self._codes.setdefault((path, code), 0)

    @contextmanager
    def request(self, path: str) -> Iterator[Callable[[int], None]]:
        """Measure one request; call what is given with the status of its answer. Without that it counts as 500."""
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
        """Take note that the code of a webhook has raised what it should not have."""
        self._panics[is_conversion] += 1

    def collect_metrics(self) -> Iterable[MetricFamily]:
        """Return controller-runtime's series of webhooks."""
        prefix = "controller_runtime_webhook"
        yield histogram(
            f"{prefix}_latency_seconds",
            "How long requests take",
            *(({"webhook": path}, seen) for path, seen in self._latencies.items()),
        )
        yield counter(
            f"{prefix}_requests_total",
            "Requests by the status of their answer; a denial is a 200",
            *(({"webhook": path, "code": str(code)}, count) for (path, code), count in self._codes.items()),
        )
        yield gauge(
            f"{prefix}_requests_in_flight",
            "Requests that are being answered",
            *(({"webhook": path}, count) for path, count in self._in_flight.items()),
        )
        yield counter(f"{prefix}_panics_total", "Errors in the code of admission", ({}, self._panics[False]))
        yield counter(
            "controller_runtime_conversion_webhook_panics_total",
            "Errors in the code of conversions",
            ({}, self._panics[True]),
        )
