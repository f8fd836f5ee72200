"""Metrics of controllers and their queues."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from pyctrl.api import Key, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.controller import Builder, Reconciler, Request
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.manager import Manager
from tests.unit.manager._scrape import Moody, Scrape, config_map


@pytest.fixture
async def manager() -> Manager:
    return Manager(Config.in_process(ApiServer()))


async def test_reconciles_are_counted_by_how_they_end(manager: Manager) -> None:
    """Reconciles by result and errors by type have controller-runtime's series; all four results start at 0."""
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
    """The queue has client-go's metrics with both labels, and depth and waits by priority."""
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
            assert scrape("workqueue_adds_total", **labels) == 4  # a queued request is not added again
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
    """Priorities beyond 25 share one label, exceeded_cardinality_limit, as in client-go."""
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
    """A delayed run counts as an add when due and as a retry at once, as in controller-runtime."""
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
    """Reconciles are counted by cause, and those caused only by own writes are counted separately."""
    async with manager:
        Builder(manager).reconciles(ConfigMap).build(Moody())
        scrape = Scrape(manager)
        async with manager.running():
            await asyncio.sleep(1)
            await manager.client.create(config_map("writes"))  # also by this process, as in other tests
            await asyncio.sleep(1)

            def caused(cause: str) -> float | None:
                return scrape("pyctrl_reconcile_causes_total", controller="configmap", cause=cause)

            assert (caused("listed"), caused("created"), caused("updated"), caused("retry")) == (None, 1, 1, None)
            assert scrape("pyctrl_self_caused_reconciles_total", controller="configmap") == 2
            await manager.live_client.delete(ConfigMap, Key("default", "writes"))
            await asyncio.sleep(1)
            assert caused("deleted") == 1
            assert scrape("pyctrl_self_caused_reconciles_total", controller="configmap") == 2


class _ReadsSecrets(Reconciler[ConfigMap]):
    """Reads the Secret "shared" and one of its own."""

    reads = (Secret,)

    async def reconcile(self, request: Request) -> None:
        if await self.client.find(ConfigMap, request.key):
            for name in ("shared", request.name):
                await self.client.find(Secret, Key("default", name))


async def test_subscriptions_are_counted_by_kind(manager: Manager) -> None:
    """Subscriptions, what they are to, the largest of them, and the requests that they added, are series by kind."""
    labels = {"controller": "configmap", "group": "", "version": "v1", "kind": "Secret"}
    async with manager:
        Builder(manager).build(_ReadsSecrets())
        scrape = Scrape(manager)
        async with manager.running():
            for name in ("a", "b", "c"):
                await manager.client.create(config_map(name))
            await asyncio.sleep(1)

            def of(series: str) -> float | None:
                return scrape(f"pyctrl_controller_{series}", **labels)

            assert (of("subscriptions"), of("subscription_reads"), of("subscriptions_largest")) == (6, 4, 3)
            assert of("subscription_adds_total") == 0
            await manager.client.create(Secret(metadata=ObjectMeta(name="shared", namespace="default")))
            await asyncio.sleep(1)
            assert of("subscription_adds_total") == 3
            await manager.client.delete(config_map("b"))
            await asyncio.sleep(1)
            assert (of("subscriptions"), of("subscription_reads"), of("subscriptions_largest")) == (4, 3, 2)


async def test_a_controller_that_declares_no_reads_has_no_series_of_subscriptions(manager: Manager) -> None:
    """The series of subscriptions are absent for a controller without reads."""
    async with manager:
        Builder(manager).build(Moody())
        async with manager.running():
            await asyncio.sleep(1)
            assert not [name for name in Scrape(manager).names() if "subscription" in name]
