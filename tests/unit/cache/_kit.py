"""Objects, a simulated cluster with a history, and an informer on an in-process API server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

from pyctrl.api import GroupVersionKind, Key, Unstructured
from pyctrl.apiserver import ApiServer
from pyctrl.cache import (
    Cache,
    Change,
    Created,
    Deleted,
    KindOptions,
    Record,
    Synced,
    Updated,
)
from pyctrl.cache._record import RecordReader
from pyctrl.client import Client, InProcessTransport, Transport
from pyctrl.testing import FaultyTransport, Rule, Silent

CONFIGMAP = GroupVersionKind("", "v1", "ConfigMap")
SECOND = timedelta(seconds=1)


def body(
    name: str,
    version: int,
    *,
    namespace: str = "default",
    uid: str = "",
    labels: dict[str, str] | None = None,
    **more: Any,
) -> bytes:
    """Return the bytes of an object as an API server writes it."""
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": namespace,
        "uid": uid or f"uid-{name}",
        "resourceVersion": str(version),
    }
    metadata |= {"labels": labels} if labels else {}
    metadata |= more.pop("metadata", {})
    return json.dumps({"metadata": metadata, **more}, separators=(",", ":")).encode()


def record(name: str, version: int, **more: Any) -> Record:
    """Return the record of such an object."""
    return RecordReader()(body(name, version, **more))


@dataclass
class Mirror:
    """Rebuilds the state of a subscriber from changes alone and fails if changes contradict each other."""

    versions: dict[tuple[str, str], int] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)

    def push(self, change: Change) -> None:
        self.changes.append(change)
        match change:
            case Created(new=new):
                assert tuple(new.key) not in self.versions, "created twice"
                self.versions[new.namespace, new.name] = new.version
            case Updated(old=old, new=new):
                assert self.versions[old.namespace, old.name] == old.version, "not the state that was told before"
                assert old.version != new.version, "told although nothing changed"
                self.versions[new.namespace, new.name] = new.version
            case Deleted(old=old):
                del self.versions[old.namespace, old.name]
            case Synced():
                pass


@dataclass
class Lab:
    """A cache on an in-process API server, with a network that can be made to fail."""

    server: ApiServer
    network: FaultyTransport
    client: Client
    cache: Cache
    direct: Client  # the same server without the network

    async def create(self, *names: str, **data: str) -> None:
        """Create ConfigMaps without using the cache."""
        for name in names:
            await self.direct.create(self.object(name, **data))

    async def update(self, name: str, **data: str) -> None:
        """Replace a ConfigMap without using the cache."""
        await self.direct.update(self.object(name, **data))

    @staticmethod
    def object(name: str, **data: str) -> Any:
        from pyctrl.api import Unstructured

        return Unstructured.new(CONFIGMAP, name=name, namespace="default", data=data)

    async def names(self) -> list[str]:
        """Return the names that the cache has, sorted."""
        return sorted(o.metadata.name for o in await self.cache.list(CONFIGMAP, namespace="default"))

    @property
    def watches(self) -> list[dict[str, str]]:
        """Return the queries of all watches so far."""
        return [q for r in self.network.requests if (q := dict(r.query)).get("watch")]


@asynccontextmanager
async def lab(
    rules: Iterable[Rule] = (),
    *,
    options: KindOptions | None = None,
    transport: Transport | None = None,
    before: Sequence[str] = ("a", "b"),
    seed: int = 1,
) -> AsyncIterator[Lab]:
    """Run a cache of ConfigMaps on a server that already has some."""
    server = ApiServer(random=Random(7))
    network = FaultyTransport(transport or InProcessTransport(server), list(rules))
    client, direct = Client(network), Client(InProcessTransport(server))
    cache = Cache(client, options={CONFIGMAP: options or KindOptions()}, random=Random(seed))
    cache.informer(CONFIGMAP)
    made = Lab(server, network, client, cache, direct)
    await made.create(*before)
    task = asyncio.create_task(cache.run())
    try:
        yield made
    finally:
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled(), task.exception()


async def until(condition: Any, *, within: float = 600.0) -> None:
    """Advance virtual time until a condition holds."""
    loop = asyncio.get_running_loop()
    end = loop.time() + within
    while not (await result if asyncio.iscoroutine(result := condition()) else result):
        assert loop.time() < end, f"did not happen within {within} seconds"
        await asyncio.sleep(0.1)


DEFAULT = "default"


def key(name: str, namespace: str = DEFAULT) -> Key:
    return Key(namespace, name)


def config_map(name: str, *, namespace: str = DEFAULT, labels: dict[str, str] | None = None) -> Unstructured:
    made = Unstructured.new(CONFIGMAP, name=name, namespace=namespace)
    made.metadata.labels = labels or {}
    return made


DEAF = Rule(Silent(lines=3), path="*/configmaps", query={"watch": "true"}, times=None)


NAMESPACE = GroupVersionKind("", "v1", "Namespace")


async def _is(found: Awaitable[object], expected: object) -> bool:
    return await found == expected
