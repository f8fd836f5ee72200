"""Shard selectors of list, watch and deletecollection (KEP-5866), with the feature ShardedListAndWatch."""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest

from pyctrl.api import ShardRange, ShardSelector
from pyctrl.apiserver import ApiServer
from tests.unit.apiserver._kit import CONFIGMAPS, Asker
from tests.unit.apiserver._objects import GROUP, definition

HALVES = [ShardSelector((part,)) for part in ShardRange.split(2)]


@pytest.fixture
def ask() -> Asker:
    """A server with the feature."""
    return Asker(ApiServer(random=Random(7), feature_gates={"ShardedListAndWatch": True}))


def names(answer: Any) -> list[str]:
    return [item["metadata"]["name"] for item in answer["items"]]


def make_some(ask: Asker, letters: Iterable[str] = "abcdefgh") -> dict[str, str]:
    """Create ConfigMaps and return their uids by name."""
    return {name: ask.make(name)["metadata"]["uid"] for name in letters}


@pytest.mark.parametrize("count", [2, 3])
def test_shards_together_are_the_whole_list(ask: Asker, count: int) -> None:
    """Each object is in the list of exactly the shard whose range has the hash of its uid."""
    uids = make_some(ask)
    found: list[str] = []
    for selector in (ShardSelector((part,)) for part in ShardRange.split(count)):
        code, page = ask("GET", CONFIGMAPS, shardSelector=str(selector))
        assert code == 200
        assert names(page) == [name for name, uid in uids.items() if selector.matches(uid)]
        assert page["metadata"]["shardInfo"] == {"selector": str(selector)}
        found += names(page)
    assert sorted(found) == list(uids)


def test_without_the_feature_the_selector_is_ignored() -> None:
    """A server without the feature lists all objects, without shardInfo, and does not read the selector."""
    ask = Asker()
    make_some(ask)
    code, page = ask("GET", CONFIGMAPS, shardSelector="no selector")
    assert (code, len(page["items"])) == (200, 8)
    assert "shardInfo" not in page["metadata"]


def test_a_page_of_a_shard_is_full_and_the_next_one_continues(ask: Asker) -> None:
    """Pages have as many selected objects as asked for; remainingItemCount counts all that follow, as upstream does."""
    uids = make_some(ask)
    wanted = [name for name, uid in uids.items() if HALVES[0].matches(uid)]
    assert len(wanted) > 2
    _, page = ask("GET", CONFIGMAPS, shardSelector=str(HALVES[0]), limit="1")
    assert names(page) == wanted[:1]
    assert page["metadata"]["remainingItemCount"] == 7
    _, rest = ask("GET", CONFIGMAPS, shardSelector=str(HALVES[0]), continue_=page["metadata"]["continue"])
    assert names(rest) == wanted[1:]


def test_a_list_of_custom_resources_is_filtered_without_saying_so(ask: Asker) -> None:
    """Custom resources are selected, too. Their lists have no shardInfo, as in kube-apiserver 1.36."""
    ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition({"type": "object"}))
    path = f"/apis/{GROUP}/v1/namespaces/default/things"
    body = {"apiVersion": f"{GROUP}/v1", "kind": "Thing"}
    uids = {name: ask("POST", path, {**body, "metadata": {"name": name}})[1]["metadata"]["uid"] for name in "abcdefgh"}
    code, page = ask("GET", path, shardSelector=str(HALVES[1]))
    assert (code, names(page)) == (200, [name for name, uid in uids.items() if HALVES[1].matches(uid)])
    assert "shardInfo" not in page["metadata"]


async def test_a_watch_of_a_shard_has_its_objects_only(ask: Asker) -> None:
    """A watch sends every event of an object whose hash is in the range, and no event of others."""
    version = ask("GET", CONFIGMAPS)[1]["metadata"]["resourceVersion"]
    async with ask.watching(resourceVersion=version, shardSelector=str(HALVES[0])) as watching:
        uids = make_some(ask)
        wanted = [name for name, uid in uids.items() if HALVES[0].matches(uid)]
        assert await watching.take(len(wanted)) == [("ADDED", name) for name in wanted]
        for name in uids:
            ask.change(name, data={"k": "v"})
        assert await watching.take(len(wanted)) == [("MODIFIED", name) for name in wanted]
        for name in uids:
            ask("DELETE", f"{CONFIGMAPS}/{name}")
        assert await watching.take(len(wanted)) == [("DELETED", name) for name in wanted]


async def test_a_streamed_list_of_a_shard_ends_with_a_bookmark(ask: Asker) -> None:
    """The initial events of a watch are those of the shard, and the bookmark follows them."""
    uids = make_some(ask)
    options = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan", "allowWatchBookmarks": "true"}
    async with ask.watching(shardSelector=str(HALVES[0]), **options) as watching:
        events = [await watching.next() for _ in range(1 + sum(map(HALVES[0].matches, uids.values())))]
    shown = [(event["type"], event["object"]["metadata"].get("name")) for event in events if event]
    wanted = [("ADDED", name) for name, uid in uids.items() if HALVES[0].matches(uid)]
    assert shown == [*wanted, ("BOOKMARK", None)]


def test_deletecollection_deletes_the_objects_of_the_shard(ask: Asker) -> None:
    """A deletecollection with a selector leaves the objects of the other shards."""
    uids = make_some(ask)
    code, gone = ask("DELETE", CONFIGMAPS, shardSelector=str(HALVES[0]))
    assert code == 200
    assert gone["metadata"]["shardInfo"] == {"selector": str(HALVES[0])}
    assert names(ask("GET", CONFIGMAPS)[1]) == [name for name, uid in uids.items() if not HALVES[0].matches(uid)]


def test_the_namespace_is_hashed_too(ask: Asker) -> None:
    """With the field object.metadata.namespace all objects of a namespace are in one shard."""
    make_some(ask)
    halves = [ShardSelector((part,), "object.metadata.namespace") for part in ShardRange.split(2)]
    found = [names(ask("GET", "/api/v1/configmaps", shardSelector=str(half))[1]) for half in halves]
    assert sorted(found) == [[], list("abcdefgh")]


def test_component_statuses_ignore_the_selector(ask: Asker) -> None:
    """Objects that are not in the storage of the server are listed whole, and the selector is not read."""
    code, page = ask("GET", "/api/v1/componentstatuses", shardSelector="no selector")
    assert (code, page["metadata"]) == (200, {})
    assert len(page["items"]) == 3


def test_a_selector_that_does_not_parse_is_an_error_without_a_reason(ask: Asker) -> None:
    """A text that is no selector gets 500 with kube-apiserver's message, for a list and for a watch."""
    for watch in ("false", "true"):
        code, status = ask("GET", CONFIGMAPS, shardSelector="a && b", watch=watch)
        assert code == 500
        assert status["message"] == (
            'invalid shard selector: unsupported function "_&&_"; only shardRange() and || are allowed'
        )
        assert "reason" not in status
