"""Metrics without a Prometheus library: histograms, families, webhooks."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl._metrics import WebhookMetrics
from pyctrl.apiserver import ApiServer
from pyctrl.client import Config
from pyctrl.manager import Group, Manager
from tests.unit.manager._scrape import Scrape


@pytest.fixture
async def manager() -> Manager:
    return Manager(Config.in_process(ApiServer()))


async def test_webhooks_tell_under_controller_runtimes_names(manager: Manager) -> None:
    """A runnable with metrics, such as a webhook server, adds them to those of its manager."""
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
