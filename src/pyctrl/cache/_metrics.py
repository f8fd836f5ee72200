"""The Prometheus series of informers; controller-runtime has none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from pyctrl._metrics import MetricFamily, Sample, counter, gauge
from pyctrl.cache._statistics import InformerStatistics

__all__ = ["collect_cache"]

_Samples: TypeAlias = Callable[[Callable[[InformerStatistics], float]], list[Sample]]


def collect_cache(informers: Sequence[InformerStatistics]) -> Iterable[MetricFamily]:
    """Return the metric families of all cached kinds."""

    def samples(value: Callable[[InformerStatistics], float]) -> list[Sample]:
        return [(_labels(informer), float(value(informer))) for informer in informers]

    yield gauge("pyctrl_cache_objects", "Objects in the cache", *samples(lambda i: i.objects))
    yield gauge("pyctrl_cache_bytes", "Bytes of the objects in the cache", *samples(lambda i: i.size_bytes))
    yield gauge("pyctrl_cache_synced", "1 once the first list is complete", *samples(lambda i: i.is_synced))
    yield gauge(
        "pyctrl_cache_failing", "1 while the kind cannot be listed or watched", *samples(lambda i: i.is_failing)
    )
    yield gauge(
        "pyctrl_cache_unreadable_objects",
        "Objects that cannot be decoded, such as those nested too deep",
        *samples(lambda i: i.unreadable),
    )
    yield gauge(
        "pyctrl_cache_stalled",
        "1 while watches bring nothing although the server has newer versions",
        *samples(lambda i: i.is_stalled),
    )
    yield gauge("pyctrl_cache_served", "0 while the cluster does not serve the kind", *samples(lambda i: i.is_served))
    heard = [(_labels(i), i.age.total_seconds()) for i in informers if i.age is not None]
    yield gauge("pyctrl_cache_last_event_age_seconds", "Seconds since the server last sent something", *heard)
    yield counter("pyctrl_cache_relists_total", "Complete lists after the first", *samples(lambda i: i.relists))
    live = "Reads that were requests, because the cache does not cover what they ask for"
    yield counter("pyctrl_cache_live_reads_total", live, *samples(lambda i: i.live_reads))
    yield from _own_writes(samples)


def _own_writes(samples: _Samples) -> Iterable[MetricFamily]:
    yield gauge(
        "pyctrl_cache_own_writes", "Own writes that no watch has confirmed yet", *samples(lambda i: i.own_writes)
    )
    yield gauge(
        "pyctrl_cache_own_writes_lag_seconds",
        "Seconds since the oldest unconfirmed own write",
        *samples(lambda i: i.own_writes_lag.total_seconds()),
    )
    yield counter(
        "pyctrl_cache_own_writes_given_up_total",
        "Own writes dropped before a watch has confirmed them, because there were too many",
        *samples(lambda i: i.own_writes_given_up),
    )


def _labels(informer: InformerStatistics) -> dict[str, str]:
    return {"group": informer.kind.group, "version": informer.kind.version, "kind": informer.kind.kind}
