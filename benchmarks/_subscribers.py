"""A controller of ConfigMaps, each of which names three Secrets that it reads: two of its own, and a shared one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from enum import Enum
from functools import partial
from random import Random

from pyctrl.api import Key
from pyctrl.cache import Cache, CachedClient
from pyctrl.client import Client, Config, EventRecorder, EventWriter
from pyctrl.controller import Builder, Controller, ObjectChange, Reconciler, Request, mapped, on_update, reading
from pyctrl.kinds.core.v1 import ConfigMap, Secret

OWN = 2  # Secrets that one request reads alone
READS = OWN + 1
SHARED = 10  # Secrets of which each request reads one
NAMESPACES = 50
VERBS = ["get", "list", "watch"]
DISCOVERY: dict[str, dict[str, object]] = {
    "/api": {"kind": "APIVersions", "versions": ["v1"]},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
    "/api/v1": {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": "v1",
        "resources": [
            {"name": f"{kind.lower()}s", "singularName": kind.lower(), "namespaced": True, "kind": kind, "verbs": VERBS}
            for kind in ("ConfigMap", "Secret")
        ],
    },
}
LISTED_END = b'"annotations":{"k8s.io/initial-events-end":"true"},'


def place_of(number: int) -> Key:
    """Return the key of a ConfigMap."""
    return Key(f"team-{number % NAMESPACES}", f"application-{number:06}")


def own_secret(number: int, which: int) -> Key:
    """Return the key of a Secret that one ConfigMap names."""
    return Key(place_of(number).namespace, f"application-{number:06}-credentials-{which}")


def shared_secret(number: int) -> Key:
    """Return the key of a Secret that many ConfigMaps name."""
    return Key("shared", f"certificate-authority-{number % SHARED}")


@dataclass
class _Answer:
    status: int
    body: bytes | AsyncIterator[bytes]
    headers: Sequence[tuple[str, str]] = (("content-type", "application/json"),)


@dataclass
class Server:
    """Streams lists and events of both kinds. It makes each object when it is read, so it keeps none."""

    requests: int
    version: int = 1000
    chunks: asyncio.Queue[bytes] = field(default_factory=asyncio.Queue)  # of the watch of Secrets

    async def handle(
        self, method: str, path: str, query: Sequence[tuple[str, str]], headers: Mapping[str, str], body: bytes
    ) -> _Answer:
        """Answer the watch of a kind, and discovery."""
        if path in DISCOVERY:
            return _Answer(200, json.dumps(DISCOVERY[path]).encode())
        if ("sendInitialEvents", "true") not in query:
            return _Answer(404, b"{}")
        return _Answer(200, self._secrets() if path.endswith("secrets") else self._config_maps())

    async def _config_maps(self) -> AsyncIterator[bytes]:
        for number in range(self.requests):
            names = [own_secret(number, which).name for which in range(OWN)]
            data = b'"first":"%s","second":"%s","shared":"%s"' % (
                *map(str.encode, names),
                shared_secret(number).name.encode(),
            )
            yield self._event("ADDED", "ConfigMap", place_of(number), b'"data":{%s}' % data)
        yield self._listed("ConfigMap")
        await asyncio.get_running_loop().create_future()

    async def _secrets(self) -> AsyncIterator[bytes]:
        for key in self.secrets():
            yield self._event("ADDED", "Secret", key, b'"data":{"password":"c2VjcmV0"}')
        yield self._listed("Secret")
        while True:
            yield await self.chunks.get()

    def secrets(self) -> Iterable[Key]:
        """Yield the keys of all Secrets."""
        for number in range(self.requests):
            yield from (own_secret(number, which) for which in range(OWN))
        yield from map(shared_secret, range(SHARED))

    def change(self, keys: Iterable[Key]) -> None:
        """Send an event for each of these Secrets, all in one chunk."""
        body = b'"data":{"password":"b3RoZXI="}'
        self.chunks.put_nowait(b"".join(self._event("MODIFIED", "Secret", key, body) for key in keys))

    def _event(self, verb: str, kind: str, key: Key, body: bytes) -> bytes:
        self.version += 1
        where = b'"name":"%s","namespace":"%s"' % (key.name.encode(), key.namespace.encode())
        metadata = b'%s,"uid":"%s/%s","resourceVersion":"%d"' % (
            where, kind.encode(), str(key).encode(), self.version
        )  # fmt: skip
        head = b'"apiVersion":"v1","kind":"%s","metadata":{%s}' % (kind.encode(), metadata)
        return b'{"type":"%s","object":{%s,%s}}\n' % (verb.encode(), head, body)

    def _listed(self, kind: str) -> bytes:
        metadata = b'%s"resourceVersion":"%d"' % (LISTED_END, self.version)
        return b'{"type":"BOOKMARK","object":{"apiVersion":"v1","kind":"%s","metadata":{%s}}}\n' % (
            kind.encode(),
            metadata,
        )


class Applications(Reconciler[ConfigMap]):
    """Reads a ConfigMap and the Secrets that it names. While `gate` is closed, runs wait before they read."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.runs = 0

    async def reconcile(self, request: Request) -> None:
        """Read the objects."""
        await self.gate.wait()
        application = await self.client.get(ConfigMap, request.key)
        for name in ("first", "second"):
            await self.client.get(Secret, Key(request.namespace, application.data[name]))
        await self.client.get(Secret, Key("shared", application.data["shared"]))
        self.runs += 1


