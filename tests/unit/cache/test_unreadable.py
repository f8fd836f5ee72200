"""Objects that cannot be decoded affect only reads of themselves."""

from __future__ import annotations

import asyncio

import pytest

from pyctrl.api import Key, Metadata
from pyctrl.cache import Cache, Created, Deleted, Synced, Updated
from pyctrl.client import Headers, HttpResponse
from pyctrl.errors import DecodeError, NotFound
from pyctrl.kinds.core.v1 import ConfigMap
from tests.unit.cache._kit import CONFIGMAP, SECOND, body, until
from tests.unit.cache._scripted import END, Wire, bookmark, cache_on, event, page

DEEP = Key("default", "deep")
NO_STREAMS = event("ERROR", b'{"kind":"Status","code":422,"reason":"Invalid"}')


def nested(version: int = 5, *, levels: int = 20_000) -> bytes:
    """Return an object that msgspec cannot scan, with managed fields amid metadata as kube-apiserver writes."""
    return (
        b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"labels":{"a":"b"},'
        b'"managedFields":[{"fieldsV1":%s,"manager":"test"}],"name":"deep","namespace":"default",'
        b'"resourceVersion":"%d","uid":"u"},"spec":%s}'
        % (b'{"f:a":' * levels + b"1" + b"}" * levels, version, b"[" * levels + b"]" * levels)
    )


def added(name: str, version: int) -> bytes:
    """Return the event of an object that decodes."""
    return event("ADDED", body(name, version, data={"x": "1"}))


async def _is_survived(cache: Cache, *others: str) -> None:
    """Check that all other objects are present and that reads of this object raise the decoding error."""
    await cache.wait_for_sync(timeout=5 * SECOND)
    await asyncio.sleep(0.1)
    for name in others:
        assert (await cache.get(ConfigMap, Key("default", name))).metadata.name == name
    for kind in (CONFIGMAP, ConfigMap):
        with pytest.raises(DecodeError, match=r"ConfigMap default/deep .*nested deeper"):
            await cache.get(kind, DEEP)
    with pytest.raises(NotFound):
        await cache.get(CONFIGMAP, Key("default", "none"))


@pytest.mark.parametrize(
    "script",
    [
        [added("a", 1), event("ADDED", nested()), added("b", 9), bookmark(9, ends_list=True)],
        [added("a", 1), bookmark(2, ends_list=True), event("ADDED", nested()), added("b", 9)],
        [added("a", 1), bookmark(2, ends_list=True), event("ADDED", nested()) + added("b", 9)],
        [added("a", 1), added("b", 4), bookmark(4, ends_list=True), event("MODIFIED", nested())],
    ],
    ids=["in a list", "in a watch", "among other lines", "the last"],
)
async def test_an_event_that_cannot_be_decoded_stops_nothing_else(
    script: list[bytes], caplog: pytest.LogCaptureFixture
) -> None:
    """Other objects arrive without another request, one warning names the bad object, and statistics count it."""
    wire = Wire(script)
    async with cache_on(wire) as cache:
        await _is_survived(cache, "a", "b")
        assert len(wire.requests) == 1
        logged = [vars(r) for r in caplog.records]
        assert [(r["levelname"], r["namespace"], r["object"], r["resource_version"]) for r in logged] == [
            ("WARNING", "default", "deep", 5)
        ]
        assert cache.statistics()[0].unreadable == 1
        assert "default/deep (resource version 5): it is nested deeper" in cache.unreadable[CONFIGMAP]
        assert cache.problems == {}


async def test_a_watch_goes_on_after_an_event_that_cannot_be_decoded() -> None:
    """The next watch starts at the version of the event that cannot be decoded."""
    wire = Wire([added("a", 1), bookmark(2, ends_list=True), event("ADDED", nested(7)), END])
    async with cache_on(wire) as cache:
        await _is_survived(cache, "a")
        await until(lambda: len(wire.watches) == 2)
        assert wire.watches[1]["resourceVersion"] == "7"


async def test_a_page_with_an_object_that_cannot_be_decoded_is_read() -> None:
    """A list in pages returns the other objects; reading the bad one raises an error with the reason."""
    wire = Wire([NO_STREAMS], pages=[page(9, body("a", 1), nested(), body("b", 2))])
    async with cache_on(wire) as cache:
        await _is_survived(cache, "a", "b")
        assert cache.statistics()[0].unreadable == 1


async def test_a_page_that_is_cut_off_deletes_nothing() -> None:
    """A truncated page with a deep object is rejected as a list and deletes nothing."""
    whole = page(9, body("a", 1), nested(), body("b", 2))
    cut = HttpResponse(status=200, headers=Headers(), body=whole.body.replace(b"]}", b""))
    wire = Wire([NO_STREAMS], pages=[cut, whole])
    async with cache_on(wire) as cache:
        await until(lambda: cache.informers[0].is_synced)
        await _is_survived(cache, "a", "b")


