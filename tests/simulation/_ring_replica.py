"""One replica of a simulated ring: a process that is restarted whenever it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from random import Random

from pyctrl.api import ObjectMeta
from pyctrl.client import Client, HttpRequest
from pyctrl.client._transport.leader_gate import check_gates
from pyctrl.controller import SLOTS, ControllerShard, Queue, Request, ShardBy, WorkItem
from pyctrl.controller._workers import Workers
from pyctrl.errors import LeadershipLost, NotLeading, PyctrlError
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.manager import Sharding
from pyctrl.manager._election.lease_lock import current_moment
from pyctrl.manager._sharding.shard_member import ShardMember
from pyctrl.simulation._loop import context_of, simulation_loop
from pyctrl.simulation._network import NetworkLink
from tests.simulation._lease_server import Connection
from tests.simulation._trace import Trace

KEYS = [Request("default", f"key-{number}") for number in range(12)]
REQUEST_SECONDS = 5  # of reconciles' writes


@dataclass
class Replica:
    """A process of the ring, restarted whenever it ends."""

    name: str
    connection: Connection
    random: Random
    options: Sharding
    trace: Trace
    check: Callable[[], None]
    member: ShardMember | None = None
    shard: ControllerShard | None = None
    queue: Queue | None = None
    running: dict[Request, None] = field(default_factory=dict)
    began: dict[str, tuple[str, float]] = field(default_factory=dict)  # which replica began a key last, and when
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    is_dead: bool = False
    runs: int = 0
    refused: int = 0
    taken: int = 0
    cancelled: int = 0
    task: asyncio.Task[None] = field(init=False)

    def start(self) -> None:
        """Start the process."""
        self.task = asyncio.get_running_loop().create_task(self._live(), context=context_of(self.name))

    @property
    def link(self) -> NetworkLink:
        """Its connection to the server."""
        return self.connection.link

    def acts_on(self) -> list[Request]:
        """Return the keys of which a reconcile runs in a term that is not over, by its own clock."""
        if self.is_dead or self.member is None:
            return []
        is_over = not self.member.membership.may_write(context_of(self.name).run(current_moment))
        return [] if is_over else list(self.running)

    def takes(self) -> int:
        """Return the slots whose requests it takes now, by its own clock."""
        if self.is_dead or self.member is None or simulation_loop().is_frozen(self.name):
            return 0
        moment = context_of(self.name).run(current_moment)
        return self.member.slots.taken & self.member.membership.taken(moment)

    @property
    def is_available(self) -> bool:
        """Return whether it is a member that stays."""
        if self.is_dead or self.member is None or self.ending.is_set():
            return False
        return self.member.membership.has_joined

    async def _live(self) -> None:
        while not self.is_dead:
            client = Client(self.connection, random=self.random)
            self.ending = asyncio.Event()
            member = ShardMember(
                client,
                self.options,
                namespace="default",
                identity=self._identity(),
                random=self.random,
                ending=self.ending,
            )
            queue = Queue("keys")
            shard = ControllerShard("keys", queue, ShardBy.UID, None, member.slots)
            member.slots.adopt(shard)
            self.member, self.shard, self.queue = member, shard, queue
            with suppress(LeadershipLost):
                await self._run(member, shard, queue, client)
            self.taken += member.statistics().taken
            self.cancelled += member.statistics().cancelled
            self.trace.say(f"{self.name} has ended")
            await asyncio.sleep(self.random.uniform(0, 5))

    def _identity(self) -> str:
        return f"{self.name}-{self.random.getrandbits(32):08x}"

    async def _run(self, member: ShardMember, shard: ControllerShard, queue: Queue, client: Client) -> None:
        async def reconcile(item: WorkItem) -> None:
            self.runs += 1
            await self._reconcile(client, item)

        async with asyncio.TaskGroup() as group:
            workers = Workers("keys", queue, lambda item: shard.handle(item, reconcile), count=4)
            workers.start(group)
            feeding = group.create_task(self._feed(shard))
            try:
                await member.run()
            finally:
                feeding.cancel()
                queue.close()
                shard.cancel((1 << SLOTS) - 1)

    async def stop(self) -> None:
        """Stop as a manager does: the controllers first, then the member."""
        if self.queue is not None and self.member is not None and self.shard is not None:
            queue, shard, member = self.queue, self.shard, self.member
            queue.close()
            self.ending.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(30):
                    while shard.busy:
                        await asyncio.sleep(0.1)
            shard.cancel((1 << SLOTS) - 1)
            await asyncio.sleep(1.5)
            member.ask_to_stop()

    async def _feed(self, shard: ControllerShard) -> None:
        """Add all keys from time to time, as changes do."""
        while True:
            for key in KEYS:
                shard.add(key)
            await asyncio.sleep(self.random.uniform(1.0, 5.0))

    async def _reconcile(self, client: Client, item: WorkItem) -> None:
        self.running[item.request] = None
        self.began[item.request.name] = (self.name, asyncio.get_running_loop().time())
        self.check()
        try:
            for _ in range(self.random.randint(1, 2)):
                await self._write(client, item.request)
                await asyncio.sleep(self.random.choice((0, 0.1, 0.1, 0.5, 2.0)) * self.random.random())
            if self.random.random() < 0.004:
                await asyncio.sleep(self.random.uniform(0, 40))  # a slow one, which a hand-over may have to cancel
                await self._write(client, item.request)
            item.succeed()
        finally:
            with suppress(asyncio.CancelledError):  # cleanup may take a while
                await asyncio.sleep(self.random.choice((0, 0, 0, 1)))
            del self.running[item.request]

    async def _write(self, client: Client, request: Request) -> None:
        now, member = asyncio.get_running_loop().time(), self.member
        assert member is not None
        data = {"who": self.name, "sent": str(now), "until": str(member.membership.ends_at)}
        obj = ConfigMap(metadata=ObjectMeta(name=request.name, namespace="default"), data=data)
        try:
            if self.random.random() < 0.8:  # most writes only pass the gates: a request takes a hundred times as long
                check_gates(HttpRequest(method="POST", path="/configmaps"))
                self.connection.acts.append(asyncio.get_running_loop().time())
                return
            async with asyncio.timeout(REQUEST_SECONDS):
                await client.create(obj)
        except NotLeading:
            self.refused += 1
        except (PyctrlError, TimeoutError):
            pass
