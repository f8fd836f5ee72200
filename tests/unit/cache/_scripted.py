"""A cache of ConfigMaps on a transport with scripted responses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from random import Random

from pyctrl.cache import Cache
from pyctrl.client import Client, Headers, HttpRequest, HttpResponse, HttpStream, ResourceMapping
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.cache._kit import CONFIGMAP

END = b""  # ends a watch cleanly


def event(kind: str, obj: bytes) -> bytes:
    """Return one line of a watch."""
    return b'{"type":"%s","object":%s}\n' % (kind.encode(), obj)


def bookmark(version: int, *, ends_list: bool = False) -> bytes:
    """Return a bookmark, which may end the initial events."""
    end = b',"annotations":{"k8s.io/initial-events-end":"true"}' if ends_list else b""
    return event("BOOKMARK", b'{"metadata":{"resourceVersion":"%d"%s}}' % (version, end))


def streamed(version: int, *objects: bytes) -> list[bytes]:
    """Return a streamed list."""
    return [*(event("ADDED", obj) for obj in objects), bookmark(version, ends_list=True)]


def page(version: int, *items: bytes) -> HttpResponse:
    """Return a complete list."""
    body = b'{"kind":"ConfigMapList","metadata":{"resourceVersion":"%d"},"items":[%s]}' % (version, b",".join(items))
    return HttpResponse(status=200, headers=Headers(), body=body)


class Wire:
    """A transport: the first watch gets the first script, and so on; later watches send only what `say` adds.

    Lists are answered from ``pages``; the last page is repeated.
    """

    def __init__(self, *scripts: Sequence[bytes], pages: Sequence[HttpResponse] = ()) -> None:
        self._scripts, self._pages = list(scripts), list(pages)
        self._said: asyncio.Queue[bytes] = asyncio.Queue()
        self.requests: list[HttpRequest] = []

    def say(self, *lines: bytes) -> None:
        """Send lines over the open watch, or over the next one."""
        for line in lines:
            self._said.put_nowait(line)

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Answer a list request."""
        self.requests.append(request)
        if not self._pages:
            return HttpResponse(status=503, headers=Headers(), body=b"")
        return self._pages.pop(0) if len(self._pages) > 1 else self._pages[0]

    @asynccontextmanager
    async def stream(self, request: HttpRequest, *, idle_timeout: float | None = None) -> AsyncIterator[HttpStream]:
        """Answer a watch request."""
        self.requests.append(request)
        yield _Stream(self._chunks(self._scripts.pop(0) if self._scripts else ()))

    async def _chunks(self, script: Sequence[bytes]) -> AsyncIterator[bytes]:
        for line in script:
            if line == END:
                return
            yield line
        while (line := await self._said.get()) != END:
            yield line

    async def aclose(self) -> None:
        """Nothing to close."""

    @property
    def watches(self) -> list[dict[str, str]]:
        """Return the queries of all watches so far."""
        return [query for r in self.requests if (query := dict(r.query)).get("watch")]

    @property
    def lists(self) -> list[dict[str, str]]:
        """Return the queries of all lists."""
        return [query for r in self.requests if not (query := dict(r.query)).get("watch")]


class _Stream:
    status = 200
    headers = Headers()

    def __init__(self, body: AsyncIterator[bytes]) -> None:
        self._body = body

    async def read(self) -> bytes:
        return b"".join([chunk async for chunk in self._body])

    def chunks(self) -> AsyncIterator[bytes]:
        return self._body


@asynccontextmanager
async def cache_on(wire: Wire) -> AsyncIterator[Cache]:
    """Run a cache of ConfigMaps."""
    client = Client(wire)
    resource = ConfigMap.resource
    client.discovery.learn(ResourceMapping(gvk=CONFIGMAP, plural=resource.plural, namespaced=True))
    cache = Cache(client, random=Random(1))
    cache.informer(CONFIGMAP)
    task = asyncio.create_task(cache.run())
    try:
        yield cache
    finally:
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled(), task.exception()
