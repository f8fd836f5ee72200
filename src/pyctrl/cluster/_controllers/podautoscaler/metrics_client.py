"""Client of the metrics APIs: resource metrics, custom metrics and external metrics.

Extension API servers serve them, such as metrics-server and the adapters of Prometheus and KEDA. The requests and the
texts of errors are those of upstream's clients (k8s.io/metrics/pkg/client, pkg/controller/podautoscaler/metrics).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple, TypeVar

import msgspec

from pyctrl._go.server_errors import generic_server_message
from pyctrl.api import GroupVersionKind, LabelSelector, Quantity, parse_duration
from pyctrl.client import Client, HttpRequest, HttpResponse
from pyctrl.errors import PyctrlError
from pyctrl.kinds.autoscaling.v2 import CrossVersionObjectReference

__all__ = ["MetricsClient", "MetricsError", "PodMetric"]

T = TypeVar("T")

_CUSTOM = "custom.metrics.k8s.io"
_CUSTOM_VERSIONS = ("v1beta2", "v1beta1")  # that the client reads (MetricVersions)
_DEFAULT_WINDOW = timedelta(minutes=1)  # of custom metrics (metricServerDefaultMetricWindow)
_ALL_OBJECTS = "*"


class MetricsError(Exception):
    """Raised when there is no value of a metric, or no number of replicas follows from it; the text is upstream's."""


class PodMetric(NamedTuple):
    """The value of a metric for one pod, in thousandths, and the period in which it was measured."""

    value: int
    timestamp: datetime
    window: timedelta


class MetricsClient:
    """Reads metrics through the API server. Values are in thousandths; each method raises `MetricsError`."""

    def __init__(self, live: Client) -> None:
        self._live = live

    async def resource_metric(
        self, resource: str, namespace: str, selector: LabelSelector, container: str
    ) -> dict[str, PodMetric]:
        """Return the usage of a resource by the pods that a selector matches, or by one container of each."""
        path = f"/apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods"
        try:
            query = {"labelSelector": str(selector)}
            read = partial(_pod_usage, resource=resource, container=container)
            items = await self._items(path, "pods.metrics.k8s.io", query, read)
        except MetricsError as error:
            raise MetricsError(f"unable to fetch metrics from resource metrics API: {error}") from None
        if not items:
            raise MetricsError("no metrics returned from resource metrics API")
        return {name: metric for name, metric in items if metric is not None}

    async def pods_metric(
        self, metric: str, namespace: str, selector: LabelSelector, metric_selector: LabelSelector | None
    ) -> dict[str, PodMetric]:
        """Return the custom metric of the pods that a selector matches."""
        try:
            path, resource = await self._custom_path(GroupVersionKind("", "v1", "Pod"), namespace, _ALL_OBJECTS, metric)
            query = {"labelSelector": str(selector), "metricLabelSelector": _text(metric_selector)}
            items = await self._items(path, f"{resource} {_ALL_OBJECTS}", query, _value_of_object)
        except MetricsError as error:
            raise MetricsError(f"unable to fetch metrics from custom metrics API: {error}") from None
        if not items:
            raise MetricsError("no metrics returned from custom metrics API")
        return dict(items)

    async def object_metric(
        self,
        metric: str,
        namespace: str,
        described: CrossVersionObjectReference,
        metric_selector: LabelSelector | None,
    ) -> int:
        """Return the custom metric of an object, or of the namespace itself."""
        kind = GroupVersionKind.parse(described.api_version or "v1", described.kind)
        try:
            path, resource = await self._custom_path(kind, namespace, described.name, metric)
            query = {"metricLabelSelector": _text(metric_selector)}
            items = await self._items(path, f"{resource} {described.name}", query, _custom_value)
            if len(items) != 1:
                text = f"the custom metrics API server returned {len(items)} results when we asked for exactly one"
                raise MetricsError(text)
        except MetricsError as error:
            raise MetricsError(f"unable to fetch metrics from custom metrics API: {error}") from None
        return items[0].value

    async def external_metric(self, metric: str, namespace: str, selector: LabelSelector | None) -> list[int]:
        """Return all values of an external metric that a selector matches."""
        path = f"/apis/external.metrics.k8s.io/v1beta1/namespaces/{namespace}/{metric}"
        try:
            query = {"labelSelector": _text(selector)}
            items = await self._items(path, f"{metric}.external.metrics.k8s.io", query, _value)
        except MetricsError as error:
            raise MetricsError(f"unable to fetch metrics from external metrics API: {error}") from None
        if not items:
            raise MetricsError("no metrics returned from external metrics API")
        return items

    async def _custom_path(self, kind: GroupVersionKind, namespace: str, name: str, metric: str) -> tuple[str, str]:
        """Return the path of a custom metric, and the resource that errors name."""
        root = f"/apis/{_CUSTOM}/{await self._custom_version()}/namespaces/{namespace}"
        if (kind.group, kind.kind) == ("", "Namespace"):
            return f"{root}/metrics/{metric}", f"metrics.{_CUSTOM}"
        mappings = await self._live.discovery.mappings()
        found = [each for each in mappings if (each.gvk.group, each.gvk.kind) == (kind.group, kind.kind)]
        if not found:
            no_match = f'no matches for kind "{kind.kind}" in group "{kind.group}"'
            text = f"{kind.kind}.{kind.group}" if kind.group else kind.kind
            raise MetricsError(f"unable to map kind {text} to resource: {no_match}")
        plural = f"{found[0].plural}.{kind.group}" if kind.group else found[0].plural
        return f"{root}/{plural}/{name}/{metric}", f"{plural}.{_CUSTOM}"

    async def _custom_version(self) -> str:
        """Return the served version of the custom metrics API: its preferred one, if the client reads it."""
        response = await self._get(f"/apis/{_CUSTOM}", {})
        group = _decode(response.body) if response.status == 200 else {}
        versions: list[str] = [
            each["version"] for each in (group.get("preferredVersion"), *group.get("versions", ())) if each
        ]
        known = [each for each in versions if each in _CUSTOM_VERSIONS]
        if not versions:
            raise MetricsError(f"no custom metrics API ({_CUSTOM}) registered")
        if not known:
            raise MetricsError("no known available metric versions found")
        return known[0]

    async def _items(
        self, path: str, what: str, query: Mapping[str, str], read: Callable[[Mapping[str, Any]], T]
    ) -> list[T]:
        """Return what a function reads of each item of a response."""
        response = await self._get(path, query)
        document = _decode(response.body)
        if response.status >= 300:
            raise MetricsError(_failure(response, document, what))
        try:
            return [read(each) for each in document.get("items") or ()]
        except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
            raise MetricsError(f"the server sent an item of another form: {error!r} (get {what})") from error

    async def _get(self, path: str, query: Mapping[str, str]) -> HttpResponse:
        pairs = tuple((name, value) for name, value in query.items() if value)
        headers = {"Accept": "application/json"}
        try:
            return await self._live.transport.request(
                HttpRequest(method="GET", path=path, query=pairs, headers=headers)
            )
        except PyctrlError as error:
            raise MetricsError(str(error)) from error


