"""Failing lists and watches, in virtual time: no lost events, no duplicates, no tight loops."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from random import Random

import pytest

from pyctrl.api import Unstructured
from pyctrl.apiserver import ApiServer
from pyctrl.cache import Cache
from pyctrl.cache._reflector import WATCH_SILENCE, IdleTimeout
from pyctrl.client import Client, InProcessTransport
from pyctrl.testing import (
    Answered,
    AnswerLost,
    Broken,
    ConnectionRefused,
    Ended,
    Fault,
    FaultyTransport,
    Inserted,
    Repeated,
    Rule,
    Silent,
)
from tests.unit.cache._kit import CONFIGMAP, SECOND, Lab, Mirror, body, lab, until
from tests.unit.cache._scripted import END, Wire, bookmark, cache_on, event, streamed

WATCH = {"watch": "true"}
STREAM = {"watch": "true", "sendInitialEvents": "true"}
RESUMED = {"watch": "true", "allowWatchBookmarks": "true"}
CONFIGMAPS = "*/configmaps"


def on_list(fault: Fault, *, times: int | None = 1) -> Rule:
    """A fault of streamed lists."""
    return Rule(fault, path=CONFIGMAPS, query=STREAM, times=times)


def on_watch(fault: Fault, *, nth: int = 1, times: int | None = 1) -> Rule:
    """A fault of every watch, including streamed lists."""
    return Rule(fault, path=CONFIGMAPS, query=WATCH, nth=nth, times=times)


NO_STREAMS = on_list(Answered(status=422, reason="Invalid"), times=None)


async def _converges(it: Lab, *, within: float = 120.0) -> Mirror:
    """Change objects and check that the cache and its subscribers receive exactly these changes."""
    mirror = Mirror()
    with it.cache.informer(CONFIGMAP).subscribe() as changes:
        await it.create("new")
        await it.update("a", changed="yes")
        await it.direct.delete(CONFIGMAP, it.object("b").key)

        async def is_there() -> bool:
            return await it.names() == ["a", "new"]

        await it.cache.wait_for_sync(timeout=within * SECOND)
        await until(is_there, within=within)
        await asyncio.sleep(0)
        while len(changes):
            mirror.push(await anext(changes))
    assert sorted(name for _, name in mirror.versions) == ["a", "new"]
    assert (await it.cache.get(CONFIGMAP, it.object("a").key))["data"] == {"changed": "yes"}
    return mirror


async def test_a_list_comes_as_a_stream_and_the_watch_goes_on_from_it() -> None:
    """One request serves the list and the watch after it."""
    async with lab() as it:
        await it.cache.wait_for_sync()
        assert await it.names() == ["a", "b"]
        await _converges(it)
        assert len(it.watches) == 1
        assert it.cache.statistics()[0].relists == 0


@pytest.mark.parametrize(("status", "reason"), [(400, "BadRequest"), (422, "Invalid"), (405, "MethodNotAllowed")])
async def test_a_server_that_cannot_stream_lists_is_asked_for_pages(status: int, reason: str) -> None:
    """If the server refuses streamed lists, the reflector lists in pages without a retry, then watches."""
    names = [f"n{number:04}" for number in range(1201)]
    async with lab([on_list(Answered(status=status, reason=reason), times=None)], before=names) as it:
        await it.cache.wait_for_sync(timeout=10 * SECOND)
        assert await it.names() == names
        lists = [
            q for r in it.network.requests if r.path == "/api/v1/configmaps" and "watch" not in (q := dict(r.query))
        ]
        assert [q["limit"] for q in lists] == ["500", "500", "500"]
        assert ["continue" in q for q in lists] == [False, True, True]


async def test_a_server_that_does_not_know_streamed_lists_is_found_out() -> None:
    """If initial events lack the final bookmark for ten seconds, the reflector lists in pages."""
    async with lab([on_list(Silent(lines=1), times=None)]) as it:
        await it.cache.wait_for_sync(timeout=20 * SECOND)
        assert await it.names() == ["a", "b"]
        await _converges(it)


@pytest.mark.parametrize("is_streamed", [True, False])
@pytest.mark.parametrize("fault", [ConnectionRefused(), AnswerLost(), Broken(lines=1), Silent(lines=1)])
async def test_a_list_that_fails_is_tried_again(fault: Fault, is_streamed: bool) -> None:
    """After a reset while connecting, in the head or in the body, or after silence, a list restarts."""
    if is_streamed:
        rules = [on_list(fault, times=2)]
    else:
        rules = [NO_STREAMS, Rule(fault, path=CONFIGMAPS, query={"limit": "500"}, times=2)]
    async with lab(rules) as it:
        await it.cache.wait_for_sync(timeout=300 * SECOND)
        assert await it.names() == ["a", "b"]
        assert not it.network.unused or is_streamed
        await _converges(it)


@pytest.mark.parametrize(
    "fault", [ConnectionRefused(), AnswerLost(), Broken(lines=1), Broken(), Ended(lines=1), Silent(lines=1), Repeated()]
)
async def test_a_watch_that_fails_is_resumed_where_it_was(fault: Fault) -> None:
    """After any connection failure the watch resumes after the last event without a new list."""
    async with lab([on_list(Ended(lines=3)), on_watch(fault, nth=2, times=3)]) as it:
        await it.cache.wait_for_sync(timeout=30 * SECOND)
        await _converges(it, within=400)
        assert it.cache.statistics()[0].relists == 0
        assert all("resourceVersion" in query for query in it.watches[1:])


async def test_a_silent_connection_is_given_up_when_bookmarks_are_overdue() -> None:
    """A half-open connection is dropped after 90 seconds and the watch resumes at once."""
    async with lab([on_list(Silent(lines=3))]) as it:
        await it.cache.wait_for_sync()
        await it.create("while-silent")
        await asyncio.sleep(WATCH_SILENCE - 1)
        assert await it.names() == ["a", "b"]
        await asyncio.sleep(3)
        assert await it.names() == ["a", "b", "while-silent"]
        assert len(it.watches) == 2


async def test_silence_counts_from_the_last_sign_of_life() -> None:
    """Data every 60 seconds keeps a watch open; 90 seconds of silence end it."""
    loop = asyncio.get_running_loop()
    begun = heard_at = loop.time()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(30) as limit:
            with IdleTimeout(limit, lambda: heard_at + 90):
                for _ in range(5):
                    await asyncio.sleep(60)
                    heard_at = loop.time()
                await asyncio.sleep(1000)
    assert loop.time() - begun == 300 + 90


@pytest.mark.parametrize(
    "fault", [Answered.expired(), Inserted.error_event(410, "Expired"), Inserted.error_event(410, "Gone")]
)
async def test_a_version_that_is_too_old_makes_a_list_that_tells_only_what_is_different(fault: Fault) -> None:
    """After 410, as an answer or an event, a new list notifies subscribers only of differences."""
    async with lab([on_list(Ended(lines=3)), on_watch(fault, nth=2)]) as it:
        await it.cache.wait_for_sync()
        mirror = await _converges(it)
        assert it.cache.statistics()[0].relists == 1
        kinds = [type(change).__name__ for change in mirror.changes]
        assert sorted(kinds) == ["Created", "Created", "Created", "Deleted", "Synced", "Updated"]


async def test_expired_versions_without_end_do_not_spin() -> None:
    """If every watch is answered with 410, lists follow the backoff."""
    async with lab([NO_STREAMS, Rule(Answered.expired(), path=CONFIGMAPS, query=RESUMED, nth=2, times=None)]) as it:
        await asyncio.sleep(600)
        assert len(it.network.requests) < 150


async def test_a_list_whose_pages_expire_is_asked_for_as_a_whole() -> None:
    """If continue tokens always expire, the reflector lists without pages."""
    names = [f"n{number:04}" for number in range(1201)]
    expired = Rule(Answered.expired(), path=CONFIGMAPS, query={"limit": "500"}, nth=2)
    async with lab([NO_STREAMS, expired], before=names) as it:
        await it.cache.wait_for_sync(timeout=20 * SECOND)
        assert await it.names() == names
        assert not any("limit" in dict(r.query) for r in it.network.requests[-2:])


@pytest.mark.parametrize("is_streamed", [True, False])
async def test_a_server_that_asks_to_wait_gets_its_time(is_streamed: bool) -> None:
    """After 429 with Retry-After no request is sent before that time."""
    busy = Answered.too_many_requests(retry_after=20)
    rule = on_list(busy) if is_streamed else Rule(busy, path=CONFIGMAPS, query={"limit": "500"})
    async with lab([rule] if is_streamed else [NO_STREAMS, rule]) as it:
        await asyncio.sleep(19.5)
        asked = len([r for r in it.network.requests if r.path.endswith("configmaps")])
        assert asked == (1 if is_streamed else 2)
        await it.cache.wait_for_sync(timeout=3 * SECOND)


async def test_a_busy_watch_is_resumed_after_the_time_it_asked_for() -> None:
    """After 429 on a watch, as an answer or an event, the watch resumes without a new list."""
    busy = Inserted.error_event(429, "TooManyRequests")
    async with lab(
        [on_list(Ended(lines=3)), on_watch(Answered.too_many_requests(retry_after=5), nth=2), on_watch(busy, nth=3)]
    ) as it:
        await it.cache.wait_for_sync()
        await _converges(it)
        assert it.cache.statistics()[0].relists == 0


FORBIDDEN = Answered(
    status=403,
    reason="Forbidden",
    message='configmaps is forbidden: User "system:serviceaccount:ops:me" cannot list resource "configmaps" '
    'in API group "" at the cluster scope',
)


async def test_a_missing_right_is_loud_and_the_watch_begins_once_it_is_granted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A 403 is logged once with the rule to grant, shown as a problem, and retried with backoff until granted."""
    async with lab([Rule(FORBIDDEN, path=CONFIGMAPS, times=None)]) as it:
        await asyncio.sleep(300)
        assert 5 < len(it.network.requests) < 60
        assert "cannot list resource" in it.cache.problems[CONFIGMAP]
        told = [m for m in caplog.messages if "kubectl create clusterrolebinding ops:me:configmaps:list-watch" in m]
        assert len(told) == 1
        assert 'resources: ["configmaps"]' in told[0]
        it.network.clear()
        await it.cache.wait_for_sync(timeout=31 * SECOND)
        assert it.cache.problems == {}
        await _converges(it)