class _Host:
    """A cluster for one controller, without the reviews of permissions of a manager."""

    def __init__(self, server: Server) -> None:
        self.live_client = Client.connect(Config.in_process(server))
        self.random = Random(1)
        self.cache = Cache(self.live_client, random=self.random)
        self.cache.is_direct = True
        self.client = CachedClient(self.cache, self.live_client)
        self.controller_names: set[str] = set()

    def add(self, runnable: Controller, /) -> None:
        self.controller_names.add(runnable.name)

    def event_recorder(self, name: str, /) -> EventRecorder:
        return EventWriter(self.live_client).recorder(name)


class Way(Enum):
    """How a controller learns of changes of the Secrets that its reconciler reads."""

    SUBSCRIPTIONS = "subscriptions"
    NAME = "a handler that splits the name"  # the cheapest: it decodes nothing
    INDEX = "a handler with an index"  # the usual one: it finds the ConfigMaps that name the Secret
    NONE = "no reconcile"  # Secrets are cached only


def build(host: _Host, way: Way, reconciler: Applications) -> Controller:
    """Build the controller."""
    builder = Builder(host).reconciles(ConfigMap)
    match way:
        case Way.SUBSCRIPTIONS:
            builder.reads(Secret)
        case Way.NAME:
            builder.watches(Secret, _request_by_name, predicates=[on_update])
        case Way.INDEX:
            host.cache.add_index(ConfigMap, "secrets", lambda application: application.data.values())
            builder.watches(Secret, mapped(partial(_requests_by_index, host)), predicates=[on_update])
        case Way.NONE:
            builder.reads(reading(Secret, triggers=False))
    return builder.build(reconciler)


def _request_by_name(change: ObjectChange[Secret]) -> list[Request]:
    secret = change.current
    return [Request(secret.namespace, secret.name.rpartition("-credentials-")[0])]


async def _requests_by_index(host: _Host, secret: Secret) -> list[Request]:
    found = await host.client.list(ConfigMap, index=("secrets", secret.metadata.name))
    return [Request.of(application) for application in found]


@dataclass
class Running:
    """A running controller, all of whose requests have run once."""

    server: Server
    reconciler: Applications
    controller: Controller

    async def ran(self, runs: int) -> None:
        """Wait until this many runs have ended since the start."""
        while self.reconciler.runs < runs:  # noqa: ASYNC110 - a condition would cost a part of what is measured
            await asyncio.sleep(0.001)

    async def added(self, adds: int) -> None:
        """Wait until the queue has got this many requests since the start."""
        while self.adds < adds:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.001)

    @property
    def adds(self) -> int:
        """The requests that were added to the queue so far."""
        return self.controller.statistics().queue.adds


@asynccontextmanager
async def running(way: Way, requests: int) -> AsyncIterator[Running]:
    """Run a controller for the length of a block, which begins when all requests have run once."""
    server, reconciler = Server(requests), Applications()
    host = _Host(server)
    controller = build(host, way, reconciler)
    async with asyncio.TaskGroup() as group:
        caching = group.create_task(host.cache.run())
        group.create_task(controller.run())
        found = Running(server, reconciler, controller)
        await found.ran(requests)
        yield found
        controller.ask_to_stop()
        caching.cancel()
