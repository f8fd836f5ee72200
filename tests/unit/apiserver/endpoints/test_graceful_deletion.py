"""Deletion: finalizers, propagation policy, preconditions and the grace period of pods."""

from __future__ import annotations

import pytest

from tests.unit.apiserver._kit import CONFIGMAPS, Asker

PODS = "/api/v1/namespaces/default/pods"


def test_finalizers_hold_an_object_until_the_last_is_gone(ask: Asker) -> None:
    """A delete marks the object, updates still work, and the write that removes the last finalizer removes it."""
    ask.make("a", finalizers=["x.io/f", "x.io/g"])
    code, marked = ask("DELETE", f"{CONFIGMAPS}/a")
    assert (code, marked["kind"], "deletionTimestamp" in marked["metadata"]) == (200, "ConfigMap", True)
    ask.change("a", metadata={"finalizers": ["x.io/g"]})
    assert ask("GET", f"{CONFIGMAPS}/a")[0] == 200
    ask.change("a", metadata={"finalizers": None})
    assert ask("GET", f"{CONFIGMAPS}/a")[0] == 404


def test_a_second_delete_changes_nothing(ask: Asker) -> None:
    """The response to a second delete is the unchanged object."""
    ask.make("a", finalizers=["x.io/f"])
    first = ask("DELETE", f"{CONFIGMAPS}/a")[1]
    assert ask("DELETE", f"{CONFIGMAPS}/a")[1] == first


@pytest.mark.parametrize(
    ("policy", "finalizers"), [("Foreground", ["foregroundDeletion"]), ("Orphan", ["orphan"]), ("Background", None)]
)
def test_propagation_is_written_as_a_finalizer(ask: Asker, policy: str, finalizers: list[str] | None) -> None:
    """The propagation policy becomes a finalizer on the owner, for the garbage collector."""
    ask.make("a")
    _, answer = ask("DELETE", f"{CONFIGMAPS}/a", {"propagationPolicy": policy})
    if finalizers is None:
        assert answer["status"] == "Success"
    else:
        assert answer["metadata"]["finalizers"] == finalizers


@pytest.mark.parametrize(("field", "value"), [("uid", "another"), ("resourceVersion", "1")])
def test_preconditions_protect_another_object_of_the_same_name(ask: Asker, field: str, value: str) -> None:
    """A delete with a uid or resourceVersion deletes that object or none."""
    made = ask.make("a")
    assert ask("DELETE", f"{CONFIGMAPS}/a", {"preconditions": {field: value}})[0] == 409
    right = {field: made["metadata"][field]}
    assert ask("DELETE", f"{CONFIGMAPS}/a", {"preconditions": right})[0] == 200


def test_a_collection_is_deleted_by_selector(ask: Asker) -> None:
    """deletecollection deletes the selected objects, lists them as they were, and keeps the others."""
    for name, label in (("a", "0"), ("b", "1"), ("c", "0")):
        ask.make(name, labels={"k": label})
    code, gone = ask("DELETE", CONFIGMAPS, labelSelector="k=0")
    assert (code, [item["metadata"]["name"] for item in gone["items"]]) == (200, ["a", "c"])
    assert [item["metadata"]["name"] for item in ask("GET", CONFIGMAPS)[1]["items"]] == ["b"]


def test_some_namespaces_cannot_be_deleted(ask: Asker) -> None:
    """default, kube-system and kube-public cannot be deleted."""
    assert ask("DELETE", "/api/v1/namespaces/default")[0] == 403
