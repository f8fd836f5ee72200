"""The path of changes from the informer to the handler: order, backpressure and failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from random import Random

import pytest

from pyctrl._time_slices import STEPS
from pyctrl.api import Key, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.cache import Cache, CachedClient, Change, Created, Record, Updated
from pyctrl.client import Client, Config, InProcessTransport
from pyctrl.controller import KindSource, ObjectChange, Queue, Request
from pyctrl.controller._sources.kind import HANDLER_FAILED, MAX_SYNCHRONOUS, ChangeListener, PendingChange
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.testing import Answered, FaultyTransport, Rule


def record(name: str) -> Record:
    return Record(b"{}", name, "default", name, 1)


def change(name: str) -> Change:
    return Updated(record(name), record(name))


def there(name: str) -> Change:
    return Created(record(name), initial=True)


class Slow:
    """A change that waits for an event."""

    def __init__(self, name: str, gate: asyncio.Event, done: list[str]) -> None:
        self._name, self._gate, self._done = name, gate, done
        self.is_dropped = False

    async def finish(self) -> None:
        await self._gate.wait()
        self._done.append(self._name)

    def drop(self) -> None:
        self.is_dropped = True


class Desk:
    """Records changes; those whose name begins with "slow" wait for the gate."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.gate = asyncio.Event()
        self.slow: list[Slow] = []

    def __call__(self, change: Change) -> PendingChange | None:
        name = change.key.name if isinstance(change, Created | Updated) else ""
        if name == "bad":
            raise OSError("bad")
        if name == "cancelled":
            raise asyncio.CancelledError
        if name.startswith("slow"):
            self.slow.append(Slow(name, self.gate, self.done))
            return self.slow[-1]
        self.done.append(name)
        return None


@asynccontextmanager
async def relaying(
    take: Callable[[Change], PendingChange | None],
) -> AsyncIterator[tuple[ChangeListener, asyncio.Task[None]]]:
    """Run a relay for the length of a block."""
    relay = ChangeListener(take)
    task = asyncio.create_task(relay.run())
    await asyncio.sleep(0)
    try:
        yield relay, task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_a_change_is_handled_when_it_is_told() -> None:
    """A single change is handled before the informer continues."""
    desk = Desk()
    async with relaying(desk) as (relay, _):
        for number in range(5 * MAX_SYNCHRONOUS):
            relay.push(change(str(number)))
            assert desk.done[-1] == str(number)
            await asyncio.sleep(0)


async def test_what_waits_is_not_overtaken() -> None:
    """While a handler waits, later changes are queued in order; afterwards changes are handled at once."""
    desk = Desk()
    async with relaying(desk) as (relay, _):
        for name in ("a", "slow", "b", "slower", "c"):
            relay.push(change(name))
            await asyncio.sleep(1)
        assert desk.done == ["a"]
        desk.gate.set()
        await asyncio.sleep(1)
        assert desk.done == ["a", "slow", "b", "slower", "c"]
        relay.push(change("d"))
        assert desk.done[-1] == "d"


async def test_what_was_there_and_long_batches_let_others_run() -> None:
    """Initial objects and bursts are handled in slices; only the first changes of a burst run in the informer."""
    desk = Desk()
    async with relaying(desk) as (relay, _):
        for number in range(3 * STEPS):
            relay.push(there(str(number)))
        relay.push(change("last"))
        assert desk.done == []
        portions, before = [], 0
        while before <= 3 * STEPS:
            await asyncio.sleep(0)
            portions.append(len(desk.done) - before)
            before = len(desk.done)
        assert max(portions) <= STEPS
        assert desk.done[-1] == "last"

        desk.done.clear()
        names = [str(number) for number in range(3 * MAX_SYNCHRONOUS)]
        for name in names:
            relay.push(change(name))
        assert desk.done == names[:MAX_SYNCHRONOUS]
        await asyncio.sleep(0.001)
        assert desk.done == names


@pytest.mark.parametrize(("name", "error"), [("bad", OSError), ("cancelled", asyncio.CancelledError)])
async def test_a_failure_ends_the_relay_and_not_the_informer(name: str, error: type[BaseException]) -> None:
    """A failing handler ends the relay without an error in the informer; the relay handles no later change."""
    desk = Desk()
    async with relaying(desk) as (relay, task):
        relay.push(change(name))
        relay.push(change("later"))
        with pytest.raises(error):
            await task
        assert desk.done == []


async def test_who_is_cancelled_drops_what_waits() -> None:
    """A cancelled relay drops changes that wait for their handler and marks them as dropped."""
    desk = Desk()
    async with relaying(desk) as (relay, _):
        relay.push(change("slow"))
    assert [each.is_dropped for each in desk.slow] == [True]


async def test_handlers_see_the_variables_of_their_program() -> None:
    """Handlers run in the context variables of their program, not in those of the informer."""
    variable = ContextVar("variable", default="nobody's")
    seen: list[str] = []

    def take(_: Change) -> None:
        seen.append(variable.get())

    variable.set("the program's")
    async with relaying(take) as (relay, _):
        variable.set("the informer's")
        relay.push(change("a"))
    assert seen == ["the program's"]


# --- on a cache ---


