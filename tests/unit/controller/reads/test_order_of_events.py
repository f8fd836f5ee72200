"""Subscriptions when events and answers of writes come in an unusual order, or not at all."""

from __future__ import annotations

import asyncio
from contextlib import AbstractAsyncContextManager

from pyctrl.api import Key
from pyctrl.apiserver import ApiServer
from pyctrl.client import (
    Client,
    Config,
    HttpRequest,
    HttpResponse,
    HttpStream,
    InProcessTransport,
    Transport,
    merge_from,
)
from pyctrl.controller import Builder, Request
from pyctrl.kinds.core.v1 import ConfigMap, Secret
from pyctrl.testing import Answered, ConnectionRefused, FaultyTransport, Rule
from tests.unit.controller._hosts import PlainHost, config_map, running, settle
from tests.unit.controller.reads._readers import Readers, secret

SECRETS = "*/secrets"


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


async def test_a_change_by_others_that_only_a_list_shows_is_not_taken_for_the_own_write_after_it() -> None:
    """A foreign change and an own write that a list shows as one run the request again."""
    seen: list[str] = []

    async def read(readers: Readers, request: Request) -> None:
        owner = await readers.client.get(ConfigMap, request.key)
        found = await readers.client.find(Secret, Key("default", "db"))
        if found is None:
            return
        seen.append(found.metadata.annotations.get("by", ""))
        if "write" in owner.data and "x" not in found.metadata.labels:
            before = found.deep_copy()
            found.metadata.labels["x"] = "y"
            await readers.client.patch(found, merge_from(before))

    server = ApiServer()
    network, others = FaultyTransport(InProcessTransport(server)), Client.connect(Config.in_process(server))
    host = PlainHost(Client(network))
    Builder(host).build(Readers(read))
    async with running(host) as client:
        db = await others.create(secret("db"))
        web = await client.create(config_map("web"))
        await settle()
        network.add(Rule(ConnectionRefused(), path=SECRETS, method="GET", times=None))
        await _cut_watches(host)
        db.metadata.annotations["by"] = "others"
        await others.update(db)
        web.data["write"] = "yes"
        await client.update(web)
        await settle()
        assert seen[-1] == ""
        network.clear()
        network.add(Rule(Answered.expired(), path=SECRETS, query={"watch": "true"}))
        await asyncio.sleep(120)
    assert seen[-1] == "others"


async def _cut_watches(host: PlainHost) -> None:
    """Let the present watches end: they last five minutes at most, and the next ones are refused."""
    await asyncio.sleep(600)
