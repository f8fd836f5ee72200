"""A cache of ConfigMaps in hash ranges, on an in-process API server and a network that delays and breaks."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

from pyctrl.api import GroupVersionKind, Key, OwnerReference, ShardRange, Unstructured, hash_field
from pyctrl.apiserver import ApiServer
from pyctrl.cache import Cache, Informer, KindOptions, Record, ShardMemory
from pyctrl.cache._shard_uid import SHARD_LABEL, SHARED, shard_label, shard_uid
from pyctrl.client import Client, HttpRequest, HttpResponse, HttpStream, InProcessTransport
from pyctrl.errors import StreamBroken
from tests.unit.cache._kit import CONFIGMAP

OWNER = GroupVersionKind("example.com", "v1", "Owner")
OWNERS = {(OWNER.group, OWNER.kind)}
OCTANTS = ShardRange.split(8)
LOWER, UPPER = ShardRange.split(2)


def in_ranges(uid: str, ranges: Iterable[ShardRange]) -> bool:
    """Return whether an object that is selected by a uid is in some ranges."""
    parts = list(ranges)
    return bool(parts) if uid == SHARED else any(hash_field(uid) in part for part in parts)


def owned(name: str, *uids: str, kind: GroupVersionKind = OWNER, **data: str) -> Unstructured:
    """Return a ConfigMap with owners."""
    obj = Unstructured.new(CONFIGMAP, name=name, namespace="default", data=data)
    obj.metadata.owner_references = [
        OwnerReference(api_version=kind.api_version, kind=kind.kind, name=f"owner-{uid}", uid=uid) for uid in uids
    ]
    return obj


class Network:
    """A transport whose lists take ``delay`` seconds, whose events lag, and whose watches `break_watches` ends."""

    def __init__(self, server: ApiServer) -> None:
        self._inner = InProcessTransport(server)
        self.delay = 0.0
        self.lag = 0.0
        self.hides_shards = False  # as for custom resources, whose lists have no shardInfo
        self.requests: list[HttpRequest] = []
        self._broken: asyncio.Event = asyncio.Event()

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Answer a request; the answer to a list is some seconds old when it arrives."""
        self.requests.append(request)
        response = await self._inner.request(request)
        if self.delay and request.method == "GET":
            await asyncio.sleep(self.delay)
        if self.hides_shards:
            body = re.sub(rb',"shardInfo":\{[^}]*\}', b"", response.body)
            return HttpResponse(status=response.status, headers=response.headers, body=body)
        return response

    @asynccontextmanager
    async def stream(self, request: HttpRequest, *, idle_timeout: float | None = None) -> AsyncIterator[HttpStream]:
        """Answer a watch."""
        self.requests.append(request)
        async with self._inner.stream(request, idle_timeout=idle_timeout) as stream:
            yield _Breakable(stream, self)

    def break_watches(self) -> None:
        """End all watches with an error."""
        self._broken.set()
        self._broken = asyncio.Event()

    async def until_broken(self) -> None:
        """Wait for the next `break_watches`."""
        await self._broken.wait()

    async def aclose(self) -> None:
        """Nothing to close."""

    @property
    def lists(self) -> list[dict[str, str]]:
        """The queries of all lists of the cache."""
        return [
            query
            for request in self.requests
            if request.method == "GET"
            and request.path.endswith("/configmaps")
            and "watch" not in (query := dict(request.query))
        ]

    @property
    def watches(self) -> list[dict[str, str]]:
        """The queries of all watches."""
        return [query for request in self.requests if "watch" in (query := dict(request.query))]


class _Breakable:
    """The stream of a watch."""

    def __init__(self, stream: HttpStream, network: Network) -> None:
        self.status, self.headers = stream.status, stream.headers
        self._stream, self._network = stream, network

    async def read(self) -> bytes:
        """Read the body of a failure."""
        return await self._stream.read()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield chunks until the network breaks."""
        broken = asyncio.ensure_future(self._network.until_broken())
        chunks = self._stream.chunks()
        try:
            while True:
                following = asyncio.ensure_future(anext(chunks, b""))
                try:
                    await asyncio.wait([broken, following], return_when=asyncio.FIRST_COMPLETED)
                    if not following.done():
                        raise StreamBroken("the network broke")
                    chunk = following.result()
                finally:
                    following.cancel()
                    await asyncio.wait([following])
                if not chunk:
                    return
                if self._network.lag:
                    await asyncio.wait([broken], timeout=self._network.lag)
                yield chunk
        finally:
            broken.cancel()
            await asyncio.wait([broken])


@dataclass
class Shards:
    """The cache, the server, and the network between them."""

    server: ApiServer
    network: Network
    cache: Cache
    informer: Informer
    own: Client  # whose writes the cache observes
    direct: Client  # whose writes it does not
    is_owned: bool = False

    async def create(self, *names: str) -> None:
        """Create ConfigMaps without using the cache."""
        for name in names:
            await self.direct.create(Unstructured.new(CONFIGMAP, name=name, namespace="default", data={}))

    async def uid(self, name: str) -> str:
        """Return the uid of a ConfigMap, as the server has it."""
        return (await self.direct.get(CONFIGMAP, Key("default", name))).metadata.uid

    async def expected(self, ranges: Iterable[ShardRange]) -> dict[str, str]:
        """Return the versions of the objects of the server that are in the ranges, by name."""
        parts, owners = list(ranges), OWNERS if self.is_owned else ()
        return {
            obj.metadata.name: obj.metadata.resource_version
            for obj in await self.direct.list(CONFIGMAP)
            if in_ranges(uid := shard_uid(obj.metadata.uid, obj.metadata.owner_references, owners), parts)
            and (not self.informer.shards.by_label or obj.metadata.labels.get(SHARD_LABEL) == shard_label(uid))
        }

    @property
    def stored(self) -> dict[str, str]:
        """The versions of the objects of the store, by name."""
        return {record.name: str(record.version) for record in self.records}

    @property
    def records(self) -> list[Record]:
        """The records of the store."""
        return list(self.informer.lister.store)


@asynccontextmanager
async def sharded(
    ranges: Iterable[ShardRange] | None,
    *,
    has_feature: bool = True,
    memory: ShardMemory = ShardMemory.AUTO,
    options: KindOptions | None = None,
    before: Iterable[str] = (),
    seed: int = 1,
    is_direct: bool = False,
    is_owned: bool = False,
    selects_by_label: bool = False,
    covers_all: bool = False,
) -> AsyncIterator[Shards]:
    """Run a cache that covers some ranges, on a server that has some ConfigMaps already."""
    server = ApiServer(random=Random(seed), feature_gates={"ShardedListAndWatch": has_feature})
    network = Network(server)
    client = Client(network)
    kind_options = options or KindOptions(shard_memory=memory)
    cache = Cache(client, options={CONFIGMAP: kind_options}, random=Random(seed))
    cache.is_direct = is_direct
    direct = Client(InProcessTransport(server))
    shards = Shards(server, network, cache, cache.informer(CONFIGMAP), client, direct, is_owned)
    if is_owned:
        shards.informer.select_by_owner([OWNER])
    if selects_by_label:
        shards.informer.shards.select_by_label()
    if ranges is not None or covers_all:
        shards.informer.cover(ranges)
    await shards.create(*before)
    task = asyncio.create_task(cache.run())
    try:
        yield shards
    finally:
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled(), task.exception()