async def test_who_knows_that_a_right_was_granted_can_have_it_used_at_once() -> None:
    """A program can end the wait for the next retry, for example after a permission is granted."""
    async with lab([Rule(FORBIDDEN, path=CONFIGMAPS, times=None)]) as it:
        await asyncio.sleep(300)
        it.network.clear()
        it.cache.informer(CONFIGMAP).retry_now()
        await it.cache.wait_for_sync(timeout=0.1 * SECOND)
        await _converges(it)


async def test_a_right_that_is_taken_away_and_given_back_loses_nothing() -> None:
    """While a watch is forbidden the cache keeps its objects and gives the reason for their age; then it resumes."""
    async with lab([on_list(Ended(lines=3)), on_watch(FORBIDDEN, nth=2, times=5)]) as it:
        await it.cache.wait_for_sync()
        await asyncio.sleep(1)
        assert it.cache.problems
        assert await it.names() == ["a", "b"]
        await _converges(it)
        assert it.cache.problems == {}


async def test_watches_that_end_at_once_again_and_again_make_a_new_list() -> None:
    """Watches that repeatedly end at once cause a new list: some servers close an expired watch without an error."""
    async with lab([on_list(Ended(lines=3)), on_watch(Ended(), nth=2, times=3)]) as it:
        await it.cache.wait_for_sync()
        await _converges(it)
        assert it.cache.statistics()[0].relists == 1


