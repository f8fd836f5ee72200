"""One simulated ring whose replicas cache their own objects only: managers on one API server, and faults by a seed.

The controller creates what it does not find, and never deletes. So an object that a cache lacks shows as one too many.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

from pyctrl.api import Key
from pyctrl.apiserver import ApiServer
from pyctrl.client import HttpRequest, HttpResponse, HttpStream, InProcessTransport
from pyctrl.controller import Request, Result
from pyctrl.controller._sharding.shard_key import slot_of_uid
from pyctrl.errors import ConnectionFailed, NotFound, StreamBroken
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.testing import run_virtual
from tests.unit.manager.sharding._families import GENERATED, Family, cached_secrets, families, secrets
from tests.unit.manager.sharding._rings import Replica, admin, config_map, divided

PARENTS = 6
ACTS = (6, 14)
LIMIT = timedelta(hours=2)


class Wire:
    """The connection of one replica: requests take time, lists sometimes seconds, and watches lag.

    A write that arrives is answered at once. An answer that is lost would make any controller with generated names
    create one object too many.
    """

    def __init__(self, server: ApiServer, random: Random) -> None:
        self._inner, self._random = InProcessTransport(server), random
        self.slowness = 0.0
        self.is_cut = False
        self._cut = asyncio.Event()

    def cut(self) -> None:
        """Refuse everything from now on, and break open streams."""
        self.is_cut = True
        self._cut.set()
        self._cut = asyncio.Event()

    async def request(self, request: HttpRequest) -> HttpResponse:
        """Send a request."""
        slow = self.slowness if "leases" not in request.path else 0.0
        await asyncio.sleep(self._random.uniform(0.001, 0.05) + slow * self._random.random())
        self._check(request)
        response = await self._inner.request(request)
        if request.method == "GET":
            await asyncio.sleep(self._random.uniform(0.001, 0.05) + slow * self._random.random())
            self._check(request)
        return response

    @asynccontextmanager
    async def stream(self, request: HttpRequest, *, idle_timeout: float | None = None) -> AsyncIterator[HttpStream]:
        """Open a watch."""
        await asyncio.sleep(self._random.uniform(0.001, 0.05))
        self._check(request)
        async with self._inner.stream(request, idle_timeout=idle_timeout) as stream:
            yield _Lagging(stream, self)

    async def aclose(self) -> None:
        """Nothing to close."""

    async def lag(self) -> None:
        """Wait for as long as an event is under way."""
        await asyncio.sleep(self._random.uniform(0.001, 0.1) + self.slowness * self._random.random() / 2)

    @property
    def cuts(self) -> asyncio.Event:
        """Set at the next cut."""
        return self._cut

    def _check(self, request: HttpRequest) -> None:
        if self.is_cut:
            raise ConnectionFailed(f"no connection for {request}")


class _Lagging:
    """A watch whose events take a while, and which a cut breaks."""

    def __init__(self, stream: HttpStream, wire: Wire) -> None:
        self.status, self.headers = stream.status, stream.headers
        self._stream, self._wire, self._cuts = stream, wire, wire.cuts

    async def read(self) -> bytes:
        """Read the body of a failure."""
        return await self._stream.read()

    async def chunks(self) -> AsyncIterator[bytes]:
        """Yield chunks until a cut."""
        cut, chunks = asyncio.ensure_future(self._cuts.wait()), self._stream.chunks()
        try:
            while True:
                following = asyncio.ensure_future(anext(chunks, b""))
                try:
                    await asyncio.wait([cut, following], return_when=asyncio.FIRST_COMPLETED)
                    if not following.done():
                        raise StreamBroken("the connection was cut")
                    if not (chunk := following.result()):
                        return
                finally:
                    following.cancel()
                    await asyncio.wait([following])
                await self._wire.lag()
                if self._cuts.is_set():
                    raise StreamBroken("the connection was cut")
                yield chunk
        finally:
            cut.cancel()
            await asyncio.wait([cut])


@dataclass
class MemoryOutcome:
    """What a history has shown."""

    runs: int = 0
    live_reads: int = 0
    #: The largest share of all Secrets that one of several replicas had in the end.
    share: float = 0.0
    overlaps: list[str] = field(default_factory=list)


class MemoryHistory:
    """The replicas, the objects and the faults of one seed."""

    def __init__(self, seed: int, **options: Any) -> None:
        self._random, self._options = Random(seed), options
        gates = self._random.choice(({"ShardedListAndWatch": True}, None))
        self._server: ApiServer = ApiServer(random=Random(seed), feature_gates=gates)  # type: ignore[arg-type]  # a key
        self._running: dict[str, str] = {}
        self._replicas: dict[str, tuple[Replica, Wire]] = {}
        self._all: list[Replica] = []
        self._parents = 0
        self._stack = AsyncExitStack()
        self.outcome = MemoryOutcome()

    async def run(self) -> MemoryOutcome:
        """Live through the faults, and check what the replicas have made."""
        async with self._stack:
            for _ in range(self._random.randint(1, 3)):
                await self._join()
            for _ in range(PARENTS):
                await self._create()
            acts: list[Callable[[], Any]] = [self._create, self._create, self._lose_child, self._lose_child]
            acts += [self._join, self._stop, self._kill, self._cut, self._cut, self._heal, self._slow, self._delete]
            for _ in range(self._random.randint(*ACTS)):
                await self._random.choice(acts)()
                await asyncio.sleep(self._random.choice((0.0, 0.2, 3.0, 20.0, 40.0)) * self._random.random())
                await self._check()
            await self._recover()
        return self.outcome

    # --- what happens ---

    async def _join(self) -> None:
        if len(self._replicas) < 4:
            name = f"r{len(self._all)}"
            wire = Wire(self._server, self._random)
            family = type("Watched", (_Watched,), {"history": self, "who": name})
            replica = Replica(self._server, name, recorder=family, transport=wire, **self._options)
            self._all.append(replica)
            self._replicas[name] = replica, wire
            await self._stack.enter_async_context(replica.running())

    async def _stop(self) -> None:
        if len(self._replicas) > 1:
            replica, _wire = self._replicas.pop(self._random.choice(list(self._replicas)))
            replica.manager.ask_to_stop()

    async def _kill(self) -> None:
        if len(self._replicas) > 1:
            replica, wire = self._replicas.pop(self._random.choice(list(self._replicas)))
            wire.cut()
            replica.ran.cancel()
            await asyncio.sleep(0)
            replica.ran.cancel()

    async def _cut(self) -> None:
        self._random.choice(list(self._replicas.values()))[1].cut()

    async def _heal(self) -> None:
        wire = self._random.choice(list(self._replicas.values()))[1]
        wire.is_cut, wire.slowness = False, 0.0

    async def _slow(self) -> None:
        self._random.choice(list(self._replicas.values()))[1].slowness = self._random.choice((0.5, 2.0))

    async def _create(self) -> None:
        self._parents += 1
        await admin(self._server).create(config_map(f"parent-{self._parents}"))

    async def _delete(self) -> None:
        with suppress(NotFound):
            await admin(self._server).delete(ConfigMap, Key("default", f"parent-{self._random.randint(1, 20)}"))

    async def _lose_child(self) -> None:
        if children := await admin(self._server).list(Secret, namespace="default"):
            await admin(self._server).delete(self._random.choice(children))

    # --- what must hold ---

    def begin(self, name: str, who: str) -> None:
        """Note that a reconcile begins."""
        if name in self._running:
            self.outcome.overlaps.append(f"{self._running[name]} and {who} work on {name} at the same time")
        self._running[name] = who
        self.outcome.runs += 1

    def end(self, name: str) -> None:
        """Note that a reconcile has ended."""
        self._running.pop(name, None)

    async def _check(self) -> None:
        assert not self.outcome.overlaps, self.outcome.overlaps
        mistaken = [name for replica in self._all for name in getattr(replica.recorder, "mistaken", ())]
        assert not mistaken, f"not found although they exist: {mistaken}"
        for name, found in (await families(self._server)).items():
            assert len([each for each in found if each != name]) <= GENERATED, f"{name} has one too many: {found}"

    async def _recover(self) -> None:
        for _replica, wire in self._replicas.values():
            wire.is_cut, wire.slowness = False, 0.0
        replicas = [replica for replica, _wire in self._replicas.values()]
        await divided(replicas, within=180)
        await asyncio.sleep(60)
        await self._check()
        parents = await admin(self._server).list(ConfigMap, namespace="default")
        made = await families(self._server)
        for parent in parents:
            if parent.metadata.name.startswith("parent"):
                assert len(made.get(parent.metadata.name, ())) == GENERATED + 1, f"{parent.metadata.name}: {made}"
        await self._check_caches(replicas)

    async def _check_caches(self, replicas: list[Replica]) -> None:
        children = await admin(self._server).list(Secret, namespace="default")
        slot_of = {each.metadata.name: slot_of_uid(each.metadata.owner_references[0].uid) for each in children}
        for replica in replicas:
            member = replica.manager.shard_member
            assert member is not None
            expected = {name for name, slot in slot_of.items() if member.slots.taken >> slot & 1}
            assert cached_secrets(replica) == expected
            if len(replicas) > 1 and children:
                self.outcome.share = max(self.outcome.share, len(expected) / len(children))
        self.outcome.live_reads = sum(secrets(replica).live_reads for replica in self._all)


class _Watched(Family):
    """A family whose reconciles take a while, and are noted."""

    history: MemoryHistory
    who: str

    async def reconcile(self, request: Request) -> Result | None:
        self.history.begin(request.name, self.who)
        try:
            await super().reconcile(request)
            await asyncio.sleep(self.history._random.choice((0, 0, 0.1, 3.0)))
        finally:
            self.history.end(request.name)
        return None


def live_with_memory(seed: int, **options: Any) -> MemoryOutcome:
    """Run the history of a seed. Raises AssertionError."""
    logging.disable(logging.CRITICAL)
    try:
        return run_virtual(MemoryHistory(seed, **options).run(), limit=LIMIT)
    except Exception as problem:
        raise AssertionError(f"history {seed}: {problem!r}") from problem
    finally:
        logging.disable(logging.NOTSET)
