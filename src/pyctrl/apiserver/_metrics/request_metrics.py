"""Metrics of requests, under kube-apiserver's names.

A request costs one lookup and a few additions. Everything else is computed when the metrics are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from pyctrl._clock import now
from pyctrl._metrics import Histogram, MetricFamily, counter, gauge, histogram
from pyctrl.api import RequestTarget
from pyctrl.apiserver._errors import Response
from pyctrl.apiserver._healthz import CHECKS
from pyctrl.apiserver._request.request_context import RequestContext

__all__ = ["RequestMetrics"]

# kube-apiserver's buckets
_DURATIONS = (
    *(0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0),
    *(30.0, 45.0, 60.0),
)
_SIZES = (1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9)

_VERBS = {
    "create": "POST",
    "delete": "DELETE",
    "deletecollection": "DELETECOLLECTION",
    "get": "GET",
    "list": "LIST",
    "patch": "PATCH",
    "update": "PUT",
    "watch": "WATCH",
}
_CONNECTED = frozenset(("attach", "exec", "log", "portforward", "proxy"))
_SIZED = frozenset(("GET", "LIST"))

# Paths that are no resources, with their label `subresource`; others are not counted.
_PATHS = {
    "/healthz": "/healthz",
    "/livez": "/livez",
    "/readyz": "/readyz",
    "/openapi/v2": "openapi/v2",
    "/openapi/v3": "openapi/v3",
}

_NAMES = ("verb", "group", "version", "resource", "subresource", "scope", "component")
Labels: TypeAlias = tuple[str, str, str, str, str, str, str]


class _Series:
    """The requests with the same labels."""

    __slots__ = ("codes", "durations", "sizes")

    def __init__(self) -> None:
        self.codes: Counter[int] = Counter()
        self.durations = Histogram(_DURATIONS)
        self.sizes = Histogram(_SIZES)


class RequestMetrics:
    """Metrics of the requests of a server: how many, how long, how large, and how many are running."""

    def __init__(self) -> None:
        self._series: dict[tuple[Labels, str], _Series] = {}
        self._long_running: Counter[Labels] = Counter()
        #: Requests that are running, by whether they may change objects.
        self.running: dict[bool, int] = {False: 0, True: 0}

    def completed(self, context: RequestContext, response: Response) -> Response:
        """Count a request to a resource or document that is served. A watch is counted when it ends."""
        target, query, body = context.target, context.query, response.body
        if target is None:
            if (path := _PATHS.get(context.path)) is None:
                return response
            labels: Labels = (context.method, "", "", "", path, "", "")
        elif context.is_routed:
            labels = _labels(context.method, target, query.first, context.headers.get("content-type", ""))
        else:
            return response
        if labels[0] == "WATCH" and isinstance(body, AsyncGenerator):
            return replace(response, body=self._watched(labels, context.received, body))
        size = len(body) if isinstance(body, bytes) else 0
        self._observe(labels, query.get("dryRun"), response.status, context.received, size)
        return response

    async def _watched(
        self, labels: Labels, started: datetime, body: AsyncGenerator[bytes, None]
    ) -> AsyncGenerator[bytes, None]:
        self._long_running[labels] += 1
        try:
            async with aclosing(body) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            self._long_running[labels] -= 1
            self._observe(labels, "", 200, started, 0)

    def _observe(self, labels: Labels, dry_run: str, code: int, started: datetime, size: int) -> None:
        series = self._series.get((labels, dry_run))
        if series is None:
            series = self._series[labels, dry_run] = _Series()
        series.codes[code] += 1
        series.durations.observe((now() - started).total_seconds())
        if size and labels[0] in _SIZED:
            series.sizes.observe(size)

    def collect_metrics(self) -> Iterator[MetricFamily]:
        """Return the metrics of the requests so far."""
        named = [
            (_named(labels), dry_run, series) for (labels, dry_run), series in sorted(self._series.items(), key=_first)
        ]
        yield counter(
            "apiserver_request_total",
            "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, "
            "scope, component, and HTTP response code.",
            *(
                ({"code": str(code), "dry_run": dry_run, **labels}, float(count))
                for labels, dry_run, series in named
                for code, count in sorted(series.codes.items())
            ),
        )
        yield histogram(
            "apiserver_request_duration_seconds",
            "[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, resource, "
            "subresource, scope and component.",
            *(({"dry_run": dry_run, **labels}, series.durations) for labels, dry_run, series in named),
        )
        yield histogram(
            "apiserver_response_sizes",
            "[STABLE] Response size distribution in bytes for each group, version, verb, resource, subresource, scope "
            "and component.",
            *((labels, series.sizes) for labels, _, series in named if any(series.sizes.counts)),
        )
        yield gauge(
            "apiserver_current_inflight_requests",
            "[STABLE] Maximal number of currently used inflight request limit of this apiserver per request kind in "
            "last second.",
            ({"request_kind": "mutating"}, self.running[True]),
            ({"request_kind": "readOnly"}, self.running[False]),
        )
        yield gauge(
            "apiserver_longrunning_requests",
            "[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, "
            "resource, scope and component. Not all requests are tracked this way.",
            *((_named(labels), float(count)) for labels, count in sorted(self._long_running.items())),
        )

    def health_metrics(self) -> Iterator[MetricFamily]:
        """Return the results of the health checks, and how often each was checked."""
        checks = sorted((name, kind) for kind, names in CHECKS.items() for name in names)
        checked = Counter[str]()
        for (labels, _), series in self._series.items():
            checked[labels[4].removeprefix("/")] += sum(series.codes.values())
        yield gauge(
            "kubernetes_healthcheck",
            "[STABLE] This metric records the result of a single healthcheck.",
            *(({"name": name, "type": kind}, 1) for name, kind in checks if checked[kind]),
        )
        yield counter(
            "kubernetes_healthchecks_total",
            "[STABLE] This metric records the results of all healthcheck.",
            *(
                ({"name": name, "status": "success", "type": kind}, checked[kind])
                for name, kind in checks
                if checked[kind]
            ),
        )


def _first(entry: tuple[tuple[Labels, str], _Series]) -> tuple[Labels, str]:
    return entry[0]


def _labels(method: str, target: RequestTarget, query: Mapping[str, str], content_type: str) -> Labels:
    """Return the labels of a request to a resource; their names are in `_NAMES`."""
    verb = _VERBS.get(target.verb(method, query), "other")
    if verb == "PATCH" and content_type.startswith("application/apply-patch"):
        verb = "APPLY"
    elif target.subresource in _CONNECTED:
        verb = "CONNECT"
    scope = "resource" if target.name or verb == "POST" else "namespace" if target.namespace else "cluster"
    return verb, target.group, target.version, target.resource, target.subresource, scope, "apiserver"


def _named(labels: Labels) -> dict[str, str]:
    return dict(zip(_NAMES, labels, strict=True))