async def test_a_server_that_ends_every_watch_at_once_is_not_hammered() -> None:
    """If every watch ends at once, requests follow the backoff and lists keep the cache fresh."""
    async with lab([NO_STREAMS, Rule(Ended(), path=CONFIGMAPS, query=RESUMED, nth=2, times=None)]) as it:
        await it.cache.wait_for_sync(timeout=10 * SECOND)
        await asyncio.sleep(600)
        assert len(it.network.requests) < 150
        await it.create("late")
        await asyncio.sleep(120)
        assert await it.names() == ["a", "b", "late"]


@pytest.mark.parametrize(
    ("garbage", "logged"),
    [
        (b"this is no event", "this is no event"),
        (b'{"type":"ADDED","object":{"metadata":{}}}', "got 15 bytes that begin like JSON"),
        (b'{"type":"ODD","object":{}}', "'ODD'"),
    ],
)
async def test_a_line_that_is_no_event_is_logged_and_nothing_is_lost(
    garbage: bytes, logged: str, caplog: pytest.LogCaptureFixture
) -> None:
    """After an invalid line the watch resumes at the last good event; the line is logged unless of a Secret."""
    async with lab([on_list(Inserted(line=garbage, lines=4))]) as it:
        await it.cache.wait_for_sync()
        await _converges(it)
        assert logged in caplog.text
        assert it.cache.statistics()[0].relists == 0


