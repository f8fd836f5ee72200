"""list: consistent pages, resource versions and media types."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.unit.apiserver._kit import CONFIGMAPS, Asker


def names(answer: Any) -> list[str]:
    return [item["metadata"]["name"] for item in answer["items"]]


@pytest.mark.parametrize("path", [CONFIGMAPS, "/api/v1/configmaps"])
def test_pages_are_of_one_state(ask: Asker, path: str) -> None:
    """Changes between two pages do not appear in the later page."""
    for name in "abcdef":
        ask.make(name, data={"k": "old"})
    code, first = ask("GET", path, limit="2")
    assert (code, names(first), first["metadata"]["remainingItemCount"]) == (200, ["a", "b"], 4)
    ask("DELETE", f"{CONFIGMAPS}/d")
    ask.make("bb")
    ask.change("e", data={"k": "new"})
    token = first["metadata"]["continue"]
    _, second = ask("GET", path, limit="2", continue_=token)
    assert names(second) == ["c", "d"]
    _, third = ask("GET", path, limit="5", continue_=second["metadata"]["continue"])
    assert names(third) == ["e", "f"]
    assert third["items"][0]["data"] == {"k": "old"}
    assert {page["metadata"]["resourceVersion"] for page in (first, second, third)} == {
        first["metadata"]["resourceVersion"]
    }
    assert "continue" not in third["metadata"]


def test_pages_with_a_selector_do_not_count_what_remains(ask: Asker) -> None:
    """A page of a list with a selector has no remainingItemCount, as in kube-apiserver."""
    for number in range(5):
        ask.make(f"p{number}", labels={"odd": str(number % 2)})
    _, page = ask("GET", CONFIGMAPS, limit="2", labelSelector="odd=0")
    assert names(page) == ["p0", "p2"]
    assert "remainingItemCount" not in page["metadata"]
    _, rest = ask("GET", CONFIGMAPS, limit="2", labelSelector="odd=0", continue_=page["metadata"]["continue"])
    assert names(rest) == ["p4"]


def test_a_page_after_compaction_answers_410_with_a_token_to_go_on(ask: Asker) -> None:
    """An expired token gets 410 with a new token that continues with the current state."""
    for name in "abc":
        ask.make(name)
    _, page = ask("GET", CONFIGMAPS, limit="1")
    ask.make("d")
    ask.server.compact()
    code, expired = ask("GET", CONFIGMAPS, limit="1", continue_=page["metadata"]["continue"])
    assert (code, expired["reason"]) == (410, "Expired")
    code, rest = ask("GET", CONFIGMAPS, continue_=expired["metadata"]["continue"])
    assert (code, names(rest)) == (200, ["b", "c", "d"])


def test_a_list_at_an_exact_version_that_is_compacted_answers_410(ask: Asker) -> None:
    """resourceVersionMatch=Exact at a compacted version is 410."""
    old = ask.make("a")["metadata"]["resourceVersion"]
    ask.make("b")
    assert names(ask("GET", CONFIGMAPS, resourceVersion=old, resourceVersionMatch="Exact")[1]) == ["a"]
    ask.server.compact()
    code, expired = ask("GET", CONFIGMAPS, resourceVersion=old, resourceVersionMatch="Exact")
    assert (code, expired["reason"]) == (410, "Expired")


async def test_a_version_in_the_future_is_waited_for(ask: Asker) -> None:
    """A list at a future version waits until the storage has reached it, or answers 504."""
    future = str(ask.server.storage.version + 1)
    asyncio.get_running_loop().call_later(1, ask.make, "a")
    answer = await ask.server.handle("GET", CONFIGMAPS, [("resourceVersion", future)], {}, b"")
    assert answer.status == 200
    assert isinstance(answer.body, bytes)
    assert b'"a"' in answer.body
    answer = await ask.server.handle("GET", CONFIGMAPS, [("resourceVersion", "99999")], {}, b"")
    assert answer.status == 504


@pytest.mark.parametrize(("version", "code"), [("x", 400), ("-1", 400), ("9" * 30, 400), ("9" * 5000, 400), ("²", 400)])
async def test_a_version_that_is_no_number_is_refused(ask: Asker, version: str, code: int) -> None:
    """Text, negative and very large versions are client errors."""
    answer = await ask.server.handle("GET", CONFIGMAPS, [("resourceVersion", version)], {}, b"")
    assert answer.status == code


def test_built_in_items_do_not_repeat_their_kind(ask: Asker) -> None:
    """Items of a built-in list have no kind and apiVersion; a single object has."""
    ask.make("a")
    (item,) = ask("GET", CONFIGMAPS)[1]["items"]
    assert "kind" not in item
    assert "apiVersion" not in item
    assert ask("GET", f"{CONFIGMAPS}/a")[1]["kind"] == "ConfigMap"


def test_yaml_is_answered_to_who_asks_for_it(ask: Asker) -> None:
    """Accept: application/yaml returns the same object as YAML."""
    ask.make("a", data={"k": "v"})
    answer = ask.answer("GET", f"{CONFIGMAPS}/a", headers={"Accept": "application/yaml"})
    assert isinstance(answer.body, bytes)
    assert b"kind: ConfigMap\n" in answer.body
    assert ("Content-Type", "application/yaml") in answer.headers


def test_a_list_of_version_0_is_whole(ask: Asker) -> None:
    """A list at version 0 is answered from memory and has all objects, whatever its limit is."""
    for name in "abc":
        ask.make(name)
    _, found = ask("GET", CONFIGMAPS, limit="1", resourceVersion="0")
    assert names(found) == ["a", "b", "c"]
    assert "continue" not in found["metadata"]


def test_a_namespace_whose_name_begins_like_another_lists_its_own_objects(ask: Asker) -> None:
    """A list of the namespace `a` has no object of `a-b`, at present and at an older version."""
    for namespace in ("a", "a-b", "ab"):
        ask("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        ask("POST", f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": f"in-{namespace}"}})
    version = str(ask.server.storage.version)
    ask("POST", "/api/v1/namespaces/a/configmaps", {"metadata": {"name": "later"}})

    assert names(ask("GET", "/api/v1/namespaces/a/configmaps")[1]) == ["in-a", "later"]
    _, then = ask("GET", "/api/v1/namespaces/a/configmaps", resourceVersion=version, resourceVersionMatch="Exact")
    assert names(then) == ["in-a"]
