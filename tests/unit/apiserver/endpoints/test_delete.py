"""delete and deletecollection: preconditions, selectors, repeated deletes."""

from __future__ import annotations

import asyncio

import pytest

from tests.unit.apiserver._kit import CONFIGMAPS, Asker


def test_a_second_delete_changes_nothing(ask: Asker) -> None:
    """The response to a second delete is the unchanged object."""
    ask.make("a", finalizers=["x.io/f"])
    first = ask("DELETE", f"{CONFIGMAPS}/a")[1]
    assert ask("DELETE", f"{CONFIGMAPS}/a")[1] == first


@pytest.mark.parametrize(("field", "value"), [("uid", "another"), ("resourceVersion", "1")])
def test_preconditions_protect_another_object_of_the_same_name(ask: Asker, field: str, value: str) -> None:
    """A delete with a uid or resourceVersion as precondition deletes only a matching object."""
    made = ask.make("a")
    assert ask("DELETE", f"{CONFIGMAPS}/a", {"preconditions": {field: value}})[0] == 409
    right = {field: made["metadata"][field]}
    assert ask("DELETE", f"{CONFIGMAPS}/a", {"preconditions": right})[0] == 200


def test_a_collection_is_deleted_by_selector(ask: Asker) -> None:
    """deletecollection deletes and returns the selected objects, and keeps the others."""
    for name, label in (("a", "0"), ("b", "1"), ("c", "0")):
        ask.make(name, labels={"k": label})
    code, gone = ask("DELETE", CONFIGMAPS, labelSelector="k=0")
    assert (code, [item["metadata"]["name"] for item in gone["items"]]) == (200, ["a", "c"])
    assert [item["metadata"]["name"] for item in ask("GET", CONFIGMAPS)[1]["items"]] == ["b"]


def test_a_collection_is_deleted_as_it_was_at_a_version(ask: Asker) -> None:
    """With a resource version, the objects that existed then are deleted: deletecollection reads pages."""
    version = ask.make("old")["metadata"]["resourceVersion"]
    ask.make("new")
    code, gone = ask("DELETE", CONFIGMAPS, resourceVersion=version)
    assert (code, [item["metadata"]["name"] for item in gone["items"]]) == (200, ["old"])
    assert [item["metadata"]["name"] for item in ask("GET", CONFIGMAPS)[1]["items"]] == ["new"]


def test_some_namespaces_cannot_be_deleted(ask: Asker) -> None:
    """default, kube-system and kube-public cannot be deleted."""
    assert ask("DELETE", "/api/v1/namespaces/default")[0] == 403


async def test_a_repeated_delete_does_not_extend_the_time(ask: Asker) -> None:
    """The deletion timestamp is that of the first delete."""
    ask.make("a", finalizers=["x.io/f"])
    first = ask("DELETE", f"{CONFIGMAPS}/a")[1]
    await asyncio.sleep(10)
    assert ask("DELETE", f"{CONFIGMAPS}/a")[1] == first


def test_a_dry_run_of_a_delete_deletes_nothing(ask: Asker) -> None:
    """After a dry run the object is there, not marked as deleted."""
    made = ask.make("a")
    held = ask.make("b", finalizers=["x.io/f"])
    for name in "ab":
        assert ask("DELETE", f"{CONFIGMAPS}/{name}", dryRun="All")[0] == 200
    assert ask("DELETE", CONFIGMAPS, dryRun="All")[0] == 200
    assert (ask("GET", f"{CONFIGMAPS}/a")[1], ask("GET", f"{CONFIGMAPS}/b")[1]) == (made, held)
