"""What a run reads, and the changes that come while it runs."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager

from pyctrl.api import Key
from pyctrl.apiserver import ApiServer
from pyctrl.client import (
    Client,
    HttpRequest,
    HttpResponse,
    HttpStream,
    InProcessTransport,
    Transport,
    merge_from,
)
from pyctrl.controller import Builder, Request, reading
from pyctrl.errors import PyctrlError
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from tests.unit.controller._hosts import PlainHost, config_map, make_host, running, settle
from tests.unit.controller.reads._readers import Readers, secret


async def test_a_change_between_the_read_and_the_end_of_the_run_is_not_lost() -> None:
    """A run that has read an old state runs once more after its end."""
    host, seen, has_read, may_end = make_host(), list[bool](), asyncio.Event(), asyncio.Event()

    async def read(readers: Readers, request: Request) -> None:
        found = await readers.client.find(Secret, Key("default", "db"))
        seen.append(found is not None)
        has_read.set()
        await may_end.wait()

    Builder(host).build(Readers(read))
    async with running(host) as client:
        await client.create(config_map("web"))
        await has_read.wait()
        await client.create(secret("db"))
        await settle()
        assert seen == [False]
        may_end.set()
        await settle()
    assert seen == [False, True]


async def test_an_own_write_whose_event_comes_during_the_run_does_not_run_it_again() -> None:
    """A run that goes on after its write, so that the event comes before its end, is not repeated."""

    async def read(readers: Readers, request: Request) -> None:
        if await readers.client.find(Secret, Key("default", "made")) is None:
            await readers.client.create(secret("made"))
            await asyncio.sleep(1)

    host, readers = make_host(), Readers(read)
    Builder(host).build(readers)
    async with running(host) as client:
        await client.create(config_map("web"))
        await settle()
        assert readers.take() == ["web"]


async def test_reads_by_other_tasks_of_the_reconcile_count() -> None:
    """A task group inside of a reconcile reads for its request; a task that outlives the run does not."""
    late = asyncio.Event()

    async def outlive(readers: Readers) -> None:
        await late.wait()
        await readers.client.find(Secret, Key("default", "later"))

    outliving: list[asyncio.Task[None]] = []

    async def read(readers: Readers, request: Request) -> None:
        async with asyncio.TaskGroup() as group:
            for name in ("a", "b"):
                group.create_task(readers.client.find(Secret, Key("default", name)))
        if not outliving:
            outliving.append(asyncio.create_task(outlive(readers)))

    host, readers = make_host(), Readers(read)
    controller = Builder(host).build(readers)
    async with running(host) as client:
        await client.create(config_map("web"))
        await settle()
        late.set()
        await settle()
        reads = [str(each) for each in controller.subscriptions.reads_of(Request("default", "web"))]
        assert reads == ["Secret default/a", "Secret default/b"]
        await outliving[0]
        readers.take()
        await client.create(secret("later"))
        await settle()
        assert readers.take() == []
        await client.create(secret("b"))
        await settle()
        assert readers.take() == ["web"]


async def test_live_reads_do_not_subscribe() -> None:
    """What the server has answered does not cause a reconcile when it changes."""

    async def read(readers: Readers, request: Request) -> None:
        await readers.client.live.find(Secret, Key("default", "db"))

    host, readers = make_host(), Readers(read)
    controller = Builder(host).build(readers)
    async with running(host) as client:
        await client.create(config_map("web"))
        await settle()
        await client.create(secret("db"))
        await settle()
        assert readers.take() == ["web"]
        assert len(controller.subscriptions) == 0


async def test_a_kind_that_is_synced_late_runs_those_that_had_to_do_without() -> None:
    """A reconcile that cannot read a kind yet, and goes on without it, runs again once the kind is synced."""

    async def read(readers: Readers, request: Request) -> None:
        try:
            await readers.client.find(Secret, Key("default", "db"))
        except PyctrlError:
            readers.runs.append("without")

    host, readers = make_host(), Readers(read)
    readers.reads = (reading(Secret, optional=True),)  # type: ignore[assignment]
    controller = Builder(host).build(readers)
    informer = host.cache.informer(Secret)
    async with asyncio.TaskGroup() as group:
        # the informer of ConfigMap alone, as if Secrets were served later
        alone = group.create_task(host.cache.informer(ConfigMap).run())
        await host.live_client.create(config_map("web"))
        await settle()
        observer = controller.subscriptions.begin(Request("default", "web"))
        observer.not_answered(informer.gvk, informer)
        controller.subscriptions.end(observer, None)
        assert len(controller.subscriptions) == 1
        source = controller.sources[-1]
        following = group.create_task(source.run(controller.queue))
        synced = group.create_task(informer.run())
        await settle()
        assert controller.queue.remaining() == [Request("default", "web")]
        for task in (alone, following, synced):
            task.cancel()


class LateAnswers:
    """A transport whose writes are answered half a second after they took effect."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner

    async def request(self, request: HttpRequest) -> HttpResponse:
        response = await self._inner.request(request)
        if request.method != "GET":
            await asyncio.sleep(0.5)
        return response

    def stream(
        self, request: HttpRequest, *, idle_timeout: float | None = None
    ) -> AbstractAsyncContextManager[HttpStream]:
        return self._inner.stream(request, idle_timeout=idle_timeout)

    async def aclose(self) -> None:
        await self._inner.aclose()


async def test_an_own_write_whose_event_comes_before_its_answer_does_not_run_it_again() -> None:
    """The event of an own write that overtakes the answer of the write causes no reconcile."""

    async def read(readers: Readers, request: Request) -> None:
        found = await readers.client.find(Secret, Key("default", "made"))
        if found is None:
            await readers.client.create(secret("made"))
        elif not found.metadata.labels:
            before = found.deep_copy()
            found.metadata.labels["seen"] = "yes"
            await readers.client.patch(found, merge_from(before))

    host, readers = PlainHost(Client(LateAnswers(InProcessTransport(ApiServer())))), Readers(read)
    Builder(host).build(readers)
    async with running(host) as client:
        web = await client.create(config_map("web"))
        await settle()
        assert readers.take() == ["web"]
        web.data["x"] = "y"
        await client.update(web)
        await settle()
        assert readers.take() == ["web"]
