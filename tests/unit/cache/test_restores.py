"""Servers restored from an older etcd backup: the cache detects the restore and drops later objects."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from pyctrl.api import Key, ObjectMeta
from pyctrl.apiserver import ApiServer
from pyctrl.cache import Cache, Created, Deleted, Synced, Updated
from pyctrl.client import ApplicationResponse, Client, InProcessTransport, MergePatch
from pyctrl.kinds.core.v1 import ConfigMap
from pyctrl.testing import Answered, Rule
from tests.unit.cache._kit import CONFIGMAP, SECOND, Mirror, body, lab, until
from tests.unit.cache._scripted import END, Wire, bookmark, cache_on, event, page, streamed

BEFORE = streamed(100, body("kept", 50), body("changed", 90), body("ghost", 95))
RESTORED = streamed(60, body("kept", 50), body("changed", 40), body("back", 45))


async def _is_restored(cache: Cache, changes: Mirror) -> None:
    """Check that the cache matches the server and has notified its subscribers."""
    await until(lambda: cache.statistics()[0].relists == 1)
    found = {each.metadata.name: each.metadata.resource_version for each in await cache.list(CONFIGMAP)}
    assert found == {"kept": "50", "changed": "40", "back": "45"}
    told = {(type(each), each.key.name) for each in changes.changes if not isinstance(each, Synced)}
    initial = {(Created, "kept"), (Created, "changed"), (Created, "ghost")}
    assert told - initial == {(Updated, "changed"), (Created, "back"), (Deleted, "ghost")}


@pytest.mark.parametrize(
    "rest",
    [[], [bookmark(101), END], [bookmark(70)], [event("MODIFIED", body("changed", 61))]],
    ids=["silence", "an end", "a bookmark", "an event"],
)
async def test_a_server_that_goes_back_is_listed_again(rest: list[bytes]) -> None:
    """After silence, an end without events, or a lower version, the versions are compared and the store is replaced."""
    wire = Wire([*BEFORE, *rest], *([[END]] if END in rest else []), RESTORED, pages=[page(60)])
    async with cache_on(wire) as cache:
        mirror = Mirror()
        with cache.informer(CONFIGMAP).notifying(mirror):
            await _is_restored(cache, mirror)
        assert wire.lists == [{"limit": "1"}]


@pytest.mark.parametrize("line", [bookmark(70), event("MODIFIED", body("changed", 61))], ids=["a bookmark", "an event"])
async def test_a_lower_version_is_looked_into_at_once(line: bytes) -> None:
    """A watch that sends a lower version is not trusted until it ends: events of the restored server would be lost."""
    wire = Wire([*BEFORE, line], RESTORED, pages=[page(60)])
    async with cache_on(wire) as cache:
        await until(lambda: cache.statistics()[0].relists == 1, within=5)


async def test_own_writes_from_before_a_restore_are_forgotten() -> None:
    """Own writes that are not in the backup are no longer read."""
    wire = Wire(BEFORE, RESTORED, pages=[page(60)])
    async with cache_on(wire) as cache:
        await cache.wait_for_sync(timeout=5 * SECOND)
        cache.informer(CONFIGMAP).lister.wrote(body("written", 101))
        assert await cache.find(CONFIGMAP, Key("default", "written")) is not None
        await until(lambda: cache.statistics()[0].relists == 1)
        assert await cache.find(CONFIGMAP, Key("default", "written")) is None
        assert cache.statistics()[0].own_writes == 0


async def test_a_server_that_is_further_is_only_watched_again() -> None:
    """If only the connection was lost, the watch resumes without a list."""
    wire = Wire([*BEFORE, END], pages=[page(120)])
    async with cache_on(wire) as cache:
        await until(lambda: len(wire.watches) == 3)
        assert cache.statistics()[0].relists == 0
        assert wire.watches[1]["resourceVersion"] == "100"


async def test_a_watch_that_ended_in_time_without_an_event_is_compared() -> None:
    """A watch that lasted and brought nothing is no failure, but the server may have gone back meanwhile."""
    wire = Wire([*BEFORE, END], [], RESTORED, pages=[page(60)])
    async with cache_on(wire) as cache:
        await until(lambda: len(wire.watches) == 2)
        await asyncio.sleep(30)
        wire.say(END)
        await until(lambda: cache.statistics()[0].relists == 1, within=5)
        assert wire.lists == [{"limit": "1"}]


async def test_a_watch_that_moves_is_not_compared() -> None:
    """Rising bookmarks suffice: a healthy watch costs no further request."""
    wire = Wire([*BEFORE, bookmark(110), END], [bookmark(120), END], [bookmark(130)])
    async with cache_on(wire) as cache:
        await until(lambda: len(wire.watches) == 3)
        assert wire.lists == []
        assert cache.stalled == ()


async def test_versions_that_are_no_numbers_are_not_compared() -> None:
    """A server with non-numeric versions is followed without comparison."""
    opaque = event("BOOKMARK", b'{"metadata":{"resourceVersion":"b"}}')
    pages = [page(5)]
    wire = Wire([*BEFORE, opaque, END], [END], pages=pages)
    async with cache_on(wire) as cache:
        await until(lambda: len(wire.watches) == 3)
        assert cache.statistics()[0].relists == 0


async def test_a_kind_that_does_not_move_although_the_server_does_is_reported_and_listed() -> None:
    """A kind without bookmarks while the server advances is reported as stalled and listed again."""
    wire = Wire([*BEFORE, bookmark(110)], [], streamed(155), pages=[page(150)])
    async with cache_on(wire) as cache:
        await until(lambda: cache.stalled == (CONFIGMAP,))
        await until(lambda: cache.statistics()[0].relists == 1)
        assert len(wire.watches) == 3
        assert cache.statistics()[0].is_stalled
        wire.say(bookmark(160))
        await until(lambda: cache.stalled == ())


async def test_a_quiet_server_does_not_count_as_stalled() -> None:
    """A quiet server does not count as stalled."""
    async with lab() as it:
        await asyncio.sleep(3600)
        assert it.cache.stalled == ()
        assert it.cache.statistics()[0].relists == 0


class _Etcd:
    """An API server whose storage can be replaced while connections are open."""

    def __init__(self, server: ApiServer) -> None:
        self.server = server

    async def handle(
        self, method: str, path: str, query: Sequence[tuple[str, str]], headers: Mapping[str, str], body: bytes
    ) -> ApplicationResponse:
        return await self.server.handle(method, path, query, headers, body)


async def test_a_backup_that_is_restored_under_a_running_cache_is_what_it_shows() -> None:
    """After a restore the cache drops objects created after the backup and reverts changed ones."""
    now, backup = ApiServer(), ApiServer()
    etcd = _Etcd(now)
    client = Client(InProcessTransport(now))
    for server, names in ((backup, ("a", "b")), (now, ("a", "b", "c", "d"))):
        for name in names:
            await Client(InProcessTransport(server)).create(
                ConfigMap(metadata=ObjectMeta.from_wire({"name": name, "namespace": "default"}), data={"of": name})
            )
    await client.patch(ConfigMap, Key("default", "a"), MergePatch({"data": {"of": "later"}}))
    await client.delete(ConfigMap, Key("default", "b"))
    async with lab(transport=InProcessTransport(etcd), before=()) as it:
        await it.cache.wait_for_sync()
        assert await it.names() == ["a", "c", "d"]
        etcd.server = backup
        await until(lambda: it.cache.statistics()[0].relists == 1)
        assert await it.names() == ["a", "b"]
        assert (await it.cache.get(ConfigMap, Key("default", "a"))).data == {"of": "a"}
        restored = Client(InProcessTransport(backup))
        await restored.create(ConfigMap(metadata=ObjectMeta.from_wire({"name": "new", "namespace": "default"})))

        async def has_news() -> bool:
            return await it.names() == ["a", "b", "new"]

        await until(has_news, within=60)


async def test_a_server_that_asks_to_wait_for_a_day_is_asked_again_within_a_minute() -> None:
    """Lists and watches wait for 30 seconds at most for a Retry-After, in addition to their backoff."""
    rule = Rule(Answered.unavailable(retry_after=86400), path="*/configmaps", query={"watch": "true"})
    async with lab([rule]) as it:
        await it.cache.wait_for_sync(timeout=35 * SECOND)
        assert len(it.watches) == 2
