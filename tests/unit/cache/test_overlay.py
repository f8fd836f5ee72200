"""Own writes before their events arrive."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from pyctrl.cache import CachedClient, KindOptions, Selector
from pyctrl.cache._overlay import Overlay
from pyctrl.cache._store import Store
from pyctrl.client import HttpRequest, HttpResponse, HttpStream, InProcessTransport, MergePatch, Transport
from pyctrl.errors import NotCovered
from pyctrl.testing import Rule, Silent
from tests.unit.cache._kit import CONFIGMAP, DEAF, config_map, key, lab, record, until


async def test_an_object_with_finalizers_is_seen_going_until_they_are_removed() -> None:
    """A delete with finalizers shows the deletion timestamp; without the last finalizer the object is gone."""
    async with lab([DEAF]) as it:
        client = CachedClient(it.cache, it.client)
        await it.cache.wait_for_sync()
        made = config_map("held")
        made.metadata.finalizers = ["example.com/hold"]
        await client.create(made)
        await client.delete(CONFIGMAP, key("held"))
        held = await client.get(CONFIGMAP, key("held"))
        assert held.metadata.deletion_timestamp is not None
        held.metadata.finalizers = []
        await client.update(held)
        assert await client.find(CONFIGMAP, key("held")) is None


async def test_a_name_that_is_used_again_shows_the_new_object() -> None:
    """After a delete and a create, the cache shows the new uid before the events of either arrive."""
    async with lab([DEAF]) as it:
        client = CachedClient(it.cache, it.client)
        await it.cache.wait_for_sync()
        before = await client.get(CONFIGMAP, key("a"))
        await client.delete(CONFIGMAP, key("a"))
        made = await client.create(config_map("a"))
        assert (await client.get(CONFIGMAP, key("a"))).metadata.uid == made.metadata.uid != before.metadata.uid


async def test_the_overlay_is_empty_once_the_informer_has_caught_up() -> None:
    """Own writes whose events have arrived take no memory."""
    async with lab() as it:
        client = CachedClient(it.cache, it.client)
        await it.cache.wait_for_sync()
        for number in range(20):
            await client.create(config_map(f"n{number}"))
        await client.delete(CONFIGMAP, key("a"))
        await asyncio.sleep(5)
        assert it.cache.statistics()[0].own_writes == 0
        assert len(await it.names()) == 21


async def test_a_write_that_takes_an_object_out_of_the_selection_hides_it() -> None:
    """An object that an own write moves out of the selectors is no longer shown."""
    options = KindOptions(selectors=[Selector(labels="app=x")])
    deaf = Rule(Silent(lines=2), path="*/configmaps", query={"watch": "true"}, times=None)
    async with lab([deaf], options=options, before=()) as it:
        client = CachedClient(it.cache, it.client)
        await it.direct.create(config_map("mine", labels={"app": "x"}))
        await it.cache.wait_for_sync()
        await until(lambda: len(it.cache.informer(CONFIGMAP).lister.store) == 1)
        await client.patch(CONFIGMAP, key("mine"), MergePatch({"metadata": {"labels": {"app": "z"}}}))
        assert list(await client.list(CONFIGMAP, labels="app=x")) == []
        with pytest.raises(NotCovered):
            await client.find(CONFIGMAP, key("mine"))


def test_the_number_of_own_writes_that_are_kept_is_bounded() -> None:
    """While a watch is down the oldest own writes are given up and counted."""
    overlay = Overlay(Store(), limit=2)
    for number in range(3):
        overlay.wrote(record(f"n{number}", number + 1), waiting=1, bringing=1)

    assert [each.name for each in overlay.select()] == ["n1", "n2"]
    assert (len(overlay), overlay.overflowed) == (2, 1)


class Late:
    """A transport that holds back the answers of requests with a method, after the server has acted."""

    def __init__(self) -> None:
        self.inner: Transport
        self.answers = {method: asyncio.Event() for method in ("POST", "PUT", "DELETE")}

    async def request(self, request: HttpRequest) -> HttpResponse:
        response = await self.inner.request(request)
        if request.method in self.answers:
            await self.answers[request.method].wait()
        return response

    def stream(
        self, request: HttpRequest, *, idle_timeout: float | None = None
    ) -> AbstractAsyncContextManager[HttpStream]:
        return self.inner.stream(request, idle_timeout=idle_timeout)

    async def aclose(self) -> None: ...


def deaf_after(names: Sequence[str]) -> Rule:
    """Return a rule by which the watch shows these objects and nothing more."""
    return Rule(Silent(lines=len(names) + 1), path="*/configmaps", query={"watch": "true"}, times=None)


async def sent(write: Coroutine[Any, Any, object]) -> asyncio.Task[object]:
    """Begin a write, and return when the server has acted."""
    task = asyncio.create_task(write)
    await asyncio.sleep(1)
    return task


@pytest.mark.parametrize("is_known", [True, False], ids=["cached", "not cached yet"])
@pytest.mark.parametrize("order", [("PUT", "DELETE"), ("DELETE", "PUT")], ids=str)
async def test_own_update_then_own_delete(order: tuple[str, str], is_known: bool) -> None:
    """After the answer of an own delete the object is never readable again, whenever an earlier update is answered."""
    late, before = Late(), ("a",) if is_known else ()
    async with lab([deaf_after(before)], transport=late, before=before) as it:
        late.inner = InProcessTransport(it.server)
        client = CachedClient(it.cache, it.client)
        await it.cache.wait_for_sync()
        if not is_known:
            await it.create("a")
        update = await sent(client.update(it.object("a", k="1")))
        delete = await sent(client.delete(CONFIGMAP, key("a")))
        for method in order:
            late.answers[method].set()
            await asyncio.sleep(1)
            if delete.done():
                assert await client.find(CONFIGMAP, key("a")) is None
                assert await it.names() == []
        assert update.done()


@pytest.mark.parametrize("rules", [[deaf_after(["a"])], []], ids=["deaf", "watching"])
@pytest.mark.parametrize("is_own", [True, False], ids=["own", "of another"])
async def test_a_late_answer_of_a_delete(rules: list[Rule], is_own: bool) -> None:
    """The answer of a delete that comes late does not hide a new object of the same name, own or of another process."""
    late = Late()
    async with lab(rules, transport=late, before=("a",)) as it:
        late.inner = InProcessTransport(it.server)
        client = CachedClient(it.cache, it.client)
        await it.cache.wait_for_sync()
        delete = await sent(client.delete(CONFIGMAP, key("a")))
        late.answers["POST"].set()
        made = await (client if is_own else it.direct).create(config_map("a"))
        await asyncio.sleep(1)
        late.answers["DELETE"].set()
        await delete
        if is_own or not rules:
            assert (await client.get(CONFIGMAP, key("a"))).metadata.uid == made.metadata.uid
            assert await it.names() == ["a"]
        else:  # nothing has shown the new object, but the old one is gone
            assert await client.find(CONFIGMAP, key("a")) is None
