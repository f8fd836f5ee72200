"""watch: every selected event after a version, in order and once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pyctrl.apiserver import Upgrade
from tests.unit.apiserver._kit import CONFIGMAPS, MERGE, Asker
from tests.unit.apiserver._objects import GROUP, definition


async def test_a_watch_tells_what_happened_after_its_version(ask: Asker) -> None:
    """A watch from the version of a list has every later event, once."""
    ask.make("before")
    version = ask("GET", CONFIGMAPS)[1]["metadata"]["resourceVersion"]
    ask.make("a")
    ask.change("a", data={"k": "v"})
    async with ask.watching(resourceVersion=version) as watching:
        ask("DELETE", f"{CONFIGMAPS}/a")
        assert await watching.take(3) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


async def test_a_deleted_object_is_shown_in_its_last_state_under_the_version_of_its_deletion(ask: Asker) -> None:
    """DELETED has a newer resourceVersion than the last MODIFIED, so that clients can resume after it."""
    made = ask.make("a", data={"k": "v"})
    async with ask.watching(resourceVersion=made["metadata"]["resourceVersion"]) as watching:
        ask("DELETE", f"{CONFIGMAPS}/a")
        event = await watching.next()
    assert event is not None
    gone = event["object"]
    assert gone["data"] == {"k": "v"}
    assert int(gone["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])


async def test_without_a_version_a_watch_begins_with_what_is_there(ask: Asker) -> None:
    """Without a version, or with version 0, a watch begins with ADDED for every object, sorted by name."""
    ask.make("b")
    ask.make("a")
    for query in ({}, {"resourceVersion": "0"}):
        async with ask.watching(**query) as watching:
            assert await watching.take(2) == [("ADDED", "a"), ("ADDED", "b")]
            ask.change("a", data={"k": str(query)})
            assert await watching.take(1) == [("MODIFIED", "a")]


async def test_objects_enter_and_leave_a_selector(ask: Asker) -> None:
    """An object that starts to match is ADDED, one that stops is DELETED, in the state in which it last matched."""
    ask.make("a", labels={"on": "0"})
    async with ask.watching(labelSelector="on=1") as watching:
        ask.change("a", metadata={"labels": {"on": "1"}})
        ask.change("a", data={"k": "v"})
        ask.change("a", metadata={"labels": {"on": "0"}})
        ask("DELETE", f"{CONFIGMAPS}/a")
        ask.make("end", labels={"on": "1"})
        assert await watching.take(2) == [("ADDED", "a"), ("MODIFIED", "a")]
        left = await watching.next()
        assert await watching.take(1) == [("ADDED", "end")]
    assert left is not None
    assert left["type"] == "DELETED"
    assert left["object"]["metadata"]["labels"] == {"on": "1"}
    assert left["object"]["data"] == {"k": "v"}


async def test_a_watch_of_one_namespace_sees_no_other(ask: Asker) -> None:
    """A watch of a namespace has only its objects; a watch of all namespaces has all objects."""
    elsewhere = "/api/v1/namespaces/kube-system/configmaps"
    async with ask.watching() as here, ask.watching("/api/v1/configmaps") as everywhere:
        ask("POST", elsewhere, {"metadata": {"name": "x"}})
        ask.make("y")
        assert await here.take(1) == [("ADDED", "y")]
        assert await everywhere.take(2) == [("ADDED", "x"), ("ADDED", "y")]


async def test_a_field_selector_watches_one_object(ask: Asker) -> None:
    """metadata.name=... watches a single object, as does the old /watch/ path of the object."""
    async with (
        ask.watching(fieldSelector="metadata.name=b") as selected,
        ask.watching("/api/v1/watch/namespaces/default/configmaps/b") as named,
    ):
        ask.make("a")
        ask.make("b")
        assert await selected.take(1) == [("ADDED", "b")]
        assert await named.take(1) == [("ADDED", "b")]


async def test_bookmarks_come_about_once_a_minute(ask: Asker) -> None:
    """A watch without events sends its version every minute, so that clients resume from a recent one."""
    loop = asyncio.get_running_loop()
    version = str(ask.server.storage.version)
    async with ask.watching(allowWatchBookmarks="true", resourceVersion=version) as watching:
        began = loop.time()
        ask("POST", "/api/v1/namespaces/default/secrets", {"metadata": {"name": "other"}})
        event = await watching.next()
        assert event is not None
        assert event["type"] == "BOOKMARK"
        assert event["object"]["kind"] == "ConfigMap"
        assert event["object"]["metadata"] == {"resourceVersion": str(ask.server.storage.version)}
        assert loop.time() - began == 60


async def test_bookmarks_come_only_to_who_asks_for_them(ask: Asker) -> None:
    """A client that does not request bookmarks gets none."""
    async with ask.watching(timeoutSeconds="300") as watching:
        assert await watching.rest() == []


async def test_a_watch_ends_when_its_time_is_over(ask: Asker) -> None:
    """timeoutSeconds ends a watch, after a bookmark with the version at which to resume."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with ask.watching(allowWatchBookmarks="true", timeoutSeconds="10") as watching:
        ask.make("a")
        assert [event["type"] for event in await watching.rest()] == ["BOOKMARK", "ADDED", "BOOKMARK"]
    assert loop.time() - began == 10


