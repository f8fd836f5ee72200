"""Informers with objects, for tests of reads without a controller."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec

from pyctrl.api import KindLike
from pyctrl.cache import Informer, Record
from pyctrl.controller import Request
from pyctrl.controller._reads.reader import Subscriber
from tests.unit.controller._hosts import make_host, settle


@asynccontextmanager
async def running_informer(kind: KindLike, *objects: Any) -> AsyncIterator[Informer]:
    """Run an informer of a kind whose objects exist."""
    host = make_host()
    informer = host.cache.informer(kind)
    for each in objects:
        await host.live_client.create(each)
    caching = asyncio.create_task(host.cache.run())
    await settle()
    yield informer
    caching.cancel()
    await asyncio.wait([caching])


def record(
    name: str, *, version: int = 1, namespace: str = "default", labels: Mapping[str, str] | None = None, **fields: Any
) -> Record:
    """Return the record of an object."""
    metadata = {"name": name, "namespace": namespace, "uid": name, "resourceVersion": str(version)}
    data = msgspec.json.encode({"metadata": {**metadata, "labels": labels or {}}, **fields})
    return Record(data, name, namespace, name, version)


def readers(*names: str) -> list[Subscriber]:
    """Return requests."""
    return [Subscriber(Request("default", name)) for name in names]
