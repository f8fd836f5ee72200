"""Metrics of requests, under kube-apiserver's names.

A request costs one lookup and a few additions. Everything else is computed when the metrics are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Hashable, Iterator
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from pyctrl._clock import now
from pyctrl._metrics import Histogram, MetricFamily, counter, gauge, histogram
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

    __slots__ = ("codes", "dry_run", "durations", "labels", "long_running", "sizes")

    def __init__(self, labels: Labels, dry_run: str) -> None:
        self.labels, self.dry_run = labels, dry_run
        self.codes: dict[int, int] = {}
        self.durations = Histogram(_DURATIONS)
        self.sizes = Histogram(_SIZES)
        self.long_running = 0

    def observe(self, code: int, started: datetime, size: int) -> None:
        self.codes[code] = self.codes.get(code, 0) + 1
        self.durations.observe((now() - started).total_seconds())
        if size:
            self.sizes.observe(size)


class _InFlight:
    """The number of requests of one kind that are running. A block counts one, faster than a generator would."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def __enter__(self) -> None:
        self.count += 1

    def __exit__(self, *error: object) -> None:
        self.count -= 1


class RequestMetrics:
    """Metrics of the requests of a server: how many, how long, how large, and how many are running."""

    def __init__(self) -> None:
        self._series: dict[tuple[Labels, str], _Series] = {}
        self._by_key: dict[Hashable, _Series] = {}  # by what the labels follow from: faster than to compute them
        self._read_only, self._mutating = _InFlight(), _InFlight()

    def running(self, method: str) -> _InFlight:
        """Count a request as running during a block."""
        return self._read_only if method in ("GET", "HEAD") else self._mutating

    def completed(self, context: RequestContext, response: Response) -> Response:
        """Count a request to a resource or document that is served. A watch is counted when it ends."""
        key = _key(context)
        if key is None:
            return response
        series = self._by_key.get(key)
        if series is None:
            labels, dry_run = _labels(context), _dry_run(context)
            series = self._by_key[key] = self._series.setdefault((labels, dry_run), _Series(labels, dry_run))
        body = response.body
        if isinstance(body, bytes):
            series.observe(response.status, context.received, len(body) if context.method == "GET" else 0)
        elif isinstance(body, AsyncGenerator):
            return replace(response, body=_watched(series, context.received, body))
        return response

    def collect_metrics(self) -> Iterator[MetricFamily]:
        """Return the metrics of the requests so far."""
        every = sorted(self._series.values(), key=lambda each: (each.labels, each.dry_run))
        named = [(dict(zip(_NAMES, each.labels, strict=True)), each) for each in every]
        yield counter(
            "apiserver_request_total",
            "[STABLE] Counter of apiserver requests broken out for each verb, dry run value, group, version, resource, "
            "scope, component, and HTTP response code.",
            *(
                ({"code": str(code), "dry_run": series.dry_run, **labels}, float(count))
                for labels, series in named
                for code, count in sorted(series.codes.items())
            ),
        )
        yield histogram(
            "apiserver_request_duration_seconds",
            "[STABLE] Response latency distribution in seconds for each verb, dry run value, group, version, resource, "
            "subresource, scope and component.",
            *(({"dry_run": series.dry_run, **labels}, series.durations) for labels, series in named if series.codes),
        )
        yield histogram(
            "apiserver_response_sizes",
            "[STABLE] Response size distribution in bytes for each group, version, verb, resource, subresource, scope "
            "and component.",
            *((labels, series.sizes) for labels, series in named if any(series.sizes.counts)),
        )
        yield gauge(
            "apiserver_current_inflight_requests",
            "[STABLE] Maximal number of currently used inflight request limit of this apiserver per request kind in "
            "last second.",
            ({"request_kind": "mutating"}, self._mutating.count),
            ({"request_kind": "readOnly"}, self._read_only.count),
        )
        yield gauge(
            "apiserver_longrunning_requests",
            "[STABLE] Gauge of all active long-running apiserver requests broken out by verb, group, version, "
            "resource, scope and component. Not all requests are tracked this way.",
            *((labels, series.long_running) for labels, series in named if labels["verb"] == "WATCH"),
        )

    def health_metrics(self) -> Iterator[MetricFamily]:
        """Return the results of the health checks, and how often each was checked."""
        checks = sorted((name, kind) for kind, names in CHECKS.items() for name in names)
        checked = Counter[str]()
        for series in self._series.values():
            checked[series.labels[4].removeprefix("/")] += sum(series.codes.values())
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


async def _watched(
    series: _Series, started: datetime, body: AsyncGenerator[bytes, None]
) -> AsyncGenerator[bytes, None]:
    series.long_running += 1
    try:
        async with aclosing(body) as chunks:
            async for chunk in chunks:
                yield chunk
    finally:
        series.long_running -= 1
        series.observe(200, started, 0)


def _key(context: RequestContext) -> Hashable:
    """Return what the labels of a request follow from; None for a request that is not counted."""
    target, query = context.target, context.query.first
    if target is None:
        is_counted = context.path in _PATHS and context.method in ("GET", "HEAD", "POST")
        return (context.method, context.path) if is_counted else None
    if not context.is_routed:
        return None
    group, version, resource, namespace, name, subresource, is_watch, _ = target
    key = context.method, group, version, resource, subresource, namespace != "", name != "", is_watch
    if query:
        return *key, bool(context.query.flag("watch")), _dry_run(context), _is_apply(context)
    return key if context.method != "PATCH" else (*key, _is_apply(context))


def _dry_run(context: RequestContext) -> str:
    """Return the label; other values are refused, and would be without number."""
    return "All" if context.query.get("dryRun") == "All" else ""


def _is_apply(context: RequestContext) -> bool:
    return context.headers.get("content-type", "").startswith("application/apply-patch")


def _labels(context: RequestContext) -> Labels:
    target = context.target
    if target is None:
        return context.method, "", "", "", _PATHS[context.path], "", ""
    verb = _VERBS.get(target.verb(context.method, context.query.first), "other")
    if verb == "PATCH" and _is_apply(context):
        verb = "APPLY"
    elif target.subresource in _CONNECTED:
        verb = "CONNECT"
    scope = "resource" if target.name or verb == "POST" else "namespace" if target.namespace else "cluster"
    return verb, target.group, target.version, target.resource, target.subresource, scope, "apiserver"