def _pod_usage(pod: Mapping[str, Any], *, resource: str, container: str) -> tuple[str, PodMetric | None]:
    """Return the name and the usage of a pod; None if a container that counts has no value."""
    name: str = pod["metadata"]["name"]
    counted = [each for each in pod.get("containers") or () if container in ("", each["name"])]
    values = [each.get("usage", {}).get(resource) for each in counted]
    if not values or None in values:
        return name, None
    total = sum(_milli(each) for each in values)
    return name, PodMetric(total, datetime.fromisoformat(pod["timestamp"]), parse_duration(pod["window"]))


def _value_of_object(metric: Mapping[str, Any]) -> tuple[str, PodMetric]:
    return metric["describedObject"]["name"], _custom_value(metric)


def _custom_value(metric: Mapping[str, Any]) -> PodMetric:
    seconds = metric.get("windowSeconds", metric.get("window"))  # of v1beta2, of v1beta1
    window = _DEFAULT_WINDOW if seconds is None else timedelta(seconds=seconds)
    return PodMetric(_value(metric), datetime.fromisoformat(metric["timestamp"]), window)


def _value(metric: Mapping[str, Any]) -> int:
    return _milli(metric["value"])


def _milli(quantity: str | float) -> int:
    return Quantity(quantity).as_int("m")


def _text(selector: LabelSelector | None) -> str:
    """Return a selector as a query has it; one that the autoscaler does not set is left out."""
    return "" if selector is None else str(selector)


def _decode(body: bytes) -> Mapping[str, Any]:
    try:
        document = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {}
    return document if isinstance(document, dict) else {}


def _failure(response: HttpResponse, document: Mapping[str, Any], what: str) -> str:
    """Return the message of a failed response, as client-go has it."""
    if document.get("kind") == "Status":
        return str(document.get("message") or "unknown")
    text = response.body.decode("utf-8", "replace").strip()
    return f"{generic_server_message(response.status, text)} (get {what})"
