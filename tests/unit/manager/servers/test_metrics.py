"""The metrics of a manager, series by series in virtual time, and once over a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import aiohttp
import pytest
from prometheus_client import Gauge
from prometheus_client.openmetrics import parser as openmetrics

from pyctrl.api import Key
from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.controller import Builder
from pyctrl.errors import NotFound
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Manager
from tests.unit.manager._scrape import Moody, Scrape, config_map


@pytest.fixture
async def manager() -> Manager:
    return Manager(Config.in_process(ApiServer()))


async def test_requests_are_counted_as_client_go_counts_them(manager: Manager) -> None:
    """Requests are counted by code, method and host; durations and sizes by verb."""
    async with manager, manager.running():
        scrape = Scrape(manager)
        with pytest.raises(NotFound):
            await manager.live_client.get(ConfigMap, Key("default", "none"))
        host = {"host": scrape_host(manager)}
        assert scrape("rest_client_requests_total", code="404", method="GET", **host) == 1
        assert (scrape("rest_client_request_duration_seconds_count", verb="GET", **host) or 0) >= 1
        await manager.live_client.create(config_map("a"))
        assert scrape("rest_client_requests_total", code="201", method="POST", **host) == 1
        assert scrape("rest_client_request_size_bytes_bucket", verb="POST", le="64.0", **host) == 0
        assert scrape("rest_client_response_size_bytes_bucket", verb="POST", le="1024.0", **host) == 1


def scrape_host(manager: Manager) -> str:
    assert manager.config is not None
    return manager.config.server.partition("://")[2]


async def test_the_cache_tells_what_it_holds_and_how_old_it_is(manager: Manager) -> None:
    """Metrics of the cache per kind: objects, bytes, relists, age of the last event, and own writes without event."""
    labels = {"group": "", "version": "v1", "kind": "ConfigMap"}
    async with manager:
        manager.cache.informer(ConfigMap)
        scrape = Scrape(manager)
        async with manager.running():
            await manager.client.create(config_map("a"))
            assert scrape("pyctrl_cache_own_writes", **labels) in (0, 1)
            await asyncio.sleep(10)
            assert scrape("pyctrl_cache_objects", **labels) == 1
            assert (scrape("pyctrl_cache_bytes", **labels) or 0) > 100
            assert scrape("pyctrl_cache_synced", **labels) == 1
            assert scrape("pyctrl_cache_relists_total", **labels) == 0
            assert scrape("pyctrl_cache_own_writes", **labels) == 0
            assert scrape("pyctrl_cache_own_writes_lag_seconds", **labels) == 0
            assert (scrape("pyctrl_cache_last_event_age_seconds", **labels) or 0) >= 9


async def test_managers_of_one_process_do_not_mix() -> None:
    """Two managers with controllers of the same name have separate metrics."""
    config = Config.in_process(ApiServer())
    async with Manager(config) as one, Manager(config) as two:
        for each in (one, two):
            Builder(each).reconciles(ConfigMap).build(Moody())
        async with one.running():
            await asyncio.sleep(1)
            assert Scrape(one)("controller_runtime_reconcile_total", controller="configmap", result="success") == 0
            assert "controller_runtime_reconcile" not in Scrape(two).names()


@pytest.mark.real_time
async def test_prometheus_is_answered_over_http() -> None:
    """Prometheus gets text or OpenMetrics by its Accept header, with metrics of the process and of the user."""
    manager = Manager(Config.in_process(ApiServer()), metrics_bind_address="127.0.0.1:0")
    assert manager.metrics is not None
    Gauge("licences", "How many", registry=manager.metrics.registry).set(3)
    async with manager, manager.running(), aiohttp.ClientSession() as prometheus:
        url = f"http://127.0.0.1:{manager.metrics.server.port}"
        async with prometheus.get(f"{url}/metrics") as response:
            text = await response.text()
            assert response.headers["Content-Type"].startswith("text/plain; version=")
            assert "\nlicences 3.0\n" in text
            assert "\nprocess_resident_memory_bytes " in text
            assert "\n# TYPE rest_client_requests_total counter\n" in text
        headers: Mapping[str, str] = {"Accept": "application/openmetrics-text; version=1.0.0"}
        async with prometheus.get(f"{url}/metrics", headers=headers) as response:
            parse: Callable[[str], Iterable[Any]] = openmetrics.text_string_to_metric_families
            families = {family.name for family in parse(await response.text())}
            assert {"licences", "rest_client_requests", "pyctrl_ready"} <= families
        async with prometheus.get(url) as response:
            assert response.status == 404


@pytest.mark.parametrize("parameter", ["escaping=\udcff", "version=\udcff", "version=a.b", f"version={'9' * 5000}"])
async def test_whatever_is_accepted_is_answered(parameter: str) -> None:
    """An Accept header that is not text, or has an invalid version, gets the text format."""
    manager = Manager(Config.in_process(ApiServer()), metrics_bind_address="127.0.0.1:0")
    assert manager.metrics is not None
    async with manager:
        for version in ("version=1.0.0; ", ""):
            _, content_type = manager.metrics.text(f"application/openmetrics-text; {version}{parameter}")
            assert content_type.isascii()
