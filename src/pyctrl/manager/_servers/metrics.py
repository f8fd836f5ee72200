"""Metrics of a manager in Prometheus format: a registry collected on each scrape, and its server."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from pyctrl._metrics import Histogram, MetricFamily, Sample
from pyctrl.client import Client
from pyctrl.errors import ManagerError
from pyctrl.manager._servers.bind_address import BindAddress
from pyctrl.manager._servers.http_server import HttpServer
from pyctrl.manager._servers.metrics_authorization import SCRAPE_RBAC, ScrapeGuard

if TYPE_CHECKING:
    from aiohttp.web_request import BaseRequest
    from aiohttp.web_response import Response
    from prometheus_client import CollectorRegistry
    from prometheus_client.metrics_core import Metric

    from pyctrl.webhook import ServingCertificate

__all__ = ["Metrics"]

log = logging.getLogger("pyctrl.manager")


class Metrics:
    """The metrics of one manager: its Prometheus registry, to which you may add your own, and the metrics server.

    Args:
        collect_metrics: returns the metrics of all runnables.
        address: the address to serve them on.
        certificates: the directory of tls.crt and tls.key. With it they are served over TLS, and only for bearer tokens
            that the API server authenticates and authorizes to ``get`` the path ``/metrics``. Without it, to all.
        client: returns the client for these reviews.

    Raises:
        ManagerError: prometheus_client is not installed.
    """

    def __init__(
        self,
        collect_metrics: Callable[[], Iterable[MetricFamily]],
        address: BindAddress,
        *,
        certificates: Path | str | None = None,
        client: Callable[[], Client] | None = None,
    ) -> None:
        _need_prometheus()
        from prometheus_client import GC_COLLECTOR, PLATFORM_COLLECTOR, PROCESS_COLLECTOR, CollectorRegistry

        #: The server of ``/metrics``; its port is known once it listens.
        self.server: HttpServer = _MetricsServer(
            "metrics",
            address,
            self._respond,
            option="metrics_bind_address",
            certificate=_certificate(Path(certificates)) if certificates is not None else None,
            rbac=SCRAPE_RBAC if certificates is not None else (),
        )
        self._guard = ScrapeGuard(client) if certificates is not None and client is not None else None
        self.registry: CollectorRegistry = CollectorRegistry()
        self.registry.register(_Collector(collect_metrics))
        for collector in (PROCESS_COLLECTOR, PLATFORM_COLLECTOR, GC_COLLECTOR):  # process-wide, in each registry
            self.registry.register(collector)

    def text(self, accept: str = "") -> tuple[bytes, str]:
        """Return all series and their content type: OpenMetrics if accepted, else the Prometheus text format."""
        from prometheus_client.exposition import choose_encoder

        try:
            encode, content_type = choose_encoder(accept)
            content_type.encode()  # it contains parts of the Accept header unchanged
        except (TypeError, ValueError):  # the header has an invalid version or bytes that are not text
            encode, content_type = choose_encoder("")
        return encode(self.registry), content_type

    async def _respond(self, request: BaseRequest) -> Response:
        from aiohttp.web_response import Response  # here: see HttpServer

        if request.path.rstrip("/") != "/metrics":
            return Response(status=404, text="not found; the path is /metrics\n")
        if self._guard is not None:
            refusal = await self._guard.refusal(request.headers.get("Authorization", ""), "/metrics")
            if refusal is not None:
                return Response(status=refusal[0], text=refusal[1])
        body, content_type = self.text(request.headers.get("Accept", ""))
        return Response(body=body, headers={"Content-Type": content_type})


class _MetricsServer(HttpServer):
    def _log_start(self) -> None:
        facts = {"bindAddress": str(self.address), "secure": self.certificate is not None, "port": self.port}
        log.info("Serving metrics server", extra=facts)


def _certificate(directory: Path) -> ServingCertificate:
    from pyctrl.webhook import ServingCertificate  # here: only needed with TLS

    return ServingCertificate(directory / "tls.crt", directory / "tls.key", owner="the metrics server")


class _Collector:
    """Converts metric families for prometheus_client; families of one name become one."""

    def __init__(self, collect_metrics: Callable[[], Iterable[MetricFamily]]) -> None:
        self._collect_metrics = collect_metrics

    def collect(self) -> Iterable[Metric]:
        from prometheus_client.metrics_core import Metric

        metrics: dict[str, Metric] = {}
        for family in self._collect_metrics():
            name = family.name.removesuffix("_total") if family.kind == "counter" else family.name
            metric = metrics.get(name)
            if metric is None:
                metric = metrics[name] = Metric(name, family.meaning, family.kind)
            for sample in family.samples:
                _add(metric, family.name, sample)
        return metrics.values()


def _add(metric: Metric, name: str, sample: Sample) -> None:
    labels, value = dict(sample[0]), sample[1]
    if isinstance(value, Histogram):
        _add_histogram(metric, name, labels, value)
    else:
        metric.add_sample(name, labels, float(value))


def _add_histogram(metric: Metric, name: str, labels: Mapping[str, str], value: Histogram) -> None:
    from prometheus_client.utils import floatToGoString

    format_bound: Callable[[float], str] = floatToGoString  # has no annotations
    count = 0
    for bound, more in zip((*value.bounds, float("inf")), value.counts, strict=True):
        count += more
        metric.add_sample(f"{name}_bucket", {**labels, "le": format_bound(bound)}, count)
    metric.add_sample(f"{name}_count", dict(labels), count)
    metric.add_sample(f"{name}_sum", dict(labels), value.total)


def _need_prometheus() -> None:
    try:
        import_module("prometheus_client")
    except ModuleNotFoundError as error:
        raise ManagerError(
            "metrics_bind_address needs prometheus_client: run pip install 'pyctrl-runtime[metrics]', or set '0'"
        ) from error
