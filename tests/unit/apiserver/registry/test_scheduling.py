"""PriorityClasses."""

from __future__ import annotations

import pytest

from tests.unit.apiserver._kit import Asker

CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


@pytest.mark.parametrize("name", ["system-node-critical", "system-cluster-critical"])
def test_a_system_priority_class_cannot_be_deleted(ask: Asker, name: str) -> None:
    """Nobody can delete the priority classes of the system."""
    code, refused = ask("DELETE", f"{CLASSES}/{name}")
    why = "this is a system priority class and cannot be deleted"
    assert (code, refused["message"]) == (403, f'priorityclasses.scheduling.k8s.io "{name}" is forbidden: {why}')


def test_other_priority_classes_are_deleted(ask: Asker) -> None:
    """A priority class of a user is removed, or marked as long as it has finalizers."""
    for name, finalizers in (("plain", []), ("held", ["example.com/hold"])):
        assert ask("POST", CLASSES, {"metadata": {"name": name, "finalizers": finalizers}, "value": 1})[0] == 201
        assert ask("DELETE", f"{CLASSES}/{name}")[0] == 200
    assert ask("GET", f"{CLASSES}/plain")[0] == 404
    assert "deletionTimestamp" in ask("GET", f"{CLASSES}/held")[1]["metadata"]