async def test_a_line_that_is_garbage_every_time_makes_a_new_list() -> None:
    """If the same line is invalid every time, a new list replaces it."""
    async with lab([on_list(Ended(lines=3)), on_watch(Inserted(line=b"garbage"), nth=2, times=3)]) as it:
        await it.cache.wait_for_sync()
        await _converges(it)
        assert it.cache.statistics()[0].relists == 1


async def test_credentials_that_expire_under_a_watch_are_tried_again() -> None:
    """After 401 the watch resumes at its position, with the events in between."""
    unauthorized = Answered(status=401, reason="Unauthorized")
    async with lab([on_list(Ended(lines=3)), on_watch(unauthorized, nth=2, times=2)]) as it:
        await it.cache.wait_for_sync()
        await _converges(it)
        assert it.cache.statistics()[0].relists == 0


async def test_waits_grow_and_are_forgotten_after_two_healthy_minutes() -> None:
    """Backoff grows to 30 seconds in an outage; after two healthy minutes it starts below one second again."""
    async with lab([on_list(ConnectionRefused(), times=12)]) as it:
        await it.cache.wait_for_sync(timeout=timedelta(minutes=10))
        await asyncio.sleep(130)
        begun = asyncio.get_running_loop().time()
        it.network.add(Rule(ConnectionRefused(), path=CONFIGMAPS))
        await asyncio.sleep(400)  # the watch ends and the next one is refused
        assert not it.network.unused
        assert asyncio.get_running_loop().time() - begun == 400
        assert it.cache.problems == {}


async def test_objects_that_vanish_and_come_back_between_two_lists_are_told_as_what_they_are() -> None:
    """An object recreated between two lists is reported as a deletion and a creation, not as an update."""
    async with lab([on_list(Ended(lines=3)), on_watch(Silent(), nth=2)]) as it:
        await it.cache.wait_for_sync()
        mirror = Mirror()
        with it.cache.informer(CONFIGMAP).subscribe() as changes:
            await it.direct.delete(CONFIGMAP, it.object("a").key)
            await it.create("a", is_new="yes")
            await it.direct.delete(CONFIGMAP, it.object("b").key)
            it.network.add(Rule(Answered.expired(), path=CONFIGMAPS, query=RESUMED))
            await asyncio.sleep(120)
            while len(changes):
                mirror.push(await anext(changes))
        told = [f"{type(change).__name__} {change.key.name}" for change in mirror.changes if hasattr(change, "key")]
        assert sorted(told[2:]) == ["Created a", "Deleted a", "Deleted b"]
        assert await it.names() == ["a"]


async def test_progress_of_a_watch_ends_all_doubts_about_its_version() -> None:
    """Failures before and after progress do not add up to a new list: they were at different versions."""
    failures = [[END], [END]]
    wire = Wire([*streamed(5), END], *failures, [bookmark(6), END], *failures, [bookmark(7), END], *failures)
    async with cache_on(wire) as cache:
        await until(lambda: len(wire.watches) == 10)
        assert cache.statistics()[0].relists == 0
        assert [watch.get("resourceVersion") for watch in wire.watches[1:]] == [*"555", *"666", *"777"]


async def test_watches_that_bring_little_and_end_at_once_are_not_hammered() -> None:
    """Between watches that end within seconds with an event each there is a pause."""
    scripts = [[event("ADDED", body(f"n{version}", version)), END] for version in range(6, 46)]
    wire = Wire([*streamed(5), END], *scripts)
    async with cache_on(wire) as cache:
        begun = asyncio.get_running_loop().time()
        await until(lambda: cache.statistics()[0].objects == 40)
        assert asyncio.get_running_loop().time() - begun > 10


