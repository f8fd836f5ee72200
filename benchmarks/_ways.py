"""Methods of reading 50,000 objects from a server into memory, each run in its own process."""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import sys
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

READS = 2_000  # for one measurement of a read


@dataclass
class Meter:
    """Measures CPU time and memory of this process from `begin` on."""

    laps: dict[str, float] = field(default_factory=dict)
    _cpu: float = 0.0
    _base: int = 0

    def begin(self) -> None:
        """Start when everything is imported and nothing is read."""
        gc.collect()
        self._base = _resident()
        self._cpu = _cpu_seconds()

    def lap(self, name: str) -> None:
        """Record the CPU seconds, user and system, since the last lap."""
        now = _cpu_seconds()
        self.laps[name], self._cpu = now - self._cpu, now

    def best(self, name: str, read: Callable[[], object]) -> None:
        """Record the CPU seconds of one call: the average of many, in the fastest of several rounds."""
        begun = _cpu_seconds()
        for _ in range(READS):
            read()
        self.laps[name] = min(self.laps.get(name, 1.0), (_cpu_seconds() - begun) / READS)

    async def best_of_async(self, name: str, read: Callable[[], Awaitable[object]]) -> None:
        """Do the same for an awaitable."""
        begun = _cpu_seconds()
        for _ in range(READS):
            await read()
        self.laps[name] = min(self.laps.get(name, 1.0), (_cpu_seconds() - begun) / READS)

    def result(self) -> dict[str, float]:
        """Return the laps, and the peak of resident memory over the base in bytes."""
        return {**self.laps, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _MAXRSS_UNIT - self._base}


_MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024


def _cpu_seconds() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _resident() -> int:
    import psutil  # from the group "bench", imported here because the server does not need it

    return int(psutil.Process().memory_info().rss)


@dataclass(frozen=True)
class Job:
    """The arguments of a method: the server's address and its content."""

    server: str
    objects: int
    end: int


class Page(msgspec.Struct):
    """A decoded page."""

    items: list[msgspec.Raw]


class Event(msgspec.Struct):
    """A decoded line of a watch."""

    type: str
    object: msgspec.Raw


def _requests(job: Job) -> Iterator[str]:
    for start in range(0, job.objects, 500):
        more = f"&continue={start}" if start else ""
        yield f"{job.server}/pages/api/v1/pods?limit=500{more}"


async def floor_pages(job: Job, meter: Meter) -> None:
    """Read every page from the socket and decode it once; keep nothing."""
    import aiohttp

    scan = msgspec.json.Decoder(Page).decode
    async with aiohttp.ClientSession(trust_env=False) as session:
        meter.begin()
        count = 0
        for url in _requests(job):
            async with session.get(url) as response:
                count += len(scan(await response.read()).items)
        meter.lap("sync")
    assert count == job.objects


async def floor_keep(job: Job, meter: Meter) -> None:
    """Read every page, decode it once, and keep a copy of each object's bytes: the minimum for any cache of bytes."""
    import aiohttp

    scan = msgspec.json.Decoder(Page).decode
    async with aiohttp.ClientSession(trust_env=False) as session:
        meter.begin()
        kept: list[bytes] = []
        for url in _requests(job):
            async with session.get(url) as response:
                kept.extend([bytes(item) for item in scan(await response.read()).items])
        meter.lap("sync")
    assert len(kept) == job.objects


async def floor_stream(job: Job, meter: Meter) -> None:
    """Read the streamed list from the socket and decode it once; keep nothing."""
    import aiohttp

    scan = msgspec.json.Decoder(Event).decode_lines
    async with aiohttp.ClientSession(trust_env=False) as session:
        meter.begin()
        count, rest = 0, b""
        url = f"{job.server}/stream/api/v1/pods?watch=true&sendInitialEvents=true"
        async with session.get(url) as response:
            async for chunk in response.content.iter_any():
                lines, end, rest = (rest + chunk).rpartition(b"\n")
                count += len(scan(lines)) if end else 0
        meter.lap("sync")
    assert count == job.objects + 1  # with the bookmark


async def _cache(job: Job, meter: Meter, way: str) -> None:
    from pyctrl.api import GroupVersionKind
    from pyctrl.cache import Cache
    from pyctrl.client import Client, Config

    pod = GroupVersionKind("", "v1", "Pod")
    async with Client.connect(Config.from_flags(master=f"{job.server}/{way}", kubeconfig=None)) as client:
        await client.discovery.mapping(pod)
        cache = Cache(client)
        informer = cache.informer(pod)
        meter.begin()
        task = asyncio.create_task(cache.run())
        await informer.wait_for_sync()
        meter.lap("sync")
        assert informer.statistics().objects == job.objects
        await informer.wait_for_version(str(job.end))
        meter.lap("events")
        assert informer.statistics().relists == 0
        task.cancel()
        await asyncio.wait([task])


async def cache_pages(job: Job, meter: Meter) -> None:
    """Let pyctrl's cache list in pages, then change every object."""
    await _cache(job, meter, "pages")


async def cache_stream(job: Job, meter: Meter) -> None:
    """Let pyctrl's cache stream the list, then change every object."""
    await _cache(job, meter, "stream")


async def reads(job: Job, meter: Meter) -> None:
    """Read one Deployment from the cache, typed and untyped, and decode the same bytes for comparison."""
    from random import Random

    from pyctrl.api import Key, Unstructured, kind_of
    from pyctrl.apiserver import ApiServer
    from pyctrl.cache import Cache
    from pyctrl.client import Client, InProcessTransport
    from pyctrl.kinds.apps.v1 import Deployment

    env = [{"name": f"SETTING_{n}", "value": "some value"} for n in range(40)]
    container = {"name": "main", "image": "busybox", "command": ["sleep", "3600"], "env": env}
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    document = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"}}
    document["spec"] = {"replicas": 3, "selector": {"matchLabels": labels}, "template": template}
    key, gvk = Key("default", "web"), kind_of(Deployment)
    client = Client(InProcessTransport(ApiServer(random=Random(1))))
    await client.create(Unstructured(document))
    cache = Cache(client)
    informer = cache.informer(Deployment)
    task = asyncio.create_task(cache.run())
    await informer.wait_for_sync()
    record = informer.find(key)
    assert record is not None
    data = record.data
    decode = msgspec.json.Decoder().decode
    for _ in range(job.objects // 50_000 + 5):  # several rounds; `lap` keeps the fastest of each
        meter.best("read-model", lambda: Deployment.model_validate_json(data))
        await meter.best_of_async("read-typed", lambda: cache.get(Deployment, key))
        meter.best("read-dict", lambda: decode(data))
        await meter.best_of_async("read-untyped", lambda: cache.get(gvk, key))
    task.cancel()
    await asyncio.wait([task])


WAYS: dict[str, Callable[[Job, Meter], Coroutine[Any, Any, None]]] = {
    "floor-pages": floor_pages,
    "floor-stream": floor_stream,
    "floor-keep": floor_keep,
    "cache-pages": cache_pages,
    "cache-stream": cache_stream,
    "reads": reads,
}


def main() -> None:
    """Run one method with JSON in the only argument, and print the results as JSON."""
    told = json.loads(sys.argv[1])
    way = WAYS[told.pop("way")]
    meter = Meter()
    asyncio.run(way(Job(**told), meter))
    print(json.dumps(meter.result()))


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    main()
