"""The documents `/metrics` and `/metrics/slis`. There is no etcd, so none of its metrics exist."""

from __future__ import annotations

import resource
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from pyctrl._clock import now
from pyctrl._metrics import Collector, MetricFamily, counter, gauge
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._metrics.request_metrics import RequestMetrics
from pyctrl.apiserver._metrics.text_format import encode_text
from pyctrl.apiserver._storage.storage import Storage

__all__ = ["ServerMetrics"]

TEXT = (("Content-Type", "text/plain; version=0.0.4; charset=utf-8; escaping=underscores"),)


class ServerMetrics:
    """The metrics of one server.

    Args:
        others: Components with metrics of their own.
    """

    def __init__(self, requests: RequestMetrics, storage: Storage, others: Sequence[Collector] = ()) -> None:
        self._requests, self._storage, self._others = requests, storage, others
        self._started = now()

    def find_response(self, path: str, version: Mapping[str, str]) -> Response | None:
        """Return the metrics of a path; None for another path. The `version` is the document `/version`."""
        if path == "/metrics":
            return self._encode(self._all(version))
        if path == "/metrics/slis":
            return self._encode(self._requests.health_metrics())
        return None

    def _all(self, version: Mapping[str, str]) -> Iterator[MetricFamily]:
        yield from self._requests.collect_metrics()
        yield from storage_metrics((*key, len(collection)) for key, collection in self._storage.collections())
        for each in self._others:
            yield from each.collect_metrics()
        yield from build_metrics(version)
        yield from process_metrics(self._started)

    def _encode(self, families: Iterable[MetricFamily]) -> Response:
        started = ("Process-Start-Time-Unix", str(int(self._started.timestamp())))
        return Response(status=200, headers=(*TEXT, started), body=encode_text(families).encode())


def storage_metrics(objects: Iterable[tuple[str, str, int]]) -> Iterator[MetricFamily]:
    """Return the number of stored objects by group and resource."""
    counted = sorted(objects)
    yield gauge(
        "apiserver_storage_objects",
        "[STABLE] (Deprecated since 1.34.0) [DEPRECATED, consider using apiserver_resource_objects instead] Number of "
        "stored objects at the time of last check split by kind. In case of a fetching error, the value will be -1.",
        *(({"resource": f"{plural}.{group}" if group else plural}, count) for group, plural, count in counted),
    )
    yield gauge(
        "apiserver_resource_objects",
        "[ALPHA] Number of stored objects at the time of last check split by kind. In case of a fetching error, the "
        "value will be -1.",
        *(({"group": group, "resource": plural}, count) for group, plural, count in counted),
    )


def build_metrics(version: Mapping[str, str]) -> Iterator[MetricFamily]:
    """Return the version of the server."""
    names = {
        "build_date": "buildDate",
        "compiler": "compiler",
        "git_commit": "gitCommit",
        "git_tree_state": "gitTreeState",
        "git_version": "gitVersion",
        "go_version": "goVersion",
        "major": "major",
        "minor": "minor",
        "platform": "platform",
    }
    yield gauge(
        "kubernetes_build_info",
        "[BETA] A metric with a constant '1' value labeled by major, minor, git version, git commit, git tree state, "
        "build date, Go version, and compiler from which Kubernetes was built, and platform on which it is running.",
        ({label: version[name] for label, name in names.items()}, 1),
    )


def process_metrics(started: datetime) -> Iterator[MetricFamily]:
    """Return the metrics of the process: those of Prometheus' client libraries that this system has."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield counter(
        "process_cpu_seconds_total",
        "Total user and system CPU time spent in seconds.",
        ({}, used.ru_utime + used.ru_stime),
    )
    yield gauge("process_max_fds", "Maximum number of open file descriptors.", ({}, limit))
    descriptors = Path("/proc/self/fd" if sys.platform == "linux" else "/dev/fd")
    yield gauge("process_open_fds", "Number of open file descriptors.", ({}, sum(1 for _ in descriptors.iterdir())))
    if sys.platform == "linux":
        pages = [int(number) for number in Path("/proc/self/statm").read_text().split()[:2]]
        size, resident = (number * resource.getpagesize() for number in pages)
        yield gauge("process_resident_memory_bytes", "Resident memory size in bytes.", ({}, resident))
        yield gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.", ({}, size))
    yield gauge(
        "process_start_time_seconds",
        "Start time of the process since unix epoch in seconds.",
        ({}, started.timestamp()),
    )
