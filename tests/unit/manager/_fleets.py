"""Managers with a fleet in one virtual loop: clusters join and leave over separate networks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any

from pyctrl.api import Key, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.client import Client, Config, Transport
from pyctrl.controller import Reconciler, Request
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Fleet, InMemoryProvider, Manager
from pyctrl.testing import ConnectionRefused, FaultyTransport, Rule

A = Key("default", "a")


def config_map(name: str, text: str = "", **labels: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default", labels=labels), data={"text": text})


class Log:
    """The requests that the reconcilers of all clusters have handled, in order."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str | None]] = []
        self.reconcilers: list[Noter] = []

    def noter(self) -> Noter:
        return Noter(self)


class Noter(Reconciler[ConfigMap]):
    """A reconciler of one cluster that records each request with the object that it reads."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.log.reconcilers.append(self)

    async def reconcile(self, request: Request) -> None:
        found = await self.client.find(ConfigMap, request.key)
        self.log.lines.append((str(request), found.data["text"] if found is not None else None))


class Away:
    """A server of a fleet, and the network to that server."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.server = ApiServer()
        self.networks: list[FaultyTransport] = []
        self.config = self.login()

    def login(self) -> Config:
        """Return a login that differs from all previous ones."""

        def wrap(inner: Transport) -> Transport:
            self.networks.append(FaultyTransport(inner))
            return self.networks[-1]

        return replace(Config.in_process(self.server), wrap_transport=wrap)

    @property
    def network(self) -> FaultyTransport:
        return self.networks[-1]

    async def create(self, obj: Any) -> Any:
        async with Client.connect(Config.in_process(self.server)) as client:
            return await client.create(obj)

    async def get(self, key: Key) -> ConfigMap:
        async with Client.connect(Config.in_process(self.server)) as client:
            return await client.get(ConfigMap, key)

    def cut(self) -> None:
        """Block all traffic, including open watches."""
        self.network.add(Rule(ConnectionRefused(), times=None))


class World:
    """A manager with a fleet whose clusters are added in code."""

    def __init__(self, home: Client, manager: Manager) -> None:
        self.home, self.manager = home, manager
        self.provider = InMemoryProvider()
        self.fleet: Fleet = manager.add_fleet("edge", self.provider)
        self.log = Log()

    def add(self, *clusters: Away) -> None:
        for each in clusters:
            self.provider.add(each.name, each.config)


@asynccontextmanager
async def world(**options: Any) -> AsyncIterator[World]:
    config = Config.in_process(ApiServer())
    async with Client.connect(config) as home, Manager(config, **options) as manager:
        yield World(home, manager)


@contextmanager
def logged() -> Iterator[list[logging.LogRecord]]:
    """Collect pyctrl's log lines of level info and above."""
    records: list[logging.LogRecord] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record)

    logger, handler = logging.getLogger("pyctrl"), Keep(logging.INFO)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield records
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)


def texts(records: Sequence[logging.LogRecord], message: str) -> list[Mapping[str, Any]]:
    return [vars(record) for record in records if record.getMessage() == message]


async def settle(seconds: float = 5) -> None:
    await asyncio.sleep(seconds)
