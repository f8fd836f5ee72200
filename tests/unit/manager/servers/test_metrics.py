"""What a manager tells Prometheus: series by series in virtual time, and once over a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from typing import Any

import aiohttp
import pytest
from prometheus_client import Gauge
from prometheus_client.openmetrics import parser as openmetrics

from pyctrl._metrics import WebhookMetrics
from pyctrl.api import Key, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.controller import Builder, Reconciler, Request, Result
from pyctrl.errors import NotFound, TerminalError
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Group, LeaderElection, Manager
from pyctrl.manager._servers.bind_address import BindAddress
from pyctrl.manager._servers.metrics import Metrics


def config_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))


class Moody(Reconciler[ConfigMap]):
    """Does what the name of the object says; what is slow is so once."""

    def __init__(self) -> None:
        self.was_slow = False

    async def reconcile(self, request: Request) -> Result | None:
        await asyncio.sleep(0.2)
        match request.name:
            case "fails":
                raise ValueError
            case "gives-up":
                raise TerminalError("no use")
            case "again":
                return Result(requeue_after=timedelta(hours=1))
            case "slow" if not self.was_slow:
                self.was_slow = True
                await asyncio.sleep(100)
            case "writes":
                found = await self.client.get(ConfigMap, request.key)
                if not found.data:
                    found.data = {"written": "once"}
                    await self.client.update(found)
        return None


class Scrape:
    """Reads series as Prometheus would."""

    def __init__(self, manager: Manager) -> None:
        self._metrics = Metrics(manager.collect_metrics, BindAddress(None, 0))

    def __call__(self, series: str, /, **labels: str) -> float | None:
        return self._metrics.registry.get_sample_value(series, labels)

    def names(self) -> set[str]:
        return {family.name for family in self._metrics.registry.collect()}


@pytest.fixture
async def manager() -> Manager:
    return Manager(Config.in_process(ApiServer()))


async def test_reconciles_are_counted_by_how_they_end(manager: Manager) -> None:
    """controller-runtime's series with its labels: all four results from the start, and errors of each kind."""
    async with manager:
        options = Builder(manager).reconciles(ConfigMap).options(reconcile_timeout=timedelta(seconds=50))
        options.build(Moody())
        scrape = Scrape(manager)
        assert scrape("controller_runtime_reconcile_total", controller="configmap", result="success") is None
        async with manager.running():
            assert scrape("controller_runtime_reconcile_total", controller="configmap", result="requeue") == 0
            for name in ("well", "again", "gives-up", "slow"):
                await manager.client.create(config_map(name))
            await asyncio.sleep(60)

            def of(series: str, **labels: str) -> float | None:
                return scrape(f"controller_runtime_{series}", controller="configmap", **labels)

            assert of("reconcile_total", result="success") == 2
            assert of("reconcile_total", result="requeue_after") == 1
            assert of("reconcile_total", result="error") == of("reconcile_errors_total") == 2
            assert of("terminal_reconcile_errors_total") == of("reconcile_timeouts_total") == 1
            assert of("reconcile_panics_total") == 0
            assert of("max_concurrent_reconciles") == 1
            assert of("reconcile_time_seconds_bucket", le="0.25") == 4
            assert of("reconcile_time_seconds_bucket", le="60.0") == of("reconcile_time_seconds_count") == 5


async def test_the_queue_tells_how_long_it_is_and_how_long_one_waits(manager: Manager) -> None:
    """client-go's series of workqueues, with both labels; depth and waits by priority as well."""
    labels = {"name": "configmap", "controller": "configmap"}
    async with manager:
        controller = Builder(manager).reconciles(ConfigMap).build(Moody())
        scrape = Scrape(manager)
        async with manager.running():
            await asyncio.sleep(1)
            for number in range(3):
                controller.enqueue(Request("default", f"a{number}"), priority=-7)
            controller.enqueue(Request("default", "a0"), priority=-7)
            controller.enqueue(Request("default", "slow"))
            await asyncio.sleep(50)
            assert scrape("workqueue_depth", priority="-7", **labels) == 3
            assert scrape("workqueue_depth", priority="0", **labels) == 0
            assert scrape("workqueue_adds_total", **labels) == 4  # what is in line already is not added again
            assert scrape("workqueue_longest_running_processor_seconds", **labels) == 50
            assert scrape("workqueue_unfinished_work_seconds", **labels) == 50
            await asyncio.sleep(60)
            assert scrape("workqueue_depth", priority="-7", **labels) == 0
            assert scrape("workqueue_queue_duration_seconds_count", **labels) == 4
            assert scrape("workqueue_work_duration_seconds_sum", **labels) == pytest.approx(100.8)
            assert scrape("workqueue_work_duration_seconds_bucket", le="1.0", **labels) == 3
            assert scrape("pyctrl_workqueue_wait_seconds_bucket", priority="-7", le="100.0", **labels) == 0
            assert scrape("pyctrl_workqueue_wait_seconds_bucket", priority="-7", le="1000.0", **labels) == 3
            assert scrape("workqueue_retries_total", **labels) == 0


async def test_beyond_25_priorities_the_rest_is_one(manager: Manager) -> None:
    """Who makes priorities of data does not fill Prometheus: the label of the others is client-go's."""
    async with manager:
        controller = Builder(manager).reconciles(ConfigMap).build(Moody())
        async with manager.running():
            await asyncio.sleep(1)
            controller.enqueue(Request("default", "slow"))
            await asyncio.sleep(1)
            for priority in range(40):
                controller.enqueue(Request("default", f"a{priority}"), priority=priority)
            [depths] = [family.samples for family in manager.collect_metrics() if family.name == "workqueue_depth"]
            await asyncio.sleep(100)

        shown = {labels["priority"]: value for labels, value in depths if isinstance(value, float)}
        rest = shown.pop("exceeded_cardinality_limit")
        assert (len(shown), sum(shown.values()) + rest) == (25, 40)