async def test_after_a_list_as_a_whole_the_next_one_comes_in_pages_again() -> None:
    """An expired continue token changes only the list that it belongs to."""
    names = [f"n{number:04}" for number in range(501)]
    expired = Rule(Answered.expired(), path=CONFIGMAPS, query={"limit": "500"}, nth=2)
    async with lab([NO_STREAMS, expired], before=names) as it:
        await it.cache.wait_for_sync(timeout=20 * SECOND)
        it.network.add(Rule(Answered.expired(), path=CONFIGMAPS, query=RESUMED))
        await until(lambda: it.cache.statistics()[0].relists == 1)

        queries = [dict(request.query) for request in it.network.requests if request.path.endswith("/configmaps")]
        lists = [query.get("limit") for query in queries if "watch" not in query and query.get("limit") != "1"]
        assert lists == ["500", "500", None, "500", "500"]


async def test_a_failure_wakes_those_who_wait_and_is_forgotten_once_the_watch_works() -> None:
    """Who waits for a kind hears at once that it is forbidden. After a grant nothing counts as failed."""
    async with lab([Rule(FORBIDDEN, path=CONFIGMAPS, times=None)]) as it:
        informer = it.cache.informer(CONFIGMAP)
        async with asyncio.timeout(1):
            await informer.wait_until_synced_or_failed()
        assert (informer.is_refused, informer.failures) == (True, 1)

        it.network.clear()
        await informer.wait_for_sync(timeout=5 * SECOND)
        assert (informer.error, informer.failures) == (None, 0)


async def test_the_lengths_of_watches_are_drawn() -> None:
    """Watches that begin together, as after a restart of the server, do not end together."""
    seconds = set()
    for seed in range(5):
        async with lab(seed=seed) as it:
            await it.cache.wait_for_sync()
            seconds |= {watch["timeoutSeconds"] for watch in it.watches}
    assert len(seconds) > 1


async def test_a_kind_whose_definition_is_gone_is_looked_up_again() -> None:
    """After NotFound the informer asks discovery again, and lists once the server knows the kind."""
    missing = Rule(Answered(status=404, reason="NotFound"), path=CONFIGMAPS, query=WATCH, nth=2)
    async with lab([on_list(Ended(lines=3)), missing]) as it:
        await it.cache.wait_for_sync()
        await _converges(it)
        assert [request.path for request in it.network.requests].count("/apis") == 2


async def test_a_direct_watch_lasts_in_silence() -> None:
    """A watch of a server in the same process has no bookmarks and no end, and still gets every change."""
    server = ApiServer(random=Random(7))
    network = FaultyTransport(InProcessTransport(server), [])
    direct = Client(InProcessTransport(server))
    cache = Cache(Client(network), random=Random(1))
    cache.is_direct = True
    cache.informer(CONFIGMAP)
    task = asyncio.create_task(cache.run())
    await cache.wait_for_sync()
    await asyncio.sleep(36_000)
    assert len([each for each in network.requests if ("watch", "true") in each.query]) == 1
    await direct.create(Unstructured.new(CONFIGMAP, name="a", namespace="default"))
    await asyncio.sleep(0.1)
    assert [each.metadata.name for each in await cache.list(CONFIGMAP)] == ["a"]
    task.cancel()
    await asyncio.wait([task])


async def test_a_direct_watch_resumes_after_it_was_ended() -> None:
    """When the server ends a direct watch, it continues with the changes after it."""
    server = ApiServer(random=Random(7))
    direct = Client(InProcessTransport(server))
    cache = Cache(direct, random=Random(1))
    cache.is_direct = True
    cache.informer(CONFIGMAP)
    task = asyncio.create_task(cache.run())
    await cache.wait_for_sync()
    server.storage.restore(server.storage.backup())
    await direct.create(Unstructured.new(CONFIGMAP, name="a", namespace="default"))
    await asyncio.sleep(60)
    assert [each.metadata.name for each in await cache.list(CONFIGMAP)] == ["a"]
    task.cancel()
    await asyncio.wait([task])