async def test_lists_hold_the_object_by_its_name() -> None:
    """A list includes the object; only access to its undecodable parts raises."""
    async with cache_on(Wire([added("a", 1), event("ADDED", nested()), bookmark(9, ends_list=True)])) as cache:
        await _is_survived(cache, "a")
        typed = {each.metadata.name: each for each in await cache.list(ConfigMap)}
        untyped = {each.metadata.name: each for each in await cache.list(CONFIGMAP)}
        assert sorted(typed) == sorted(untyped) == ["a", "deep"]
        with pytest.raises(DecodeError, match="recursion"):
            _ = typed["deep"].data
        with pytest.raises(DecodeError, match="nested deeper"):
            _ = untyped["deep"]["data"]
        with pytest.raises(DecodeError):
            typed["deep"].to_json()
        with pytest.raises(DecodeError):
            untyped["deep"].to_json()
        assert (await cache.get(Metadata[ConfigMap], DEEP)).metadata.labels == {"a": "b"}
        assert [each.metadata.name for each in await cache.list(CONFIGMAP, labels="a=b")] == ["deep"]
        assert [each.metadata.name for each in await cache.list(CONFIGMAP, fields={"data.x": "1"})] == ["a"]


async def test_an_object_that_is_repaired_is_no_trouble_any_more() -> None:
    """A later version that decodes is read normally, and subscribers get an update."""
    wire = Wire([event("ADDED", nested()), bookmark(9, ends_list=True)])
    async with cache_on(wire) as cache:
        await _is_survived(cache)
        with cache.informer(CONFIGMAP).subscribe() as changes:
            wire.say(event("MODIFIED", body("deep", 10, uid="u", data={"x": "1"})))
            await until(lambda: cache.unreadable == {})
            assert [type(await anext(changes)) for _ in range(len(changes))] == [Created, Synced, Updated]
        assert (await cache.get(ConfigMap, DEEP)).data == {"x": "1"}
        assert cache.statistics()[0].unreadable == 0


@pytest.mark.parametrize("last", [nested(10), body("deep", 10, uid="u")], ids=["not decodable either", "decodable"])
async def test_an_object_that_is_deleted_is_no_trouble_any_more(last: bytes) -> None:
    """A deletion removes the object from the cache, whether its last state decodes or not."""
    wire = Wire([event("ADDED", nested()), bookmark(9, ends_list=True)])
    async with cache_on(wire) as cache:
        await _is_survived(cache)
        with cache.informer(CONFIGMAP).subscribe() as changes:
            wire.say(event("DELETED", last))
            await until(lambda: cache.unreadable == {})
            assert [type(await anext(changes)) for _ in range(len(changes))] == [Created, Synced, Deleted]
        assert await cache.find(CONFIGMAP, DEEP) is None


async def test_a_list_without_the_object_takes_it_out() -> None:
    """An object missing from the next list is removed from the cache."""
    expired = event("ERROR", b'{"kind":"Status","code":410,"reason":"Expired"}')
    first = [added("a", 1), event("ADDED", nested()), bookmark(9, ends_list=True), expired]
    async with cache_on(Wire(first, [added("a", 1), bookmark(20, ends_list=True)])) as cache:
        await _is_survived(cache, "a")
        await until(lambda: cache.statistics()[0].relists == 1)
        assert cache.unreadable == {}
        assert await cache.find(CONFIGMAP, DEEP) is None


async def test_what_has_no_name_is_left_out_after_a_list() -> None:
    """An event without a name is requested again, then listed, then skipped and counted."""
    nameless = event("ADDED", b'{"metadata":{"name":5,"resourceVersion":"7"}}')
    synced = [added("a", 1), bookmark(2, ends_list=True)]
    wire = Wire([*synced, nameless], [nameless], synced, [])
    async with cache_on(wire) as cache:
        await until(lambda: len(wire.watches) == 3)
        assert cache.unreadable == {}
        wire.say(nameless, added("b", 9))
        await until(lambda: len(wire.watches) == 4)
        wire.say(nameless, added("b", 9))
        await until(lambda: cache.statistics()[0].unreadable == 1)
        assert "1 without a readable name: " in cache.unreadable[CONFIGMAP]
        assert (await cache.get(CONFIGMAP, Key("default", "b"))).metadata.name == "b"
        assert cache.statistics()[0].relists == 1


async def test_a_bookmark_that_cannot_be_decoded_counts_by_its_version() -> None:
    """A deep bookmark ends a list, because its metadata can be read."""
    deep = b'{"metadata":{"annotations":{"k8s.io/initial-events-end":"true"},"resourceVersion":"9"},"x":%s}'
    line = event("BOOKMARK", deep % (b"[" * 20_000 + b"]" * 20_000))
    wire = Wire([added("a", 1), line, added("b", 10) + line.replace(b'"9"', b'"12"'), END])
    async with cache_on(wire) as cache:
        await cache.wait_for_sync(timeout=5 * SECOND)
        assert await cache.find(CONFIGMAP, Key("default", "a"))
        await until(lambda: len(wire.watches) == 2)
        assert wire.watches[1]["resourceVersion"] == "12"
        assert wire.lists == []