async def test_a_later_run_is_an_add_when_it_is_due_and_a_retry_at_once(manager: Manager) -> None:
    """So is each delayed add, as in controller-runtime's queue."""
    labels = {"name": "configmap", "controller": "configmap"}
    async with manager:
        Builder(manager).reconciles(ConfigMap).build(Moody())
        scrape = Scrape(manager)
        async with manager.running():
            await manager.client.create(config_map("again"))
            await asyncio.sleep(60)
            assert (scrape("workqueue_adds_total", **labels), scrape("workqueue_retries_total", **labels)) == (1, 1)
            await asyncio.sleep(3600)
            assert (scrape("workqueue_adds_total", **labels), scrape("workqueue_retries_total", **labels)) == (2, 2)


async def test_causes_are_counted_and_ones_own_writes_among_them(manager: Manager) -> None:
    """Why reconciles run, and how many of them only because of what this process has written itself."""
    async with manager:
        Builder(manager).reconciles(ConfigMap).build(Moody())
        scrape = Scrape(manager)
        async with manager.running():
            await asyncio.sleep(1)
            await manager.client.create(config_map("writes"))  # by this process too, as tests and other parts do
            await asyncio.sleep(1)

            def caused(cause: str) -> float | None:
                return scrape("pyctrl_reconcile_causes_total", controller="configmap", cause=cause)

            assert (caused("listed"), caused("created"), caused("updated"), caused("retry")) == (None, 1, 1, None)
            assert scrape("pyctrl_self_caused_reconciles_total", controller="configmap") == 2
            await manager.live_client.delete(ConfigMap, Key("default", "writes"))
            await asyncio.sleep(1)
            assert caused("deleted") == 1
            assert scrape("pyctrl_self_caused_reconciles_total", controller="configmap") == 2


async def test_requests_are_counted_as_client_go_counts_them(manager: Manager) -> None:
    """By code, method and host; how long they took and how large they were, by verb."""
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
    """Objects, bytes, relists and the age of the last event, by kind; own writes leave when they have come back."""
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


async def test_the_leader_is_told_of() -> None:
    """0 before, 1 while it leads, by the name of the election."""
    config = Config.in_process(ApiServer())
    async with Manager(config, leader_election=LeaderElection(name="op")) as manager:
        scrape = Scrape(manager)
        assert scrape("leader_election_master_status", name="op") == 0
        async with manager.running():
            await asyncio.sleep(5)
            assert scrape("leader_election_master_status", name="op") == 1
            assert (scrape("pyctrl_leader_election_renewal_age_seconds", name="op") or 0) < 2.5


async def test_webhooks_tell_under_controller_runtimes_names(manager: Manager) -> None:
    """A runnable that measures itself is part of its manager's metrics, such as a server of webhooks."""
    meter = WebhookMetrics()

    class Server:
        collect_metrics = meter.collect_metrics

        async def run(self) -> None:
            await asyncio.Event().wait()

    def of(scrape: Scrape, name: str, **labels: str) -> float | None:
        return scrape(f"controller_runtime_webhook_{name}", webhook="/mutate", **labels)

    async with manager:
        meter.register("/mutate")
        manager.add(Server(), group=Group.WEBHOOKS)
        async with manager.running():
            scrape = Scrape(manager)
            assert of(scrape, "requests_total", code="500") == 0
            with meter.request("/mutate") as answer:
                await asyncio.sleep(0.5)
                assert of(scrape, "requests_in_flight") == 1
                answer(200)
            with pytest.raises(ValueError), meter.request("/mutate"):  # noqa: PT011 - any
                raise ValueError
            meter.failed()
            assert of(scrape, "requests_total", code="200") == of(scrape, "requests_total", code="500") == 1
            assert of(scrape, "requests_in_flight") == 0
            assert of(scrape, "latency_seconds_bucket", le="0.1") == 1
            assert of(scrape, "latency_seconds_bucket", le="1.0") == 2
            assert scrape("controller_runtime_webhook_panics_total") == 1


async def test_who_is_not_ready_is_named(manager: Manager) -> None:
    """The same names as in /readyz, and the state of each controller."""
    async with manager:
        Builder(manager).reconciles(ConfigMap).build(Moody())
        scrape = Scrape(manager)
        assert (scrape("pyctrl_ready"), scrape("pyctrl_ready_check", check="manager")) == (0, 0)
        assert scrape("pyctrl_controller_state", controller="configmap", state="not_started") == 1
        async with manager.running():
            await asyncio.sleep(1)
            assert (scrape("pyctrl_ready"), scrape("pyctrl_ready_check", check="manager")) == (1, 1)
            assert scrape("pyctrl_controller_ready", controller="configmap") == 1
            assert scrape("pyctrl_controller_state", controller="configmap", state="running") == 1


async def test_managers_of_one_process_do_not_mix() -> None:
    """Each has a registry of its own: two may have controllers of one name."""
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
    """Text or OpenMetrics, as it asks; with the process, and with series of one's own."""
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
    """An Accept header that is no text, or whose version is no number, gets the text format."""
    manager = Manager(Config.in_process(ApiServer()), metrics_bind_address="127.0.0.1:0")
    assert manager.metrics is not None
    async with manager:
        for version in ("version=1.0.0; ", ""):
            _, content_type = manager.metrics.text(f"application/openmetrics-text; {version}{parameter}")
            assert content_type.isascii()