async def test_a_short_watch_has_no_bookmark_with_its_first_version(ask: Asker) -> None:
    """A watch of some seconds during which nothing is written ends without a bookmark: the client has its version."""
    ask.make("a")
    version = str(ask.server.storage.version)
    async with ask.watching(allowWatchBookmarks="true", timeoutSeconds="10", resourceVersion=version) as watching:
        assert await watching.rest() == []


@pytest.mark.parametrize("query", [{}, {"resourceVersion": "0"}])
async def test_a_watch_from_no_version_is_a_streamed_list(ask: Asker, query: dict[str, str]) -> None:
    """The state with which a watch begins ends with a marked bookmark, if the client accepts bookmarks."""
    ask.make("a")
    async with ask.watching(allowWatchBookmarks="true", timeoutSeconds="10", **query) as watching:
        added, end = await watching.rest()
    assert (added["type"], end["type"]) == ("ADDED", "BOOKMARK")
    assert end["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    async with ask.watching(timeoutSeconds="10", **query) as watching:
        assert [event["type"] for event in await watching.rest()] == ["ADDED"]


async def test_a_watch_of_an_idle_server_has_bookmarks(ask: Asker) -> None:
    """A longer watch has one each minute, also if nothing is written: clients take silence for a broken connection."""
    async with ask.watching(allowWatchBookmarks="true", timeoutSeconds="150") as watching:
        assert [event["type"] for event in await watching.rest()] == ["BOOKMARK"] * 4


async def test_a_watch_whose_time_is_over_before_it_begins_is_empty(ask: Asker) -> None:
    """A negative timeoutSeconds ends a watch at once, before its first event."""
    ask.make("a")
    async with ask.watching(timeoutSeconds="-1") as watching:
        assert await watching.rest() == []


async def test_a_watch_ends_when_its_definition_is_deleted(ask: Asker) -> None:
    """When a kind is removed, its watches end after the DELETED events of the objects."""
    definitions, things = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", f"/apis/{GROUP}/v1/things"
    assert ask("POST", definitions, definition({"type": "object"}))[0] == 201
    thing = {"apiVersion": f"{GROUP}/v1", "kind": "Thing", "metadata": {"name": "a"}}
    assert ask("POST", f"/apis/{GROUP}/v1/namespaces/default/things", thing)[0] == 201
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with ask.watching(things, resourceVersion="0") as watching:
        await watching.take(1)
        ask("DELETE", f"{definitions}/things.{GROUP}")
        assert [event["type"] for event in await watching.rest()][-1:] == ["DELETED"]
    assert loop.time() == began


async def test_a_watch_without_a_timeout_ends_within_an_hour(ask: Asker) -> None:
    """A watch without timeoutSeconds ends after 30 to 60 minutes, so that clients spread over servers."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    async with ask.watching() as watching:
        assert await watching.rest() == []
    assert 1800 <= loop.time() - began <= 3600


async def test_a_streaming_list_says_where_it_ends(ask: Asker) -> None:
    """sendInitialEvents sends the current objects and then a bookmark."""
    ask.make("a")
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    async with ask.watching(**query) as watching:
        assert await watching.take(1) == [("ADDED", "a")]
        end = await watching.next()
        ask.make("b")
        assert await watching.take(1) == [("ADDED", "b")]
    assert end is not None
    assert end["type"] == "BOOKMARK"
    assert end["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


async def test_what_happens_during_a_streaming_list_comes_after_its_version(ask: Asker) -> None:
    """The bookmark at the end of a list has the version of the list, also when later events precede its read."""
    ask.make("a")
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    async with ask.watching(**query) as watching:
        assert await watching.take(1) == [("ADDED", "a")]
        ask.make("b")
        end, after = await watching.next(), await watching.next()
    assert end is not None
    assert after is not None
    assert int(end["object"]["metadata"]["resourceVersion"]) < int(after["object"]["metadata"]["resourceVersion"])


async def test_a_bookmark_never_overtakes_an_event(ask: Asker) -> None:
    """Events precede a bookmark of their version, so that a client that resumes at the bookmark misses none."""
    version = str(ask.server.storage.version)
    async with ask.watching(allowWatchBookmarks="true", resourceVersion=version) as watching:
        waiting = asyncio.ensure_future(watching.next())
        asyncio.get_running_loop().call_later(60, lambda: asyncio.get_running_loop().call_soon(ask.make, "late"))
        await asyncio.sleep(60)
        first, second = await waiting, await watching.next()
    assert [event["type"] for event in (first, second) if event is not None] == ["ADDED", "BOOKMARK"]


async def test_a_watch_from_a_compacted_version_answers_410(ask: Asker) -> None:
    """The stream has one event, an ERROR with the Status of 410."""
    old = ask.make("a")["metadata"]["resourceVersion"]
    ask.change("a", data={"k": "v"})
    ask.server.compact()
    async with ask.watching(resourceVersion=old) as watching:
        (event,) = await watching.rest()
    assert event["type"] == "ERROR"
    assert (event["object"]["code"], event["object"]["reason"]) == (410, "Expired")


async def test_a_watch_that_reads_too_slowly_is_ended(ask: Asker) -> None:
    """A watch that falls behind the history gets 410 instead of a gap."""
    ask = Asker(type(ask.server)(history=4))
    async with ask.watching() as watching:
        ask.make("a")
        assert await watching.take(1) == [("ADDED", "a")]
        for number in range(20):
            ask.change("a", data={"n": str(number)})
        events = await watching.rest()
    assert [event["type"] for event in events] == ["ERROR"]


async def test_all_watchers_share_one_encoding_of_an_event(ask: Asker) -> None:
    """Fifty watchers of an event share one encoding of it."""
    collection = ask.server.storage.collection("", "configmaps")
    watches = [await ask.server.handle("GET", CONFIGMAPS, [("watch", "1")], {}, b"") for _ in range(3)]
    ask.make("a")
    for watch in watches:
        assert not isinstance(watch.body, (bytes, Upgrade))
        await anext(watch.body)
        await watch.body.aclose()
    (event,) = collection.events_from(collection.end - 1)
    assert len(event.lines) == 1


async def test_a_watch_can_be_of_metadata_only(ask: Asker) -> None:
    """With PartialObjectMetadata in Accept every event has only metadata."""
    headers = {"Accept": "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"}
    answer = await ask.server.handle("GET", CONFIGMAPS, [("watch", "1")], headers, b"")
    assert not isinstance(answer.body, (bytes, Upgrade))
    ask.make("a", data={"k": "v"})
    line = await anext(answer.body)
    await answer.body.aclose()
    assert b'"kind":"PartialObjectMetadata"' in line
    assert b'"data"' not in line


async def test_removing_the_last_finalizer_shows_only_the_deletion(ask: Asker) -> None:
    """The write that removes the last finalizer is one event, DELETED."""
    ask.make("a", finalizers=["x.io/f"])
    ask("DELETE", f"{CONFIGMAPS}/a")
    async with ask.watching(resourceVersion=str(ask.server.storage.version)) as watching:
        code, _ = ask("PATCH", f"{CONFIGMAPS}/a", {"metadata": {"finalizers": None}}, headers=MERGE)
        assert code == 200
        assert await watching.take(1) == [("DELETED", "a")]


async def test_watchers_are_told_in_the_order_of_their_coming(ask: Asker) -> None:
    """Watchers get events in the order in which they started: seeded simulations depend on it."""
    told: list[int] = []

    async def listen(number: int) -> None:
        async with ask.watching() as watching:
            await watching.next()
            told.append(number)

    async with asyncio.TaskGroup() as group:
        for number in range(50):
            group.create_task(listen(number))
        await asyncio.sleep(1)
        ask.make("a")
    assert told == sorted(told)


async def test_a_watch_from_a_later_version_begins_there(ask: Asker) -> None:
    """A version that the server has not reached yet, as of another replica, is not repeated when it comes."""
    version = int(ask.make("a")["metadata"]["resourceVersion"])
    async with ask.watching(resourceVersion=str(version + 2)) as watching:
        for name in ("b", "c", "d"):
            ask.make(name)
        assert await watching.take(1) == [("ADDED", "d")]


async def test_each_watch_has_its_own_view_of_an_event(ask: Asker) -> None:
    """The same change is an update for one watcher, an addition for another, and a deletion for a third."""
    ask.make("a", labels={"on": "0"})
    version = str(ask.server.storage.version)
    ask.change("a", metadata={"labels": {"on": "1"}})
    seen = []
    for selector in ("", "on=1", "on=0"):
        async with ask.watching(resourceVersion=version, labelSelector=selector) as watching:
            seen += await watching.take(1)
    assert seen == [("MODIFIED", "a"), ("ADDED", "a"), ("DELETED", "a")]


async def test_a_bookmark_is_an_empty_object_of_its_kind(ask: Asker) -> None:
    """A bookmark of Jobs has the parts that every Job has, as Go writes an empty one."""
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    async with ask.watching("/apis/batch/v1/namespaces/default/jobs", **query) as watching:
        end = await watching.next()
    assert end is not None
    parts = {key: value for key, value in end["object"].items() if key != "metadata"}
    spec = {"template": {"metadata": {}, "spec": {"containers": None}}}
    assert parts == {"kind": "Job", "apiVersion": "batch/v1", "spec": spec, "status": {}}


@pytest.mark.parametrize(
    ("kinds", "place", "value"),
    [
        ("deployments", ("spec", "replicas"), 0),
        ("statefulsets", ("spec", "replicas"), 0),
        ("replicasets", ("spec", "replicas"), 0),
        ("controllerrevisions", ("data",), None),
        ("daemonsets", ("metadata", "annotations", "deprecated.daemonset.template.generation"), "0"),
    ],
)
async def test_bookmarks_of_apps_show_internal_zeros(
    ask: Asker, kinds: str, place: tuple[str, ...], value: Any
) -> None:
    """Bookmarks of apps/v1 have the zeros of kube-apiserver's internal types, which other objects lack."""
    query = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    async with ask.watching(f"/apis/apps/v1/namespaces/default/{kinds}", **query) as watching:
        end = await watching.next()
    assert end is not None
    found: Any = end["object"]
    for key in place[:-1]:
        found = found[key]
    assert found[place[-1]] == value
    assert end["object"]["metadata"]["annotations"]["k8s.io/initial-events-end"] == "true"