@asynccontextmanager
async def following(
    handler: Callable[[ObjectChange[ConfigMap]], Iterable[Request] | Awaitable[Iterable[Request]]],
    *,
    client: Client | None = None,
    cached: CachedClient | None = None,
) -> AsyncIterator[tuple[Client, CachedClient, Queue]]:
    """Run a source that follows ConfigMaps with a handler."""
    client = client or Client.connect(Config.in_process(ApiServer()))
    cached, queue = cached or CachedClient(Cache(client, random=Random(1)), client), Queue()
    cache = cached.cache
    cache.add_index(ConfigMap, "color", lambda found: [found.data["color"]] if "color" in found.data else [])
    source = KindSource(cached, ConfigMap, handler)
    running = [asyncio.create_task(cache.run()), asyncio.create_task(source.run(queue))]
    await source.wait_until_ready()
    try:
        yield client, cached, queue
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name, namespace="default"), data=data)


def asked(change: ObjectChange[ConfigMap]) -> list[Request]:
    return [Request("default", change.current.name)]


async def test_who_reconciles_finds_in_the_cache_what_it_was_told_of() -> None:
    """When a request is handed out, the cache has the object and its index entry, also after an older own write."""
    async with following(asked) as (client, cached, queue):
        for color in ("red", "blue", "green"):
            found = await cached.find(ConfigMap, Key("default", "a"))
            if found is None:
                await cached.create(config_map("a", color=color))
            else:
                await client.update(found.model_copy(update={"data": {"color": color}}))  # a write of another client
            async with queue.take() as turn:
                assert (await cached.get(ConfigMap, turn.request.key)).data == {"color": color}
                assert [each.key for each in await cached.list(ConfigMap, index=("color", color))] == [turn.request.key]
                turn.succeed()


async def test_handlers_that_wait_keep_the_order_of_changes() -> None:
    """Changes are handled in order, even if the handler of the first one waits for long."""
    begun: list[str] = []

    async def requests(change: ObjectChange[ConfigMap]) -> Iterable[Request]:
        begun.append(change.current.name)
        await asyncio.sleep(30 if change.current.name == "a" else 0)
        return asked(change)

    async with following(requests) as (client, _, queue):
        for name in "abc":
            await client.create(config_map(name))
        await asyncio.sleep(10)
        assert (begun, queue.statistics().ready) == (["a"], 0)
        await asyncio.sleep(30)
        assert [item.request.name for item in queue.items(10)] == ["a", "b", "c"]


async def test_a_handler_that_fails_costs_its_own_change_only(caplog: pytest.LogCaptureFixture) -> None:
    """Any exception in a handler loses its own change only: cache, source and the next change continue."""
    failures = {"a": OSError("not now"), "b": asyncio.CancelledError()}

    def requests(change: ObjectChange[ConfigMap]) -> Iterable[Request]:
        if (failure := failures.get(change.current.name)) is not None:
            raise failure
        return asked(change)

    async with following(requests) as (client, cached, queue):
        for name in "abc":
            await client.create(config_map(name))
        await asyncio.sleep(1)
        assert [item.request.name for item in queue.items(10)] == ["c"]
        assert len(await cached.list(ConfigMap)) == 3
        assert cached.cache.informer(ConfigMap).error is None
    assert caplog.messages.count("A handler failed, the change is lost") == 2


def late_secrets(fault: Answered) -> tuple[Client, CachedClient]:
    """Return a client, and a cached client whose lists of Secrets fail so."""
    network = FaultyTransport(InProcessTransport(ApiServer()))
    network.add(Rule(fault, method="GET", path="*/secrets", times=None if fault is REFUSED else 3))
    client = Client(network)
    cached = CachedClient(Cache(client, random=Random(1)), client)
    cached.cache.informer(Secret)
    return client, cached


UNAVAILABLE = Answered.too_many_requests(retry_after=2)
REFUSED = Answered(status=403, reason="Forbidden")


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_handler_that_reads_too_early_is_called_again(is_async: bool, caplog: pytest.LogCaptureFixture) -> None:
    """A change is not lost when its handler reads a kind whose first list comes late."""
    client, cached = late_secrets(UNAVAILABLE)

    async def waiting(change: ObjectChange[ConfigMap]) -> Iterable[Request]:
        await cached.find(Secret, Key("default", "a"))
        return asked(change)

    def at_once(change: ObjectChange[ConfigMap]) -> Iterable[Request]:
        cached.cache.informer(Secret).find(Key("default", "a"))
        return asked(change)

    await client.create(config_map("a"))
    async with following(waiting if is_async else at_once, client=client, cached=cached) as (_, _, queue):
        assert cached.cache.informer(Secret).is_synced, "the source waits for its handler"
        await client.create(config_map("b"))
        await asyncio.sleep(1)
        assert [item.request.name for item in queue.items(10)] == ["b", "a"]
    assert HANDLER_FAILED not in caplog.messages


async def test_a_handler_that_reads_what_never_comes_loses_its_change(caplog: pytest.LogCaptureFixture) -> None:
    """A handler does not wait for a list that is forbidden: its change is lost, with a line in the log."""
    client, cached = late_secrets(REFUSED)

    async def waiting(change: ObjectChange[ConfigMap]) -> Iterable[Request]:
        await cached.find(Secret, Key("default", "a"))
        return asked(change)

    await client.create(config_map("a"))
    async with following(waiting, client=client, cached=cached) as (_, _, queue):
        assert queue.items(10) == []
    assert caplog.messages.count(HANDLER_FAILED) == 1
