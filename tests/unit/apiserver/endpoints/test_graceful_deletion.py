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
