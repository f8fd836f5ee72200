"""PriorityClasses: their validation and their deletion."""

from __future__ import annotations

from typing import Any

import pytest

from pyctrl.apiserver._registry.scheduling import RESOURCES
from tests.unit.apiserver._kit import Asker
from tests.unit.apiserver.registry._refusals import refusals

CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"
STRATEGY = RESOURCES[0].new_strategy()


@pytest.mark.parametrize(
    ("name", "fields", "refused"),
    [
        ("a", {"value": 1_000_000_000, "preemptionPolicy": "Never"}, []),
        ("system-node-critical", {"value": 2_000_001_000}, []),
        (
            "a",
            {"value": 1_000_000_001},
            ["value: Forbidden: maximum allowed value of a user defined priority is 1000000000"],
        ),
        (
            "system-a",
            {"value": 1},
            ["metadata.name: Forbidden: priority class names with 'system-' prefix are reserved for system use"],
        ),
        ("a", {"preemptionPolicy": ""}, ["preemptionPolicy: Required value"]),
    ],
)
def test_new_classes(name: str, fields: dict[str, Any], refused: list[str]) -> None:
    """A class of a user has a value of at most a billion, and no name that begins with system-."""
    assert refusals(STRATEGY.validate({"metadata": {"name": name}, **fields}, None)) == refused


def test_a_class_does_not_change() -> None:
    """The value and the policy of a class stay."""
    old = {"metadata": {}, "value": 1, "preemptionPolicy": "Never"}
    new = {"metadata": {}, "value": 2, "preemptionPolicy": "PreemptLowerPriority"}
    assert refusals(STRATEGY.validate_update(None, new, old)) == [
        "value: Forbidden: may not be changed in an update.",
        'preemptionPolicy: Invalid value: "PreemptLowerPriority": field is immutable',
    ]


@pytest.mark.parametrize("name", ["system-node-critical", "system-cluster-critical"])
def test_a_system_priority_class_cannot_be_deleted(ask: Asker, name: str) -> None:
    """The priority classes of the system cannot be deleted."""
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
