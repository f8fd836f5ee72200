"""Metrics of a manager as Prometheus reads them, and a reconciler with every outcome."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from pyctrl.api import ObjectMeta
from pyctrl.controller import Reconciler, Request, Result
from pyctrl.errors import TerminalError
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Manager
from pyctrl.manager._servers.bind_address import BindAddress
from pyctrl.manager._servers.metrics import Metrics


class Moody(Reconciler[ConfigMap]):
    """Has the outcome that the object's name asks for; a slow object is slow once."""

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


def config_map(name: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"))
